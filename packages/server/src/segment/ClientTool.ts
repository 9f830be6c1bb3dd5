/**
 * Tools that the client executes. The client validates their arguments; this module only checks that they are an object
 * with all required fields, so that a model that omits a field is asked again.
 */
import type { Tool } from "@divisi/core"
import { isObject, type JsonObject } from "../wire/Json.ts"

const check = (value: unknown, { required }: JsonObject) => {
  if (!isObject(value)) return { issues: [{ message: "The arguments must be an object." }] }
  const names: ReadonlyArray<unknown> = Array.isArray(required) ? required : []
  const missing = names.filter((name) => typeof name === "string").filter((name) => !Object.hasOwn(value, name))
  return missing.length === 0
    ? { value }
    : { issues: missing.map((name) => ({ message: `${name} is missing.`, path: [name] })) }
}

/** Converts a client's tool definition to a tool for a run. */
export const make = ({ description, input, name, strict }: Tool.ToolDefinition): Tool.Tool => ({
  name,
  description,
  strict,
  input: {
    "~standard": {
      version: 1,
      vendor: "divisi",
      validate: (value) => check(value, input),
      jsonSchema: { input: () => ({ ...input }), output: () => ({ ...input }) }
    }
  }
})

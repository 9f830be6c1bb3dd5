/**
 * Tools that a client runs. Their schemas are of any kind, and what a model writes is the client's to check: here it only
 * has to be an object with the fields that the schema requires, so that a model that forgets one is asked again.
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

/** A tool as a run takes it. */
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

/** The tools of a request of Responses: functions, tools that take any text, and both in name spaces. */
import type { ToolCall } from "@divisi/core/Message"
import { kindOf } from "@divisi/core/Options"
import type { ToolDefinition } from "@divisi/core/Tool"
import * as Json from "../wire/Json.ts"

/** A tool that a client offers, and how calls of it are written. */
export interface Offered {
  /** As workers are told of it. */
  readonly definition: ToolDefinition
  readonly type: "function" | "custom"
  readonly name: string
  readonly namespace?: string | undefined
}

/** The one name that workers know a tool by. */
export const nameOf = (name: string, namespace?: string | undefined): string =>
  namespace === undefined ? name : `${namespace}__${name}`

/** Names that every vendor takes. */
const isName = (name: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(name)

const noInput = { type: "object", properties: {} }

const functionOf = (tool: Json.JsonObject, field: string, namespace: string | undefined): Offered => {
  const name = Json.text(tool.name, `${field}.name`)
  return {
    definition: {
      name: nameOf(name, namespace),
      description: Json.optional(tool.description, `${field}.description`, Json.text),
      input: Json.optional(tool.parameters, `${field}.parameters`, Json.object) ?? noInput,
      strict: Json.optional(tool.strict, `${field}.strict`, Json.flag)
    },
    type: "function",
    name,
    namespace
  }
}

const anyText = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
  additionalProperties: false
}

/** What the text has to be, where the client says it in a grammar. */
const grammarOf = (format: unknown): string =>
  Json.isObject(format) && typeof format.definition === "string"
    ? `\n\nThe input is a text of this grammar (${kindOf(format.syntax)}):\n${format.definition}`
    : ""

const customOf = (tool: Json.JsonObject, field: string, namespace: string | undefined): Offered => {
  const name = Json.text(tool.name, `${field}.name`)
  const description = Json.optional(tool.description, `${field}.description`, Json.text) ?? ""
  return {
    definition: {
      name: nameOf(name, namespace),
      description: `${description}${grammarOf(tool.format)}`,
      input: anyText
    },
    type: "custom",
    name,
    namespace
  }
}

const toolOf = (value: unknown, field: string, namespace?: string | undefined): ReadonlyArray<Offered> => {
  const tool = Json.object(value, field)
  switch (tool.type) {
    case "function":
      return [functionOf(tool, field, namespace)]
    case "custom":
      return [customOf(tool, field, namespace)]
    case "namespace": {
      const within = Json.text(tool.name, `${field}.name`)
      return Json.list(tool.tools, `${field}.tools`)
        .flatMap((one, at) => toolOf(one, `${field}.tools[${at}]`, within))
        .filter(({ definition }) => isName(definition.name))
    }
    default:
      return []
  }
}

/** The tools of a request that this server can pass on; others, such as a vendor's own search, are left out. */
export const read = (tools: unknown): ReadonlyArray<Offered> =>
  (Json.optional(tools, "tools", Json.list) ?? []).flatMap((tool, at) => toolOf(tool, `tools[${at}]`))

/** The tool that a call is of. */
export const calledOf = (tools: ReadonlyArray<Offered>, call: ToolCall): Offered | undefined =>
  tools.find(({ definition }) => definition.name === call.name)

/** The text that a tool of any text is called with. */
export const textOf = ({ arguments: given }: ToolCall): string => {
  try {
    const { input } = JSON.parse(given)
    return typeof input === "string" ? input : given
  } catch {
    return given
  }
}

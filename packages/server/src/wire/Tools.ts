/**
 * Reads the tools and the tool choice of a request. Clients mix the vendors' forms, so each documented form is read on
 * every wire: functions of Chat Completions (nested) and Responses (flat), the legacy `functions`, custom tools,
 * namespaces, tools of Messages, MCP and Gemini. Tools that run at a vendor are omitted with a notice.
 *
 * Sources: https://developers.openai.com/api/docs/guides/function-calling,
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview,
 * https://ai.google.dev/gemini-api/docs/function-calling.
 */
import { createHash } from "node:crypto"
import { Options, type Tool } from "@divisi/core"
import type { ToolCall } from "@divisi/core/Message"
import { invalid } from "./ApiError.ts"
import * as Json from "./Json.ts"
import { bracketed, make, type Reading } from "./Reading.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A tool that a client offers, and how its calls are written back. */
export interface Offered {
  /** In the form that workers are shown. */
  readonly definition: Tool.ToolDefinition
  /** `custom` takes any text instead of arguments. */
  readonly type: "function" | "custom"
  readonly name: string
  readonly namespace?: string | undefined
}

/** The tools of a request and which of them the model may or must call. */
export interface Choice {
  readonly tools: ReadonlyArray<Offered>
  readonly toolChoice: Tool.ToolChoice | undefined
}

type Tools = ReadonlyArray<Offered>

// -------------------------------------------------------------------------------------------------------------------
// Tools
// -------------------------------------------------------------------------------------------------------------------

/** The one name that workers know a tool by. */
export const nameOf = (name: string, namespace?: string | undefined): string =>
  namespace === undefined ? name : `${namespace}__${name}`

/** The longest name that every vendor takes. */
const longestName = 64

/** A name of the letters that every vendor takes. */
const plainName = (name: string): string => {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, "_") || "tool"
  if (plain.length <= longestName) return plain
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8)
  return `${plain.slice(0, longestName - hash.length - 1)}_${hash}`
}

/** The names that workers know tools by, under those of the client. */
export type Names = ReadonlyMap<string, string>

export const namesOf = (tools: Tools): Names =>
  new Map(tools.map(({ definition, name, namespace }) => [nameOf(name, namespace), definition.name]))

/** The name that workers know a client's tool by, offered or not: MCP's names have dots, others have spaces. */
export const workerName = (names: Names, name: string, namespace?: string | undefined): string => {
  const own = nameOf(name, namespace)
  return names.get(own) ?? plainName(own)
}

/** The name that a client knows a tool by. Only Responses has namespaces. */
export const clientName = (tools: Tools, call: ToolCall): string => {
  const tool = calledOf(tools, call)
  return tool === undefined ? call.name : nameOf(tool.name, tool.namespace)
}

/** Gives each tool a name of its own that every vendor takes. The first of several with one name counts. */
const distinct = (tools: Tools, reading: Reading): Tools => {
  const names = new Set<string>()
  const given = new Set<string>()
  /** How many tools have a plain name, which there may be very many of. */
  const counts = new Map<string, number>()
  return tools.flatMap((tool): Tools => {
    const { definition, name, namespace } = tool
    const own = nameOf(name, namespace)
    if (given.has(own)) {
      reading.notice(`A second tool named ${own.slice(0, 80)} was ignored.`)
      return []
    }
    given.add(own)
    const plain = plainName(own)
    let free = plain
    for (let at = counts.get(plain) ?? 1; names.has(free); counts.set(plain, at)) free = plainName(`${plain}_${++at}`)
    names.add(free)
    return [free === definition.name ? tool : { ...tool, definition: { ...definition, name: free } }]
  })
}

/** A name, which must not be empty. */
const toolName = (value: unknown, field: string): string => {
  const name = Json.name(value, field)
  if (name.trim() === "") throw invalid(field, `${field} must not be empty.`)
  return name
}

const noInput = { type: "object", properties: {} }

/** The schema of a list of parameters, as OpenAPI has them: each with its name, and a schema or the fields of one. */
const ofParameters = (list: ReadonlyArray<unknown>, field: string): Json.JsonObject => {
  const parameters = list.map((value, at) => {
    const { in: _, name, required, schema, ...own } = Json.object(value, `${field}[${at}]`)
    const inner = Json.isObject(schema) ? { ...own, ...schema } : own
    return { name: toolName(name, `${field}[${at}].name`), schema: inner, isRequired: required === true }
  })
  return {
    type: "object",
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
    required: parameters.flatMap(({ isRequired, name }) => (isRequired ? [name] : []))
  }
}

/** PHP writes an empty object as a list, and some clients send the text of the JSON. */
const schemaOf = (given: unknown, field: string): Json.JsonObject => {
  const value = typeof given === "string" ? Json.parsed(given) : given
  if (Array.isArray(value)) return value.length === 0 ? noInput : ofParameters(value, field)
  const schema = Json.object(value, field)
  return Array.isArray(schema.properties) && schema.properties.length === 0 ? { ...schema, properties: {} } : schema
}

/** Gemini writes the types of a schema in capitals. */
export const lowerTypes = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(lowerTypes)
  if (!Json.isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      name === "type" && typeof part === "string" ? part.toLowerCase() : lowerTypes(part)
    ])
  )
}

const inputOf = (tool: Json.JsonObject, field: string): Json.JsonObject => {
  for (const name of ["parameters", "input_schema", "inputSchema", "parametersJsonSchema"] as const) {
    const given = Json.optional(tool[name], `${field}.${name}`, schemaOf)
    // Bedrock nests the schema.
    if (given !== undefined) return Json.isObject(given.json) && given.type === undefined ? given.json : given
  }
  return Json.isObject(tool.parameter_definitions) ? ofDefinitions(tool.parameter_definitions) : noInput
}

/** Types of Cohere's definitions, which are Python's. */
const pythonTypes: Readonly<Record<string, string>> = {
  str: "string",
  int: "integer",
  float: "number",
  bool: "boolean",
  list: "array",
  dict: "object"
}

/** The schema of Cohere's `parameter_definitions`: https://docs.cohere.com/v1/reference/chat. */
const ofDefinitions = (definitions: Json.JsonObject): Json.JsonObject => {
  const entries = Object.entries(definitions).filter(([, definition]) => Json.isObject(definition)) as ReadonlyArray<
    [string, Json.JsonObject]
  >
  const properties = entries.map(([name, { description, type }]) => {
    const word = typeof type === "string" ? /^\w+/.exec(type.toLowerCase())?.[0] : undefined
    const known = word !== undefined && Object.hasOwn(pythonTypes, word) ? { type: pythonTypes[word] } : {}
    return [name, { ...known, ...(typeof description === "string" && { description }) }]
  })
  const required = entries.flatMap(([name, definition]) => (definition.required === true ? [name] : []))
  return { type: "object", properties: Object.fromEntries(properties), required }
}

/** A description: a text, or a list of texts. */
const descriptionOf = (value: unknown, field: string): string =>
  Array.isArray(value)
    ? value.map((line, at) => Json.text(line, `${field}[${at}]`)).join("\n")
    : Json.text(value, field)

const functionOf = (tool: Json.JsonObject, field: string, namespace: string | undefined): Offered => {
  const name = toolName(tool.name, `${field}.name`)
  return {
    definition: {
      name: nameOf(name, namespace),
      description: Json.optional(tool.description, `${field}.description`, descriptionOf),
      input: inputOf(tool, field),
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

/** The grammar of a custom tool's text, for the model to read: flat on Responses, nested on Chat Completions. */
const grammarOf = (format: unknown): string => {
  const grammar = Json.isObject(format) && Json.isObject(format.grammar) ? format.grammar : format
  return Json.isObject(grammar) && typeof grammar.definition === "string"
    ? `\n\nThe input is a text of this grammar (${Options.kindOf(grammar.syntax)}):\n${grammar.definition}`
    : ""
}

const customOf = (tool: Json.JsonObject, field: string, namespace: string | undefined): Offered => {
  const name = toolName(tool.name, `${field}.name`)
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

/** Gemini's list of functions. */
const declarationsIn = (tool: Json.JsonObject): unknown => tool.functionDeclarations ?? tool.function_declarations

const hasSchema = (tool: Json.JsonObject): boolean =>
  tool.parameters !== undefined || tool.input_schema !== undefined || tool.inputSchema !== undefined

/** Gemini's own tools are objects with their name as the only field. */
const hosted =
  /^(?:google_?search|google_?maps|google_?search_?retrieval|enterprise_?web_?search|code_?execution|url_?context|computer_?use|file_?search)$/i

const isHosted = (tool: Json.JsonObject): boolean => {
  const [name = "", ...others] = Object.keys(tool)
  return others.length === 0 && hosted.test(name)
}

/** The tools of one entry. Namespaces hold tools, and no further namespaces. */
const toolOf = (value: unknown, field: string, reading: Reading, namespace?: string | undefined): Tools => {
  const tool = Json.object(typeof value === "string" ? Json.parsed(value) : value, field)
  const declarations = declarationsIn(tool)
  if (declarations !== undefined) {
    return listOf(declarations, field).map((one, at) =>
      functionOf(
        lowerTypes(Json.object(one, reading.at(field, at))) as Json.JsonObject,
        reading.at(field, at),
        namespace
      )
    )
  }
  const called = typeof tool.function === "string" ? Json.parsed(tool.function) : tool.function
  if (Json.isObject(called)) return [functionOf(called, `${field}.function`, namespace)]
  if (Json.isObject(tool.toolSpec)) return [functionOf(tool.toolSpec, `${field}.toolSpec`, namespace)]
  // A schema with a title, as LangChain takes it for a tool.
  if (tool.type === "object" && typeof tool.title === "string" && Json.isObject(tool.properties)) {
    const { description, title, ...parameters } = tool
    return [functionOf({ name: title, description, parameters }, field, namespace)]
  }
  if (Json.isObject(tool.custom)) return [customOf(tool.custom, `${field}.custom`, namespace)]
  switch (tool.type) {
    case "function":
      // Chat Completions nests the function: without a name of its own, that is what is missing.
      if (tool.name === undefined) Json.object(tool.function, `${field}.function`)
      return [functionOf(tool, field, namespace)]
    // Messages calls a tool with a schema `custom`, OpenAI one that takes any text.
    case "custom":
      return [hasSchema(tool) ? functionOf(tool, field, namespace) : customOf(tool, field, namespace)]
    case undefined:
    case null:
      if (!isHosted(tool)) return [functionOf(tool, field, namespace)]
      reading.notice(`${field} was ignored, because ${Object.keys(tool)[0]} runs at its vendor, not on this server.`)
      return []
    case "namespace": {
      if (namespace !== undefined) break
      const within = Json.name(tool.name, `${field}.name`)
      return Json.list(tool.tools, `${field}.tools`).flatMap((one, at) =>
        toolOf(one, reading.at(`${field}.tools`, at), reading, within)
      )
    }
  }
  reading.notice(
    `${field} was ignored, because tools of type ${Options.kindOf(tool.type)} run at their vendor, not on this server.`
  )
  return []
}

/** A list, its JSON in a text, an object with numbers as names (PHP), one tool, or tools by name. */
const listOf = (given: unknown, field: string): ReadonlyArray<unknown> => {
  const value = typeof given === "string" ? Json.parsed(given) : given
  if (!Json.isObject(value)) return Json.list(value, field)
  if ("0" in value) return Object.values(value)
  // The result of MCP's tools/list.
  if (Array.isArray(value.tools) && value.type === undefined) return value.tools
  const entries = Object.entries(value)
  const isNamed = typeof value.name === "string" || typeof value.type === "string"
  const isSet = !isNamed && entries.every(([name, tool]) => isToolOfSet(name, tool))
  // The AI SDK has its tools by name.
  return isSet ? entries.map(([name, tool]) => ({ name, ...(tool as Json.JsonObject) })) : [value]
}

const isToolOfSet = (name: string, tool: unknown): boolean =>
  Json.isObject(tool) && !hosted.test(name) && (hasSchema(tool) || typeof tool.description === "string") && !tool.name

/** The tools of a list; those that cannot be offered are left out with a notice. */
const toolsOf = (value: unknown, field: string, reading: Reading): Tools =>
  // Gemini's own request has one object with all functions.
  listOf(value, field).flatMap((tool, at) => (tool === null ? [] : toolOf(tool, reading.at(field, at), reading)))

// -------------------------------------------------------------------------------------------------------------------
// The choice among them
// -------------------------------------------------------------------------------------------------------------------

/** Names of modes, by vendor: `any` is Anthropic's and Gemini's word for `required`. */
const modes: ReadonlyMap<unknown, Tool.ToolChoice> = new Map<unknown, Tool.ToolChoice>([
  ["auto", "auto"],
  ["none", "none"],
  ["required", "required"],
  // LangChain's: https://docs.langchain.com/oss/python/langchain/models
  [true, "required"],
  ["any", "required"],
  ["validated", "auto"]
])

const modeOf = (value: unknown): Tool.ToolChoice | undefined =>
  modes.get(typeof value === "string" ? value.toLowerCase() : value)

/** The name that a choice or an entry of `allowed_tools` gives, in any form. */
const namedIn = (value: unknown): string | undefined => {
  if (typeof value === "string") return value
  if (!Json.isObject(value)) return undefined
  if (typeof value.function === "string") return value.function
  const named = Json.isObject(value.function) ? value.function : Json.isObject(value.custom) ? value.custom : value
  if (typeof named.toolName === "string") return named.toolName
  if (typeof named.name !== "string") return undefined
  return typeof value.namespace === "string" ? nameOf(named.name, value.namespace) : named.name
}

/** The tools of a list of names. */
const among = (tools: Tools, names: unknown, field: string): Tools => {
  const allowed = new Set(Json.list(names, field).map(namedIn))
  return tools.filter(({ definition, name }) => allowed.has(definition.name) || allowed.has(name))
}

/** A choice of one tool by its name. */
const only = (tools: Tools, name: string): Choice => {
  const meant = tools.find(({ definition }) => definition.name === name) ?? tools.find((tool) => tool.name === name)
  return { tools, toolChoice: { name: meant?.definition.name ?? name } }
}

/** A mode as the only field of an object, as Bedrock writes it: `{ any: {} }`. */
const keyOf = (choice: Json.JsonObject): unknown => {
  const [key, ...others] = Object.keys(choice)
  return others.length === 0 && Json.isObject(choice[key!]) ? key : undefined
}

/** A choice among several tools: one of them must be called. A list of one is that one. */
const choiceOfList = (list: ReadonlyArray<unknown>, field: string, tools: Tools): Choice => {
  if (list.length < 2) return choiceOf(list[0] ?? "", `${field}[0]`, tools)
  const allowed = among(tools, list, field)
  if (allowed.length > 0) return { tools: allowed, toolChoice: "required" }
  throw invalid(field, `${field} must be a list of tools of the request.`)
}

const choiceOf = (value: unknown, field: string, tools: Tools): Choice => {
  if (Array.isArray(value)) return choiceOfList(value, field, tools)
  if (value === "" || value === false || (Json.isObject(value) && Object.keys(value).length === 0))
    return { tools, toolChoice: undefined }
  const mode = modeOf(value)
  if (mode !== undefined) return { tools, toolChoice: mode }
  if (typeof value === "string" && tools.some(({ definition }) => definition.name === value)) return only(tools, value)
  if (typeof value === "string") {
    throw invalid(
      field,
      `${field} must be auto, none, required or a tool of the request, not ${Options.kindOf(value)}.`
    )
  }
  const choice = Json.object(value, field)
  const gemini = choice.functionCallingConfig ?? choice.function_calling_config
  if (Json.isObject(gemini)) {
    const names = gemini.allowedFunctionNames ?? gemini.allowed_function_names
    const left = names === undefined || names === null ? tools : among(tools, names, `${field}.allowedFunctionNames`)
    return { tools: left, toolChoice: modeOf(gemini.mode) ?? "auto" }
  }
  if (choice.type === "allowed_tools") {
    const allowed = Json.isObject(choice.allowed_tools) ? choice.allowed_tools : choice
    return { tools: among(tools, allowed.tools, `${field}.tools`), toolChoice: modeOf(allowed.mode) ?? "auto" }
  }
  const named = namedIn(choice) ?? (Json.isObject(choice.tool) ? namedIn(choice.tool) : undefined)
  if (named !== undefined) return only(tools, named)
  const typed = modeOf(choice.type ?? choice.mode ?? keyOf(choice))
  if (typed !== undefined) return { tools, toolChoice: typed }
  throw invalid(
    `${field}.type`,
    `${field} requires a tool of type ${Options.kindOf(choice.type)}, which this server does not support.`
  )
}

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

/** The fields of a body that are read here. */
export const fields = ["tools", "tool_choice", "functions", "function_call"] as const

/** Whether a request uses Chat Completions' `functions`, which were replaced by `tools`. */
export const isLegacy = (body: Json.JsonObject): boolean =>
  (body.tools === undefined || body.tools === null) && Array.isArray(body.functions)

/** Returns the tools in the input of Responses: Codex adds them as an item (`additional_tools`). */
const additionalIn = (input: unknown, reading: Reading): Tools =>
  (Array.isArray(input) ? input : []).flatMap((item, at) =>
    Json.isObject(item) && item.type === "additional_tools" && item.tools != null
      ? toolsOf(item.tools, `${reading.at("input", at)}.tools`, reading)
      : []
  )

/** The tools of a request without its choice, e.g. to write their calls. The first of a name counts. */
export const offered = (body: Json.JsonObject, reading: Reading): Tools => {
  const field = isLegacy(body) ? "functions" : "tools"
  const listed = Json.optional(body[field], field, (value, field) => toolsOf(value, field, reading)) ?? []
  const additional = additionalIn(body.input, reading)
  const names = new Set(listed.map(({ definition }) => definition.name))
  const others = additional.filter(({ definition }) => !names.has(definition.name))
  return distinct([...listed, ...others], reading)
}

/** The tools that the calls of a response are of. */
export const ofResponse = ({
  body,
  request
}: {
  readonly body: Json.JsonObject
  readonly request: { readonly tools: ReadonlyArray<unknown> }
}): Tools => (request.tools.length === 0 ? [] : offered(body, make(bracketed)))

/** Reads the tools of a request and the choice among them. Throws an `ApiError`. */
export const read = (body: Json.JsonObject, reading: Reading): Choice => {
  const tools = offered(body, reading)
  const field = isLegacy(body) ? "function_call" : "tool_choice"
  return (
    Json.optional(body[field], field, (value, field) => choiceOf(value, field, tools)) ?? {
      tools,
      toolChoice: undefined
    }
  )
}

/** The tool that a call is of. */
export const calledOf = (tools: Tools, call: ToolCall): Offered | undefined =>
  tools.find(({ definition }) => definition.name === call.name)

/** The text that a custom tool is called with. */
export const textOf = ({ arguments: given }: ToolCall): string => {
  try {
    const { input } = JSON.parse(given)
    return typeof input === "string" ? input : given
  } catch {
    return given
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Calls in the history
// -------------------------------------------------------------------------------------------------------------------

/** Arguments as text: clients also send the object itself, and nothing at all for none. */
export const argumentsOf = (value: unknown): string => {
  if (value === undefined || value === null || value === "") return "{}"
  return typeof value === "string" ? value : JSON.stringify(value)
}

/** Arguments of a call of a custom tool. */
export const inputArguments = (input: unknown): string =>
  JSON.stringify({
    input: typeof input === "string" ? input : input === undefined || input === null ? "" : JSON.stringify(input)
  })

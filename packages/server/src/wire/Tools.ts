/**
 * Parses the tools and the tool choice of a request. Clients mix vendor formats, so every wire accepts all documented
 * formats: functions for Chat Completions (nested) and Responses (flat), legacy `functions`, custom tools, namespaces,
 * and tools for Messages, MCP and Gemini. Tools hosted by a vendor are dropped with a notice.
 *
 * Sources: https://developers.openai.com/api/docs/guides/function-calling,
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview,
 * https://ai.google.dev/gemini-api/docs/function-calling.
 */
import { createHash } from "node:crypto"
import { Options, type Tool } from "@divisi/core"
import type { ToolCall } from "@divisi/core/Message"
import { invalid } from "./ApiError.ts"
import * as ClientTools from "./ClientTools.ts"
import * as Json from "./Json.ts"
import { bracketed, make, type Reading } from "./Reading.ts"
import * as Steps from "./Steps.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A tool offered by a client, and the information needed to write its calls. */
export interface Offered {
  /** The definition as sent to workers. */
  readonly definition: Tool.ToolDefinition
  /**
   * `custom` tools accept free-form text instead of arguments. Calls of `item` tools are items of the Responses API with
   * their own type, such as `shell_call`.
   */
  readonly type: "function" | "custom" | "item"
  readonly name: string
  readonly namespace?: string | undefined
}

/** The tools of a request, and which of them the model may or must call. */
export interface Choice {
  readonly tools: ReadonlyArray<Offered>
  readonly toolChoice: Tool.ToolChoice | undefined
}

type Tools = ReadonlyArray<Offered>

// -------------------------------------------------------------------------------------------------------------------
// Tools
// -------------------------------------------------------------------------------------------------------------------

/** Combines a tool's namespace and name into the single name that workers use. */
export const nameOf = (name: string, namespace?: string | undefined): string =>
  namespace === undefined ? name : `${namespace}__${name}`

/** Maximum length of a tool name that all vendors accept. */
const longestName = 64

/** Returns a name with only the characters that all vendors accept. */
const plainName = (name: string): string => {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, "_") || "tool"
  if (plain.length <= longestName) return plain
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8)
  return `${plain.slice(0, longestName - hash.length - 1)}_${hash}`
}

/** Maps the client's tool names to the names that workers use. */
export type Names = ReadonlyMap<string, string>

export const namesOf = (tools: Tools): Names =>
  new Map(tools.map(({ definition, name, namespace }) => [nameOf(name, namespace), definition.name]))

/**
 * Returns the name that workers use for a client's tool, whether or not it is offered. Some names contain dots (MCP) or
 * spaces.
 */
export const workerName = (names: Names, name: string, namespace?: string | undefined): string => {
  const own = nameOf(name, namespace)
  return names.get(own) ?? plainName(own)
}

/** Returns the name that the client uses for a tool. Only the Responses API has namespaces. */
export const clientName = (tools: Tools, call: ToolCall): string => {
  const tool = calledOf(tools, call)
  return tool === undefined ? call.name : nameOf(tool.name, tool.namespace)
}

/**
 * Gives each tool a unique name that all vendors accept. If several tools have the same name, the first one is used.
 */
const distinct = (tools: Tools, reading: Reading): Tools => {
  const names = new Set<string>()
  const given = new Set<string>()
  /** Number of tools per plain name. There may be very many. */
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

/** Parses a tool name, which must not be empty. */
const toolName = (value: unknown, field: string): string => {
  const name = Json.name(value, field)
  if (name.trim() === "") throw invalid(field, `${field} must not be empty.`)
  return name
}

const noInput = { type: "object", properties: {} }

/** Converts a list of OpenAPI parameters to a schema. Each has a name, and either a schema or the fields of one. */
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

/** Parses a schema. PHP serializes an empty object as a list, and some clients send the schema as JSON text. */
const schemaOf = (given: unknown, field: string, reading: Reading): Json.JsonObject => {
  const value = typeof given === "string" ? reading.parsed(given) : given
  if (Array.isArray(value)) return value.length === 0 ? noInput : ofParameters(value, field)
  const schema = Json.object(value, field)
  return Array.isArray(schema.properties) && schema.properties.length === 0 ? { ...schema, properties: {} } : schema
}

/** Converts the types in a schema to lower case. Gemini writes them in upper case. */
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

const inputOf = (tool: Json.JsonObject, field: string, reading: Reading): Json.JsonObject => {
  for (const name of ["parameters", "input_schema", "inputSchema", "parametersJsonSchema"] as const) {
    const given = Json.optional(tool[name], `${field}.${name}`, (value, field) => schemaOf(value, field, reading))
    // Bedrock nests the schema.
    if (given !== undefined) return Json.isObject(given.json) && given.type === undefined ? given.json : given
  }
  return Json.isObject(tool.parameter_definitions) ? ofDefinitions(tool.parameter_definitions) : noInput
}

/** Maps the types in Cohere's definitions, which are Python types, to JSON Schema types. */
const pythonTypes: Readonly<Record<string, string>> = {
  str: "string",
  int: "integer",
  float: "number",
  bool: "boolean",
  list: "array",
  dict: "object"
}

/** Converts Cohere's `parameter_definitions` to a schema: https://docs.cohere.com/v1/reference/chat. */
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

/** Parses a description, given as a string or a list of strings. */
const descriptionOf = (value: unknown, field: string): string =>
  Array.isArray(value)
    ? value.map((line, at) => Json.text(line, `${field}[${at}]`)).join("\n")
    : Json.text(value, field)

const functionOf = (tool: Json.JsonObject, field: string, reading: Reading, namespace: string | undefined): Offered => {
  const name = toolName(tool.name, `${field}.name`)
  return {
    definition: {
      name: nameOf(name, namespace),
      description: Json.optional(tool.description, `${field}.description`, descriptionOf),
      input: inputOf(tool, field, reading),
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

/**
 * Returns the grammar of a custom tool's input as text for the model. It is flat on Responses and nested on Chat
 * Completions.
 */
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

/** Returns Gemini's list of functions. */
const declarationsIn = (tool: Json.JsonObject): unknown => tool.functionDeclarations ?? tool.function_declarations

const hasSchema = (tool: Json.JsonObject): boolean =>
  tool.parameters !== undefined || tool.input_schema !== undefined || tool.inputSchema !== undefined

/** Matches Gemini's hosted tools, which are objects with the tool name as their only field. */
const hosted =
  /^(?:google_?search|google_?maps|google_?search_?retrieval|enterprise_?web_?search|code_?execution|url_?context|computer_?use|file_?search)$/i

const isHosted = (tool: Json.JsonObject): boolean => {
  const [name = "", ...others] = Object.keys(tool)
  return others.length === 0 && hosted.test(name)
}

/** Parses the tools in one list entry. A namespace contains tools, but no further namespaces. */
const toolOf = (value: unknown, field: string, reading: Reading, namespace?: string | undefined): Tools => {
  const tool = Json.object(typeof value === "string" ? reading.parsed(value) : value, field)
  const declarations = declarationsIn(tool)
  if (declarations !== undefined) {
    return listOf(declarations, field, reading).map((one, at) =>
      functionOf(
        lowerTypes(Json.object(one, reading.at(field, at))) as Json.JsonObject,
        reading.at(field, at),
        reading,
        namespace
      )
    )
  }
  const called = typeof tool.function === "string" ? reading.parsed(tool.function) : tool.function
  if (Json.isObject(called)) return [functionOf(called, `${field}.function`, reading, namespace)]
  if (Json.isObject(tool.toolSpec)) return [functionOf(tool.toolSpec, `${field}.toolSpec`, reading, namespace)]
  // A schema with a title, which LangChain accepts as a tool.
  if (tool.type === "object" && typeof tool.title === "string" && Json.isObject(tool.properties)) {
    const { description, title, ...parameters } = tool
    return [functionOf({ name: title, description, parameters }, field, reading, namespace)]
  }
  if (Json.isObject(tool.custom)) return [customOf(tool.custom, `${field}.custom`, namespace)]
  switch (tool.type) {
    case "function":
      // Chat Completions nests the function. If there is no name either, the error reports the missing function.
      if (tool.name === undefined) Json.object(tool.function, `${field}.function`)
      return [functionOf(tool, field, reading, namespace)]
    // The Messages API uses `custom` for a tool with a schema, OpenAI for a tool with free-form input.
    case "custom":
      return [hasSchema(tool) ? functionOf(tool, field, reading, namespace) : customOf(tool, field, namespace)]
    case undefined:
    case null:
      if (!isHosted(tool)) return [functionOf(tool, field, reading, namespace)]
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
  const item = ClientTools.ofItem(tool)
  if (item !== undefined)
    return [{ ...functionOf({ ...item, name: tool.type }, field, reading, namespace), type: "item" }]
  const known = ClientTools.ofType(tool.type)
  if (known !== undefined) return [functionOf({ ...known, name: tool.name }, field, reading, namespace)]
  reading.notice(
    `${field} was ignored, because tools of type ${Options.kindOf(tool.type)} are run by their vendor, not by this server.`
  )
  return []
}

/**
 * Returns tools as a list. Accepts a list, JSON text, an object with numeric keys (PHP), a single tool, or tools keyed
 * by name.
 */
const listOf = (given: unknown, field: string, reading: Reading): ReadonlyArray<unknown> => {
  const value = typeof given === "string" ? reading.parsed(given) : given
  if (!Json.isObject(value)) return Json.list(value, field)
  if ("0" in value) return Object.values(value)
  // The result of MCP's `tools/list`.
  if (Array.isArray(value.tools) && value.type === undefined) return value.tools
  const entries = Object.entries(value)
  const isNamed = typeof value.name === "string" || typeof value.type === "string"
  const isSet = !isNamed && entries.every(([name, tool]) => isToolOfSet(name, tool))
  // The AI SDK keys tools by name.
  return isSet ? entries.map(([name, tool]) => ({ name, ...(tool as Json.JsonObject) })) : [value]
}

const isToolOfSet = (name: string, tool: unknown): boolean =>
  Json.isObject(tool) && !hosted.test(name) && (hasSchema(tool) || typeof tool.description === "string") && !tool.name

/** Parses a list of tools. Tools that cannot be offered are dropped with a notice. */
function* toolsOf(value: unknown, field: string, reading: Reading): Steps.Steps<Tools> {
  const tools: Array<Offered> = []
  // Gemini requests contain one object with all functions.
  for (const [at, tool] of listOf(value, field, reading).entries()) {
    if (tool !== null) tools.push(...toolOf(tool, reading.at(field, at), reading))
    yield
  }
  return tools
}

// -------------------------------------------------------------------------------------------------------------------
// The choice among them
// -------------------------------------------------------------------------------------------------------------------

/** Tool choice modes by their vendor names. Anthropic and Gemini use `any` for `required`. */
const modes: ReadonlyMap<unknown, Tool.ToolChoice> = new Map<unknown, Tool.ToolChoice>([
  ["auto", "auto"],
  ["none", "none"],
  ["required", "required"],
  // LangChain: https://docs.langchain.com/oss/python/langchain/models
  [true, "required"],
  ["any", "required"],
  ["validated", "auto"]
])

const modeOf = (value: unknown): Tool.ToolChoice | undefined =>
  modes.get(typeof value === "string" ? value.toLowerCase() : value)

/** Returns the tool name in a tool choice or in an entry of `allowed_tools`, in any format. */
const namedIn = (value: unknown): string | undefined => {
  if (typeof value === "string") return value
  if (!Json.isObject(value)) return undefined
  if (typeof value.function === "string") return value.function
  const named = Json.isObject(value.function) ? value.function : Json.isObject(value.custom) ? value.custom : value
  if (typeof named.toolName === "string") return named.toolName
  if (typeof named.name !== "string") return undefined
  return typeof value.namespace === "string" ? nameOf(named.name, value.namespace) : named.name
}

/** Returns the tools with the given names. */
const among = (tools: Tools, names: unknown, field: string): Tools => {
  const allowed = new Set(Json.list(names, field).map(namedIn))
  return tools.filter(({ definition, name }) => allowed.has(definition.name) || allowed.has(name))
}

/** Returns a choice that forces one tool. */
const only = (tools: Tools, name: string): Choice => {
  const meant = tools.find(({ definition }) => definition.name === name) ?? tools.find((tool) => tool.name === name)
  return { tools, toolChoice: { name: meant?.definition.name ?? name } }
}

/** Returns the mode if it is the object's only key, as in Bedrock's `{ any: {} }`. */
const keyOf = (choice: Json.JsonObject): unknown => {
  const [key, ...others] = Object.keys(choice)
  return others.length === 0 && Json.isObject(choice[key!]) ? key : undefined
}

/** Parses a choice among several tools, one of which must be called. A list with a single entry forces that tool. */
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
  const item = tools.find(({ name, type }) => type === "item" && name === choice.type)
  if (item !== undefined) return only(tools, item.name)
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

/** Body fields handled by this module. */
export const fields = ["tools", "tool_choice", "functions", "function_call"] as const

/** Whether a request uses the legacy `functions` field of Chat Completions, which was replaced by `tools`. */
export const isLegacy = (body: Json.JsonObject): boolean =>
  (body.tools === undefined || body.tools === null) && Array.isArray(body.functions)

/** Returns the tools in the input of a Responses request, where Codex adds them as an `additional_tools` item. */
function* additionalIn(input: unknown, reading: Reading): Steps.Steps<Tools> {
  const tools: Array<Offered> = []
  for (const [at, item] of (Array.isArray(input) ? input : []).entries()) {
    if (Json.isObject(item) && item.type === "additional_tools" && item.tools != null)
      tools.push(...(yield* toolsOf(item.tools, `${reading.at("input", at)}.tools`, reading)))
  }
  return tools
}

/**
 * Returns the tools of a request without the tool choice, e.g. for writing their calls. If several have the same name,
 * the first one is used.
 */
function* offered(body: Json.JsonObject, reading: Reading): Steps.Steps<Tools> {
  const field = isLegacy(body) ? "functions" : "tools"
  const value = body[field]
  const listed = value === undefined || value === null ? [] : yield* toolsOf(value, field, reading)
  const additional = yield* additionalIn(body.input, reading)
  if (listed.length + additional.length === 0) return listed
  const names = new Set(listed.map(({ definition }) => definition.name))
  const others = additional.filter(({ definition }) => !names.has(definition.name))
  return distinct([...listed, ...others], reading)
}

/** The tools of each request by their definitions, so that thousands of tools are not parsed again for the response. */
const known = new WeakMap<ReadonlyArray<unknown>, Tools>()

/** Returns the definitions of tools, as sent to workers. */
export const definitionsOf = (tools: Tools): ReadonlyArray<Tool.ToolDefinition> => {
  const definitions = tools.map(({ definition }) => definition)
  known.set(definitions, tools)
  return definitions
}

/** Returns the tools whose calls may occur in a response. */
export const ofResponse = ({
  body,
  request
}: {
  readonly body: Json.JsonObject
  readonly request: { readonly tools: ReadonlyArray<unknown> }
}): Tools => (request.tools.length === 0 ? [] : (known.get(request.tools) ?? Steps.all(offered(body, make(bracketed)))))

/** Parses the tools of a request and the tool choice, in steps. Throws an `ApiError` if they are invalid. */
export function* read(body: Json.JsonObject, reading: Reading): Steps.Steps<Choice> {
  const tools = yield* offered(body, reading)
  const field = isLegacy(body) ? "function_call" : "tool_choice"
  return (
    Json.optional(body[field], field, (value, field) => choiceOf(value, field, tools)) ?? {
      tools,
      toolChoice: undefined
    }
  )
}

/** Returns the tool that a call refers to. */
export const calledOf = (tools: Tools, call: ToolCall): Offered | undefined =>
  tools.find(({ definition }) => definition.name === call.name)

/** Returns the arguments of a call as an object. */
export const fieldsOf = ({ arguments: given }: ToolCall): Json.JsonObject => {
  const value = Json.parsed(given)
  return Json.isObject(value) ? value : {}
}

/** Returns the text input in a call of a custom tool. */
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

/** Returns call arguments as text. Some clients send an object, or no arguments. */
export const argumentsOf = (value: unknown): string => {
  if (value === undefined || value === null || value === "") return "{}"
  return typeof value === "string" ? value : JSON.stringify(value)
}

/** Returns the arguments for a call of a custom tool. */
export const inputArguments = (input: unknown): string =>
  JSON.stringify({
    input: typeof input === "string" ? input : input === undefined || input === null ? "" : JSON.stringify(input)
  })

/**
 * Converts request bodies in the formats of other vendors, SDKs and frameworks to this server's wires. Fields are moved
 * only if their meaning is certain; all others are left in place, and the wire's parser reports what is missing.
 */
import { invalid } from "./ApiError.ts"
import * as Json from "./Json.ts"

type Body = Record<string, unknown>

// -------------------------------------------------------------------------------------------------------------------
// Settings
// -------------------------------------------------------------------------------------------------------------------

/** Objects in which other vendors nest settings. A field at the top level takes precedence. */
const containers = [
  // Gemini and its SDK
  "generationConfig",
  "generation_config",
  "config",
  // Bedrock
  "inferenceConfig",
  "additionalModelRequestFields",
  "textGenerationConfig",
  // Hugging Face, DashScope, Vertex
  "parameters",
  // Ollama, Spring AI
  "options"
] as const

/** SDK options whose fields belong at the top level, where they take precedence. Some users send the object itself. */
const extras = ["extra_body", "extraBody"] as const

/** Alternative field names. The canonical name takes precedence. */
const names: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      "maxTokens",
      "maxOutputTokens",
      "maxCompletionTokens",
      "max_new_tokens",
      "num_predict",
      "n_predict",
      "max_gen_len",
      "maxTokenCount",
      "max_tokens_to_sample"
    ].map((name) => [name, "max_tokens"])
  ),
  stopSequences: "stop_sequences",
  stopping_strings: "stop_sequences",
  topP: "top_p",
  topK: "top_k",
  frequencyPenalty: "frequency_penalty",
  presencePenalty: "presence_penalty",
  repetitionPenalty: "repetition_penalty",
  parallelToolCalls: "parallel_tool_calls",
  toolChoice: "tool_choice",
  responseFormat: "response_format",
  reasoningEffort: "reasoning_effort",
  thinkingBudget: "thinking_budget",
  thinkingConfig: "thinking_config",
  responseMimeType: "response_mime_type",
  responseSchema: "response_schema",
  responseJsonSchema: "response_json_schema",
  responseModalities: "modalities",
  response_modalities: "modalities",
  toolConfig: "tool_config"
}

const limits = ["max_tokens", "max_completion_tokens", "max_output_tokens"] as const

/** Copies nested settings to the top level. */
const flat = (given: Json.JsonObject): Body => {
  let body: Body = { ...given }
  for (const name of containers) {
    if (!Json.isObject(body[name])) continue
    for (const [key, value] of Object.entries(body[name])) body[key] ??= value
    delete body[name]
  }
  for (const name of extras) {
    const extra = body[name]
    if (!Json.isObject(extra)) continue
    delete body[name]
    body = { ...body, ...extra }
  }
  return body
}

const rename = (body: Body): void => {
  for (const other of Object.keys(body)) {
    const name = Object.hasOwn(names, other) ? names[other]! : undefined
    const value = body[other]
    if (name === undefined || value === undefined || value === null) continue
    const isTaken = name === "max_tokens" ? limits.some((limit) => body[limit] != null) : body[name] != null
    if (!isTaken) body[name] = value
    delete body[other]
  }
}

/** Fields in which Gemini declares functions. */
const declarations = ["functionDeclarations", "function_declarations"] as const

/** Moves the tools and the tool choice, which Bedrock and Gemini nest in one object. */
const takeTools = (body: Body): void => {
  for (const name of declarations) {
    if (body[name] === undefined) continue
    if (body[name] !== null) body.tools ??= [{ functionDeclarations: body[name] }]
    delete body[name]
  }
  if (!Json.isObject(body.tool_config)) return
  const { toolChoice, tools } = body.tool_config
  body.tools ??= tools
  body.tool_choice ??= toolChoice ?? (tools === undefined ? body.tool_config : undefined)
  delete body.tool_config
}

// -------------------------------------------------------------------------------------------------------------------
// Conversations
// -------------------------------------------------------------------------------------------------------------------

/** Fields in which vendors put system instructions. */
export const ruleFields = [
  "system",
  "instructions",
  "systemInstruction",
  "system_instruction",
  "system_prompt",
  "systemPrompt",
  "preamble"
] as const

/** Conversation fields that are left in place. */
export const fields = ["messages", "input", "chat_history", "chatHistory", ...ruleFields] as const

/** Message fields used by various frameworks. */
const messageFields = ["role", "Role", "_role", "from", "author", "messageType", "sender", "kwargs", "parts"]

const isMessage = (value: unknown): value is Json.JsonObject =>
  Json.isObject(value) && (messageFields.some((name) => value[name] != null) || typeof value.type === "string")

const areMessages = (value: unknown): value is ReadonlyArray<Json.JsonObject> =>
  Array.isArray(value) && value.length > 0 && value.every(isMessage)

const user = (content: unknown): Json.JsonObject => ({ role: "user", content })

/** Converts a string, a message or a list of messages to a list. Returns `undefined` if the meaning is not certain. */
const plain = (value: unknown): ReadonlyArray<unknown> | undefined => {
  if (typeof value === "string") return [user(value)]
  if (areMessages(value)) return value
  if (!Json.isObject(value)) return undefined
  if (Array.isArray(value.messages)) return value.messages
  return isMessage(value) ? [value] : undefined
}

/** Converts Gemini's `contents`: a list of strings or parts is one message, a list of contents is a conversation. */
const contents = (value: unknown): ReadonlyArray<unknown> | undefined => {
  if (!Array.isArray(value)) return plain(value)
  const isParts =
    value.length > 0 && value.every((one) => typeof one === "string" || (Json.isObject(one) && !isMessage(one)))
  return isParts ? [user(value)] : value.map((one) => (Json.isObject(one) ? { role: "user", ...one } : one))
}

/** Converts `message` from Cohere's v1 API, with the chat history before it. */
const afterHistory = (value: unknown, body: Body): ReadonlyArray<unknown> | undefined => {
  const last = plain(value)
  const before = body.chat_history ?? body.chatHistory
  return last === undefined || before == null ? last : Array.isArray(before) ? [...before, ...last] : undefined
}

const listed = (value: unknown): ReadonlyArray<unknown> | undefined => (areMessages(value) ? value : undefined)

/** Fields that may contain a conversation, with their parsers. */
const sources: Readonly<Record<string, (value: unknown, body: Body) => ReadonlyArray<unknown> | undefined>> = {
  // Gemini
  contents,
  // ShareGPT
  conversations: listed,
  conversation: listed,
  // Cohere
  message: afterHistory,
  // Legacy completions, the AI SDK
  prompt: plain,
  // Hugging Face
  inputs: plain,
  // Titan
  inputText: plain,
  // Spring AI
  instructions: listed,
  chat: listed
}

/** All fields that may contain a conversation. */
export const conversations: ReadonlySet<string> = new Set([...fields, ...Object.keys(sources)])

/** Fields that may contain a question. They are not used, but mentioned in the error. */
const unsure = ["query", "question", "text", "content", "user_input", "q", "history", "chat_history"]

/** Returns the fields in which the client may have put its conversation, for an error message. */
export const meantFor = (body: Json.JsonObject): ReadonlyArray<string> =>
  [...Object.keys(sources), ...unsure].filter((name) => body[name] !== undefined && body[name] !== null)

const numbered = (value: unknown): unknown => {
  if (!Json.isObject(value)) return value
  const keys = Object.keys(value)
  return keys.length > 0 && keys.every((key) => /^\d{1,6}$/.test(key)) ? Object.values(value) : value
}

/** Flattens a nested list, which is either one conversation or pairs of role and text. */
const unnested = (value: unknown, field: string): unknown => {
  if (!Array.isArray(value) || !value.some(Array.isArray)) return value
  if (value.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every((one) => typeof one === "string"))) {
    return value.map(([role, content]) => ({ role, content }))
  }
  if (value.length === 1) return value[0]
  throw invalid(
    field,
    `${field} must be a single list of messages, but has ${value.length} lists. Send one request for each list.`
  )
}

/** Returns messages that are JSON-encoded, nested in another list or object, or keyed by number. */
const messagesOf = (value: unknown, field: string): unknown => {
  const given = typeof value === "string" && /^\s*\[/.test(value) ? Json.parsed(value) : value
  const list = typeof value === "string" && !areMessages(given) ? value : numbered(given)
  if (Json.isObject(list) && Array.isArray(list.messages)) return messagesOf(list.messages, field)
  return unnested(list, field)
}

/** Normalizes the input of a Responses request, which may be a string, a list, or a single item. */
const inputOf = (value: unknown): unknown => {
  if (typeof value === "string" || Array.isArray(value)) return unnested(value, "input")
  const own = numbered(value)
  if (!Json.isObject(own)) return own
  if (Array.isArray(own.messages)) return own.messages
  return typeof own.prompt === "string" ? own.prompt : own
}

const takeConversation = (body: Body, own: "messages" | "input"): void => {
  if (body.messages != null) body.messages = messagesOf(body.messages, "messages")
  if (body.input != null) body.input = inputOf(body.input)
  if (body.messages != null || body.input != null) return
  for (const [name, read] of Object.entries(sources)) {
    if (body[name] === undefined || body[name] === null) continue
    const messages = read(body[name], body)
    if (messages === undefined) continue
    delete body[name]
    body[own] = unnested(messages, name)
    return
  }
}

/** Rejects a line from a batch file, which contains the request in a nested field. */
const refuseLine = ({ body, custom_id, input, messages, url }: Body): void => {
  if (!Json.isObject(body) || messages != null || input != null || (custom_id == null && url == null)) return
  throw invalid("body", "This is a line of a batch file. Send the object in its field body, without custom_id and url.")
}

/** Fields used by other formats. A body without any of them needs no conversion. */
const foreign: ReadonlySet<string> = new Set([
  ...containers,
  ...extras,
  ...Object.keys(names),
  ...declarations,
  "tool_config",
  "body"
])

/**
 * Converts a body to the format of a wire whose conversation is in the field `own`. Throws an `ApiError` if the body is
 * ambiguous.
 */
export const of = (given: Json.JsonObject, own: "messages" | "input"): Json.JsonObject => {
  const isForeign = Json.hasAny(given, foreign)
  const body = isForeign ? flat(given) : { ...given }
  if (typeof body.model === "string") body.model = body.model.trim()
  if (isForeign) {
    refuseLine(body)
    rename(body)
    takeTools(body)
  }
  takeConversation(body, own)
  return body
}

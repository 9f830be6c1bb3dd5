/** Converts messages in the formats of other vendors and frameworks to messages with a role and content. */
import { Dialects } from "@divisi/provider-kit"
import * as Json from "../wire/Json.ts"
import type { Reading } from "../wire/Reading.ts"

// -------------------------------------------------------------------------------------------------------------------
// Roles
// -------------------------------------------------------------------------------------------------------------------

const own = ["user", "assistant", "system", "developer", "tool", "function"] as const

/** Roles by the names used in other vendors' APIs, LangChain and other frameworks. */
export const roles: ReadonlyMap<unknown, string> = new Map([
  ["human", "user"],
  ["ai", "assistant"],
  ["model", "assistant"],
  ["bot", "assistant"],
  ["chatbot", "assistant"],
  ["gpt", "assistant"],
  ["ipython", "tool"],
  ["observation", "tool"],
  ["tool_result", "tool"],
  ["tool_response", "tool"],
  ["tool_execution_result", "tool"],
  ...own.map((role) => [role, role] as const),
  // Message classes in LangChain, AutoGen and similar frameworks.
  ...(["human", "ai", "system", "tool", "function", "user", "assistant"] as const).flatMap((name) => {
    const role = name === "human" ? "user" : name === "ai" ? "assistant" : name
    return [`${name}message`, `${name}messagechunk`].map((type) => [type, role] as const)
  })
])

const lower = (value: unknown): unknown => (typeof value === "string" ? value.toLowerCase() : value)

const isRules = (parts: ReadonlyArray<unknown>): boolean =>
  parts.length > 0 && parts.every((part) => Json.isObject(part) && part.part_kind === "system-prompt")

/**
 * Returns the role of a message. LangChain stores it in `type`; other frameworks nest it in an object or use another
 * name.
 */
const roleOf = (message: Json.JsonObject): unknown => {
  const { _role, author, from, kind, messageType, role, sender, source, type } = message
  // Pydantic AI distinguishes requests and responses instead of roles.
  if (role === undefined && Array.isArray(message.parts) && (kind === "request" || kind === "response")) {
    return kind === "response" ? "assistant" : isRules(message.parts) ? "system" : "user"
  }
  // AutoGen stores the agent's name in `source`.
  if (type === "TextMessage" && typeof source === "string") return source === "user" ? "user" : "assistant"
  const given = role ?? (Json.isObject(author) ? author.role : undefined) ?? from ?? messageType ?? _role ?? sender
  const name = lower(Json.isObject(given) ? (given.label ?? given.Label ?? given.value) : given)
  const known = name ?? (roles.has(lower(type)) ? lower(type) : undefined)
  return roles.get(known) ?? known
}

// -------------------------------------------------------------------------------------------------------------------
// Parts
// -------------------------------------------------------------------------------------------------------------------

const joined = (...names: ReadonlyArray<unknown>): string | undefined => {
  const known = names.filter((name) => typeof name === "string" && name !== "")
  return known.length === 0 ? undefined : known.join("-")
}

/** Converts a part from Microsoft's frameworks, which name its type `$type` or `content_type`. */
const microsoftPart = (given: Json.JsonObject): unknown => {
  const part = lowerKeys(given)
  const kind = String(part.$type ?? part.content_type)
    .toLowerCase()
    .replaceAll(/content$|_/g, "")
  const name = joined(part.pluginName, part.functionName) ?? part.name
  if (kind === "functioncall") {
    return { type: "tool_use", id: part.callId ?? part.id, name, input: part.arguments }
  }
  if (kind === "functionresult") {
    return { type: "tool_result", tool_use_id: part.callId ?? part.call_id ?? part.id, name, content: part.result }
  }
  if (kind === "text") return { type: "text", text: part.text }
  const place = part.uri ?? part.dataUri ?? part.data_uri
  return typeof place === "string" ? { type: "image_url", image_url: place } : given
}

/** Converts a part from Pydantic AI, which names its type `part_kind`. */
const pydanticPart = (part: Json.JsonObject): unknown => {
  switch (part.part_kind) {
    case "tool-call":
      return { type: "tool_use", id: part.tool_call_id, name: part.tool_name, input: part.args }
    case "tool-return":
      return { type: "tool_result", tool_use_id: part.tool_call_id, name: part.tool_name, content: part.content }
    case "thinking":
      return { type: "thinking", thinking: part.content }
    default:
      return { type: "text", text: part.content }
  }
}

/**
 * Converts tool calls and results from Gemini, Bedrock, the AI SDK and other frameworks to blocks of the Messages API.
 */
const blockOf = (part: unknown): unknown => {
  if (!Json.isObject(part)) return part
  if (typeof part.part_kind === "string") return pydanticPart(part)
  if (part.$type !== undefined || typeof part.content_type === "string") return microsoftPart(part)
  const call = part.type === "tool_use" ? undefined : Dialects.Text.callIn(part)
  if (call !== undefined) return { type: "tool_use", ...call }
  const result = part.functionResponse ?? part.function_response
  if (Json.isObject(result)) {
    return { type: "tool_result", tool_use_id: result.id, name: result.name, content: result.response }
  }
  const { tool_call: haystack, toolResult } = part
  if (Json.isObject(toolResult)) {
    const isError = toolResult.status === "error" ? { is_error: true } : {}
    return { type: "tool_result", tool_use_id: toolResult.toolUseId, content: toolResult.content, ...isError }
  }
  if (Json.isObject(haystack) && part.type === undefined) {
    return { type: "tool_use", id: haystack.id, name: haystack.tool_name, input: haystack.arguments }
  }
  if (part.type === "tool-result") {
    const output =
      Json.isObject(part.output) && "value" in part.output ? part.output.value : (part.output ?? part.result)
    return { type: "tool_result", tool_use_id: part.toolCallId, name: part.toolName, content: output }
  }
  return typeof part.type === "string" && /^[A-Z_]+$/.test(part.type) ? { ...part, type: lower(part.type) } : part
}

/** Whether a part may be in another vendor's format. */
const isForeign = (part: unknown): boolean =>
  Json.isObject(part) &&
  (typeof part.type !== "string" ||
    part.type === "tool-call" ||
    part.type === "tool_call" ||
    part.type === "function_call" ||
    part.type === "tool-result" ||
    /^[A-Z]/.test(part.type))

/** Adds images that Ollama sends next to the text, encoded as base64. */
const withImages = (content: unknown, images: unknown): unknown =>
  Array.isArray(images) && images.length > 0 && (typeof content === "string" || content == null)
    ? [...(content ? [{ type: "text", text: content }] : []), ...images.map((image) => ({ type: "image", image }))]
    : content

/** Fields that contain a message's content in various frameworks. */
const contentFields = ["blocks", "items", "contents", "parts", "_content", "value", "message", "textContent", "text"]

/** Returns the attachments of AI SDK and chat app messages as parts. Attachments without data or a URL are skipped. */
const attachedOf = (message: Json.JsonObject): ReadonlyArray<Json.JsonObject> =>
  attachmentFields.flatMap((name) => {
    const list = message[name]
    return Array.isArray(list) ? list.filter(Json.isObject).flatMap(fileOf) : []
  })

const attachmentFields = ["attachments", "experimental_attachments", "files"] as const

const fileOf = ({ contentType, data, mediaType, mimeType, name, url }: Json.JsonObject) => {
  const place = url ?? data
  if (typeof place !== "string" || place === "") return []
  return [{ type: "file", url: place, mediaType: mediaType ?? contentType ?? mimeType, filename: name }]
}

/** Adds files to the content of a message. */
const withFiles = (content: unknown, files: ReadonlyArray<Json.JsonObject>): unknown => {
  if (files.length === 0) return content
  const own = Array.isArray(content) ? content : content ? [{ type: "text", text: content }] : []
  return [...own, ...files]
}

/** Returns the content of a message, which frameworks store as a list of parts or as text. */
const contentOf = (message: Json.JsonObject): unknown => {
  const { content, data, images } = message
  const other = contentFields.find((name) => message[name] != null)
  const given = content ?? (Json.isObject(data) ? data.content : undefined) ?? (other && message[other])
  const own = Json.isObject(given) && Array.isArray(given.parts) ? given.parts : given
  const parts = Array.isArray(own) && own.some(isForeign) ? own.map(blockOf) : withImages(own, images)
  return withFiles(parts, attachedOf(message))
}

// -------------------------------------------------------------------------------------------------------------------
// Messages
// -------------------------------------------------------------------------------------------------------------------

const lowerKeys = (value: Json.JsonObject): Json.JsonObject =>
  Object.fromEntries(Object.entries(value).map(([name, part]) => [name[0]?.toLowerCase() + name.slice(1), part]))

/** Returns the fields of a message, which LangChain nests and .NET capitalizes. */
const fieldsOf = (message: Json.JsonObject): Json.JsonObject => {
  const { id, kwargs, lc } = message
  if (lc !== undefined && Json.isObject(kwargs) && Array.isArray(id)) return { type: id.at(-1), ...kwargs }
  return message.role === undefined && message.Role !== undefined ? lowerKeys(message) : message
}

/** Moves the tool calls and results of Spring AI and LangChain4j to the fields used by Chat Completions. */
const withCalls = (message: Json.JsonObject): Json.JsonObject => {
  const { responses, toolCalls, toolExecutionRequests, toolName } = message
  const calls = toolCalls ?? toolExecutionRequests
  if (Array.isArray(calls)) return { ...message, tool_calls: message.tool_calls ?? calls }
  if (Array.isArray(responses) && message.messageType !== undefined) {
    const results = responses.filter(Json.isObject).map(({ id, name, responseData }) => ({
      type: "tool_result",
      tool_use_id: id,
      name,
      content: responseData
    }))
    return { ...message, content: results }
  }
  return toolName === undefined || message.name !== undefined
    ? message
    : { ...message, name: toolName, tool_call_id: message.tool_call_id ?? message.toolCallId ?? message.id }
}

/** ShareGPT represents a tool call as a message with JSON text. */
const withCall = (message: Json.JsonObject, reading: Reading): Json.JsonObject => {
  if (lower(message.from) !== "function_call" || typeof message.value !== "string") return message
  const call = reading.parsed(message.value)
  return Json.isObject(call) && typeof call.name === "string"
    ? { role: "assistant", tool_calls: [{ function: { name: call.name, arguments: call.arguments } }] }
    : message
}

/** Whether an object is an item of the Responses API: a call, a result, or reasoning. */
export const isItem = ({ type }: Json.JsonObject, role: unknown): boolean =>
  role === undefined && typeof type === "string" && type !== "message" && !roles.has(type.toLowerCase())

/** Types of parts that may occur without a message, and the role for the message created around them. */
const bareParts: ReadonlyMap<unknown, string> = new Map([
  ...["tool_result", "text", "input_text", "input_image", "input_file", "image_url", "image", "file"].map(
    (type) => [type, "user"] as const
  ),
  ...["tool_use", "output_text"].map((type) => [type, "assistant"] as const)
])

/** Converts a message to the documented role and content. A block without a message is wrapped in one. */
export const plain = (given: Json.JsonObject, reading: Reading): Json.JsonObject => {
  const bare = given.role === undefined && given.content === undefined ? bareParts.get(given.type) : undefined
  if (bare !== undefined || (given.role === undefined && given.type === "tool_result")) {
    return { role: bare ?? "user", content: [given] }
  }
  const message = withCall(withCalls(fieldsOf(given)), reading)
  const role = roleOf(message)
  const content = isItem(message, role) ? message.content : contentOf(message)
  return role === message.role && content === message.content ? message : { ...message, role, content }
}

// -------------------------------------------------------------------------------------------------------------------
// Messages of user interfaces
// -------------------------------------------------------------------------------------------------------------------

/** A tool call and its result, which the AI SDK stores in a single part. */
interface Invocation {
  readonly call: Json.JsonObject
  /** `undefined` if the call has no result yet. */
  readonly result: Json.JsonObject | undefined
}

/**
 * Returns the invocation in a part (`tool-NAME`, `dynamic-tool`, or the nested form of version 4), or `undefined` for
 * other parts.
 */
const invocationOf = (value: unknown): Invocation | undefined => {
  if (!Json.isObject(value)) return undefined
  const nested = Json.isObject(value.toolInvocation) ? value.toolInvocation : value
  const { args, errorText, input, output, rawInput, result, state, toolCallId: id, type } = nested
  const isNamed = typeof type === "string" && type.startsWith("tool-") && typeof state === "string"
  const name = isNamed ? type.slice("tool-".length) : nested.toolName
  if (typeof id !== "string" || typeof state !== "string" || typeof name !== "string") return undefined
  const given = output ?? result
  const answered = errorText == null ? given : errorText
  return {
    call: { type: "tool_use", id, name, input: input ?? args ?? rawInput },
    result:
      answered === undefined
        ? undefined
        : { type: "tool_result", tool_use_id: id, content: answered, ...(errorText == null ? {} : { is_error: true }) }
  }
}

/**
 * Splits a message into turns. UI messages contain tool calls and results between text parts. These become separate
 * messages.
 */
export const turnsOf = (given: Json.JsonObject): ReadonlyArray<Json.JsonObject> => {
  const { content, parts, toolInvocations, ...rest } = given
  const own = Array.isArray(parts) ? parts : Array.isArray(content) ? content : undefined
  const listed = own === undefined && Array.isArray(toolInvocations) ? toolInvocations : undefined
  const all = listed === undefined ? own : [...listed, ...(content ? [{ type: "text", text: content }] : [])]
  if (all === undefined || !all.some((part) => invocationOf(part) !== undefined)) return [given]
  const turns: Array<Json.JsonObject> = []
  let said: Array<unknown> = []
  let results: Array<Json.JsonObject> = []
  const flush = () => {
    if (said.length > 0) turns.push({ ...rest, content: said })
    if (results.length > 0) turns.push({ role: "user", content: results })
    said = []
    results = []
  }
  for (const part of all) {
    const invocation = invocationOf(part)
    if (invocation === undefined && results.length > 0) flush()
    said.push(invocation?.call ?? part)
    if (invocation?.result !== undefined) results.push(invocation.result)
  }
  flush()
  return turns
}

// -------------------------------------------------------------------------------------------------------------------
// Losses
// -------------------------------------------------------------------------------------------------------------------

/** Message fields with content that cannot be sent to workers. */
const unreadFields = [...attachmentFields, "documents", "audio", "audios", "video", "videos"]

/** Adds a notice for message content that is ignored. */
export const noteLosses = (message: Json.JsonObject, field: string, reading: Reading): void => {
  for (const name of unreadFields) {
    const value = message[name]
    if (typeof value !== "object" || value === null) continue
    const list = Array.isArray(value) ? value : [value]
    const isRead = (attachmentFields as ReadonlyArray<string>).includes(name)
    if (list.some((one) => !isRead || !Json.isObject(one) || fileOf(one).length === 0)) {
      reading.notice(`${field}.${name} was not read, or only in part: send files as parts of the content.`)
    }
  }
}

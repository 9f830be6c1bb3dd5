/**
 * Reads the messages of a request. Clients that change their wire in the middle of a conversation, and proxies in front of
 * them, mix the vendors' forms, so each form is read on every wire.
 */
import type { Message } from "@divisi/core/Message"
import * as ChatTurns from "../chat/ChatTurns.ts"
import * as MessagesTurns from "../messages/MessagesTurns.ts"
import * as ResponsesItems from "../responses/ResponsesItems.ts"
import * as Json from "../wire/Json.ts"
import type { Reading } from "../wire/Reading.ts"
import type { Offered } from "../wire/Tools.ts"
import * as Conversation from "./Conversation.ts"

type Add = (conversation: Conversation.Conversation, message: Json.JsonObject, field: string) => void

/** The form of a wire's own messages. */
export type Form = "chat" | "messages" | "responses"

const forms: { readonly [F in Form]: Add } = {
  chat: ChatTurns.add,
  messages: MessagesTurns.add,
  responses: ResponsesItems.add
}

/** Roles by the names of other vendors and of LangChain. */
const roles: ReadonlyMap<unknown, string> = new Map([
  ["human", "user"],
  ["ai", "assistant"],
  ["model", "assistant"],
  ["bot", "assistant"],
  ["chatbot", "assistant"],
  ["ipython", "tool"],
  ["observation", "tool"],
  ["tool_result", "tool"],
  ...["user", "assistant", "system", "developer", "tool", "function"].map((role) => [role, role] as const)
])

const lower = (value: unknown): unknown => (typeof value === "string" ? value.toLowerCase() : value)

/** The role of a message, which LangChain writes as its type. */
const roleOf = ({ role, type }: Json.JsonObject): unknown => {
  const name = lower(role) ?? (roles.has(type) ? type : undefined)
  return roles.get(name) ?? name
}

/** Calls and results of Gemini, Bedrock and the AI SDK as blocks of Messages. */
const blockOf = (part: unknown): unknown => {
  if (!Json.isObject(part)) return part
  const called = part.functionCall ?? part.function_call
  if (Json.isObject(called)) return { type: "tool_use", id: called.id, name: called.name, input: called.args }
  const result = part.functionResponse ?? part.function_response
  if (Json.isObject(result)) {
    return { type: "tool_result", tool_use_id: result.id, name: result.name, content: result.response }
  }
  const { toolResult, toolUse } = part
  if (Json.isObject(toolUse)) {
    return { type: "tool_use", id: toolUse.toolUseId, name: toolUse.name, input: toolUse.input }
  }
  if (Json.isObject(toolResult)) {
    return { type: "tool_result", tool_use_id: toolResult.toolUseId, content: toolResult.content }
  }
  if (part.type === "tool-call") {
    return { type: "tool_use", id: part.toolCallId, name: part.toolName, input: part.input ?? part.args }
  }
  if (part.type === "tool-result") {
    const output =
      Json.isObject(part.output) && "value" in part.output ? part.output.value : (part.output ?? part.result)
    return { type: "tool_result", tool_use_id: part.toolCallId, name: part.toolName, content: output }
  }
  return part
}

/** Whether a part is a call or a result in the form of another vendor. */
const isForeign = (part: unknown): boolean =>
  Json.isObject(part) &&
  (part.type === "tool-call" ||
    part.type === "tool-result" ||
    Json.isObject(part.toolUse) ||
    Json.isObject(part.toolResult))

/** The pictures that Ollama has next to the text, as base64. */
const withImages = (content: unknown, images: unknown): unknown =>
  Array.isArray(images) && images.length > 0 && (typeof content === "string" || content == null)
    ? [...(content ? [{ type: "text", text: content }] : []), ...images.map((image) => ({ type: "image", image }))]
    : content

/** The content of a message, which Gemini and the AI SDK's pages write as parts, and others as a text alone. */
const contentOf = ({ blocks, content, data, images, parts, text }: Json.JsonObject): unknown => {
  const own = content ?? (Json.isObject(data) ? data.content : undefined) ?? blocks
  if (own == null) return Array.isArray(parts) ? parts.map(blockOf) : typeof text === "string" ? text : own
  return Array.isArray(own) && own.some(isForeign) ? own.map(blockOf) : withImages(own, images)
}

/** A message with the role and the content that vendors document. Blocks without a message get one. */
const plain = (message: Json.JsonObject): Json.JsonObject => {
  if (message.role === undefined && message.type === "tool_use") return { role: "assistant", content: [message] }
  if (message.role === undefined && message.type === "tool_result") return { role: "user", content: [message] }
  const role = roleOf(message)
  const content = isItem(message) ? message.content : contentOf(message)
  return role === message.role && content === message.content ? message : { ...message, role, content }
}

/** An item of Responses: a call, a result, reasoning. */
const isItem = ({ role, type }: Json.JsonObject): boolean =>
  role === undefined && typeof type === "string" && type !== "message" && !roles.has(type)

/** A turn of Messages that calls tools or has their results. */
const hasBlocks = ({ content }: Json.JsonObject): boolean =>
  Array.isArray(content) &&
  content.some((block) => Json.isObject(block) && (block.type === "tool_use" || block.type === "tool_result"))

/** A message of Chat Completions that calls tools or is a result. */
const hasCalls = ({ function_call, role, tool_calls }: Json.JsonObject): boolean =>
  role === "tool" || role === "function" || tool_calls != null || function_call != null

const formOf = (message: Json.JsonObject, own: Form): Form => {
  if (isItem(message)) return "responses"
  if (hasBlocks(message)) return "messages"
  return hasCalls(message) ? "chat" : own
}

/** Reads a list of messages in the form of a wire, or in others. Throws an `ApiError`. */
export const read = (
  list: ReadonlyArray<unknown>,
  field: string,
  own: Form,
  reading: Reading,
  tools: ReadonlyArray<Offered>
): ReadonlyArray<Message> => {
  const conversation = Conversation.make(reading, tools)
  for (const [at, value] of list.entries()) {
    const place = reading.at(field, at)
    if (value === null) continue
    if (typeof value === "string") conversation.messages.push({ role: "user", content: value })
    else {
      const message = plain(Json.object(value, place))
      forms[formOf(message, own)](conversation, message, place)
    }
  }
  return Conversation.messagesOf(conversation)
}

/** The list of a request, which some clients send in the field of another wire, as a text or as one message. */
export const listIn = (
  body: Json.JsonObject,
  names: readonly [own: string, other: string]
): readonly [list: ReadonlyArray<unknown>, field: string] => {
  const [own, other] = names
  const field = body[own] == null && body[other] != null ? other : own
  const value = body[field]
  // If both fields are set and one is not a list, the intent is ambiguous.
  const isOnly = body[own] == null || body[other] == null
  const isOne = typeof value === "string" || Json.isObject(value)
  if (isOne && (isOnly || own === "input")) return [[value], field]
  return [Json.list(value, field), field]
}

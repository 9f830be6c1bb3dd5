/**
 * Parses the messages of a request. Clients that switch wires in the middle of a conversation, and proxies in front of
 * them, mix vendor formats, so every wire accepts every format.
 */
import type { Message } from "@divisi/core/Message"
import { isReadonlyArrayNonEmpty, type NonEmptyReadonlyArray } from "effect/Array"
import * as ChatTurns from "../chat/ChatTurns.ts"
import * as MessagesTurns from "../messages/MessagesTurns.ts"
import * as ResponsesItems from "../responses/ResponsesItems.ts"
import { invalid } from "../wire/ApiError.ts"
import * as Canonical from "../wire/Canonical.ts"
import * as Content from "../wire/Content.ts"
import * as Json from "../wire/Json.ts"
import type { Reading } from "../wire/Reading.ts"
import type { Steps } from "../wire/Steps.ts"
import type { Offered } from "../wire/Tools.ts"
import * as Conversation from "./Conversation.ts"
import * as Forms from "./Forms.ts"

type Add = (conversation: Conversation.Conversation, message: Json.JsonObject, field: string) => void

/** The native message format of a wire. */
export type Form = "chat" | "messages" | "responses"

const forms: { readonly [F in Form]: Add } = {
  chat: ChatTurns.add,
  messages: MessagesTurns.add,
  responses: ResponsesItems.add
}

/** The fields that may contain the messages. Some clients use the field of another wire; Cursor sends `input`. */
const fields: { readonly [F in Form]: readonly [own: string, other: string] } = {
  chat: ["messages", "input"],
  messages: ["messages", "input"],
  responses: ["input", "messages"]
}

/** Whether a message has tool calls or results in the format of the Messages API. */
const hasBlocks = ({ content }: Json.JsonObject): boolean =>
  Array.isArray(content) &&
  content.some((block) => Json.isObject(block) && (block.type === "tool_use" || block.type === "tool_result"))

/** Whether a message has tool calls or is a result in the format of Chat Completions. */
const hasCalls = ({ function_call, role, tool_calls }: Json.JsonObject): boolean =>
  role === "tool" || role === "function" || tool_calls != null || function_call != null

const formOf = (message: Json.JsonObject, own: Form): Form => {
  if (Forms.isItem(message, message.role)) return "responses"
  if (hasBlocks(message)) return "messages"
  return hasCalls(message) ? "chat" : own
}

/**
 * Fast path for messages with only a role and a string, which are the same on every wire. Returns `undefined` for all
 * others.
 */
const plainMessage = (value: Json.JsonObject): Message | undefined => {
  const { content, role } = value
  if (typeof content !== "string" || (role !== "user" && role !== "assistant")) return undefined
  for (const name in value) if (name !== "role" && name !== "content") return undefined
  return { role, content }
}

/** Number of messages and their parts parsed in one step. The last message may have more. */
const stepParts = 64

/** The lists of a message whose elements are parsed one after another. */
const partFields = ["content", "parts", "tool_calls"] as const

/** Returns the number of parts of a message. Throws an `ApiError` if there are too many. */
const partsIn = (message: Json.JsonObject, field: string): number => {
  let count = 0
  for (const name of partFields) {
    const parts = message[name]
    if (Array.isArray(parts)) count += Json.items(parts, `${field}.${name}`).length
  }
  return count
}

/**
 * Parses a list of messages in steps, in the wire's own format or any other. Throws an `ApiError` if a message is
 * invalid.
 */
function* messagesOf(
  list: ReadonlyArray<unknown>,
  field: string,
  own: Form,
  reading: Reading,
  tools: ReadonlyArray<Offered>
): Steps<ReadonlyArray<Message>> {
  const conversation = Conversation.make(reading, tools)
  let parts = 0
  for (const [at, value] of list.entries()) {
    parts += 1
    if (parts >= stepParts) {
      yield
      parts = 0
    }
    if (value === null) continue
    if (typeof value === "string") {
      conversation.messages.push({ role: "user", content: value })
      continue
    }
    const place = reading.at(field, at)
    const given = Json.object(value, place)
    const message = plainMessage(given)
    if (message !== undefined) conversation.messages.push(message)
    else {
      parts += partsIn(given, place)
      Forms.noteLosses(given, place, reading)
      for (const turn of Forms.turnsOf(given)) {
        const message = Forms.plain(turn, reading)
        forms[formOf(message, own)](conversation, message, place)
      }
    }
  }
  yield
  const messages = yield* Conversation.messagesOf(conversation)
  yield
  const last = messages.at(-1)
  if (last?.role === "assistant" && last.toolCalls === undefined) reading.notice(prefilled)
  return messages
}

/**
 * Notice for a prefilled answer, requested with `prefix` (DeepSeek, Mistral), `partial` (Moonshot), or a final
 * assistant message.
 */
const prefilled = "The last message is from the assistant. The answer is a new message and does not continue it."

const isEmpty = (list: unknown): boolean => list == null || (Array.isArray(list) && list.length === 0)

/**
 * Returns the request's list of messages. Some clients send it in the field of another wire, as a string, or as a
 * single message.
 */
const listIn = (
  body: Json.JsonObject,
  names: readonly [own: string, other: string]
): readonly [list: ReadonlyArray<unknown>, field: string] => {
  const [own, other] = names
  const field = isEmpty(body[own]) && body[other] != null ? other : own
  const value = body[field]
  const [meant] = value == null ? Canonical.meantFor(body) : []
  if (meant !== undefined) {
    throw invalid(
      own,
      `${own} is missing; ${meant} is not supported. Send ${own}: [{ "role": "user", "content": "…" }].`
    )
  }
  // If both fields are set and one is not a list, the request is ambiguous.
  const isOnly = isEmpty(body[own]) || body[other] == null
  const isOne = typeof value === "string" || Json.isObject(value)
  if (isOne && (isOnly || own === "input")) return [[value], field]
  return [Json.list(value, field, "a string or an array"), field]
}

const ruleNames: ReadonlySet<string> = new Set(Canonical.ruleFields)

/** Prepends the system instructions from separate fields to the messages. */
const withRules = (
  body: Json.JsonObject,
  reading: Reading,
  messages: NonEmptyReadonlyArray<Message>
): NonEmptyReadonlyArray<Message> => {
  if (!Json.hasAny(body, ruleNames)) return messages
  const rules = Canonical.ruleFields
    .map((field) => Content.textOf(body[field], field, reading, "system"))
    .filter((text) => text !== "")
  return rules.length === 0 ? messages : [{ role: "system", content: rules.join("\n") }, ...messages]
}

/**
 * Parses the messages of a request in steps, preceded by its system instructions. Throws an `ApiError` if there are no
 * messages, or if one is invalid.
 */
export function* read(
  body: Json.JsonObject,
  own: Form,
  reading: Reading,
  tools: ReadonlyArray<Offered>
): Steps<NonEmptyReadonlyArray<Message>> {
  const names = fields[own]
  const [list, field] = listIn(body, names)
  const messages = yield* messagesOf(list, field, own, reading, tools)
  if (!isReadonlyArrayNonEmpty(messages)) throw invalid(names[0], `${names[0]} must contain at least one message.`)
  return withRules(body, reading, messages)
}

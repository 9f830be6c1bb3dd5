/** Converts a conversation to turns of the Messages API. */
import type {
  ContentBlockParam,
  DocumentBlockParam,
  ImageBlockParam,
  TextBlockParam,
  ToolResultBlockParam,
  ToolUseBlockParam
} from "@anthropic-ai/sdk/resources/messages"
import { defined } from "@divisi/core/Fields"
import * as Message from "@divisi/core/Message"
import { Dialects, VendorJson as Json } from "@divisi/provider-kit"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import { refused } from "./settings.ts"

/** A turn; the API joins consecutive turns with the same role. */
export interface Turn {
  readonly role: "user" | "assistant"
  readonly content: Array<ContentBlockParam>
}

const block = (text: string): TextBlockParam => ({ type: "text", text })

// -------------------------------------------------------------------------------------------------------------------
// Pictures and files
// -------------------------------------------------------------------------------------------------------------------

const pictures = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const

const picture = (source: Message.Source): ImageBlockParam => {
  if ("url" in source) return { type: "image", source: { type: "url", url: source.url } }
  const media_type = pictures.find((known) => known === source.mediaType)
  if (media_type === undefined) {
    throw refused(`a picture of type ${source.mediaType}: Anthropic accepts ${pictures.join(", ")}`)
  }
  return { type: "image", source: { type: "base64", media_type, data: source.data } }
}

const isText = (mediaType: string) => mediaType.startsWith("text/") || mediaType === "application/json"

const sourceOf = (file: Message.FilePart): DocumentBlockParam["source"] => {
  const { mediaType = "application/pdf" } = file
  if (mediaType === "application/pdf") {
    return "url" in file
      ? { type: "url", url: file.url }
      : { type: "base64", media_type: "application/pdf", data: file.data }
  }
  const text = "data" in file && isText(mediaType) ? Base64.decodeString(file.data) : undefined
  if (text === undefined) throw refused(`a file of type ${mediaType}: Anthropic accepts PDFs and text data`)
  if (Result.isFailure(text)) throw refused("the data of a file is not base64")
  return { type: "text", media_type: "text/plain", data: text.success }
}

const document = (file: Message.FilePart): ImageBlockParam | DocumentBlockParam =>
  file.mediaType?.startsWith("image/") === true
    ? picture(file)
    : defined({ type: "document", source: sourceOf(file), title: file.name })

/** The API rejects empty texts. */
const blocksOf = (content: Message.Content) =>
  Message.parts(content).flatMap((part): Array<TextBlockParam | ImageBlockParam | DocumentBlockParam> => {
    if (part.type === "text") return part.text === "" ? [] : [block(part.text)]
    return [part.type === "image" ? picture(part) : document(part)]
  })

// -------------------------------------------------------------------------------------------------------------------
// Tools
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns tool call arguments as the object that the API requires. Other values are wrapped under the name used in the
 * vendor's documentation.
 */
const inputOf = (text: string): Json.Fields => {
  if (text.trim() === "") return {}
  try {
    return Json.object(JSON.parse(text), "arguments")
  } catch {
    return { INVALID_JSON: text }
  }
}

const callOf = ({ arguments: text, id, name }: Message.ToolCall): ToolUseBlockParam => ({
  type: "tool_use",
  id,
  name,
  input: inputOf(text)
})

/**
 * Interleaves texts and calls at their original positions; returns `undefined` if the positions belong to another turn.
 */
const placed = (
  message: Message.AssistantMessage,
  blocks: Dialects.Messages.Echo.Echo["blocks"]
): Array<ContentBlockParam> | undefined => {
  const calls = (message.toolCalls ?? []).map(callOf)
  let at = 0
  let called = 0
  const content = blocks.flatMap((place): Array<ContentBlockParam> => {
    if (Dialects.Messages.Echo.isThinking(place)) return [place]
    if (place.type === "tool_use") return calls.slice(called, ++called)
    const text = message.content.slice(at, at + place.length)
    at += place.length
    return text === "" ? [] : [block(text)]
  })
  return called === calls.length && at === message.content.length ? content : undefined
}

const said = (message: Message.AssistantMessage, model: string): Array<ContentBlockParam> => {
  const { content, echo, toolCalls = [] } = message
  const text = content === "" ? [] : [block(content)]
  const calls = toolCalls.map(callOf)
  const blocks = Dialects.Messages.Echo.read(echo, model)
  return placed(message, blocks) ?? [...blocks.filter(Dialects.Messages.Echo.isThinking), ...text, ...calls]
}

/**
 * Returns a tool result, and separately the content that the API does not accept within a failed one: anything but
 * text.
 */
const resultOf = ({ callId, content, isError }: Message.ToolMessage): Array<ContentBlockParam> => {
  const failed = isError === true
  const blocks = blocksOf(content)
  const within = failed ? blocks.filter(({ type }) => type === "text") : blocks
  const result: ToolResultBlockParam = defined({
    type: "tool_result",
    tool_use_id: callId,
    content: within.length === 0 ? undefined : within,
    is_error: failed || undefined
  })
  return [result, ...blocks.filter((one) => !within.includes(one))]
}

// -------------------------------------------------------------------------------------------------------------------
// Turns
// -------------------------------------------------------------------------------------------------------------------

const isRule = ({ role }: Message.Message) => role === "system" || role === "developer"

const contentOf = (message: Message.Message, model: string): Array<ContentBlockParam> => {
  if (message.role === "assistant") return said(message, model)
  return message.role === "tool" ? resultOf(message) : blocksOf(message.content)
}

/** The API requires tool results to come first in a turn. */
const resultsFirst = ({ content, role }: Turn): Turn => {
  const isResult = ({ type }: ContentBlockParam) => type === "tool_result"
  return { role, content: [...content.filter(isResult), ...content.filter((one) => !isResult(one))] }
}

/** Converts a conversation to turns. Throws a `Failure` for content that the API does not support. */
export const turnsOf = (messages: ReadonlyArray<Message.Message>, model: string): Array<Turn> => {
  const turns: Array<Turn> = []
  for (const message of messages) {
    const content = isRule(message) ? [] : contentOf(message, model)
    if (content.length === 0) continue
    const role = message.role === "assistant" ? "assistant" : "user"
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...content)
    else turns.push({ role, content })
  }
  return turns.map(resultsFirst)
}

/** Returns all system messages of a conversation, regardless of their position, as one block. */
export const systemOf = (messages: ReadonlyArray<Message.Message>): Array<TextBlockParam> => {
  const texts = messages
    .filter(isRule)
    .map(Message.text)
    .filter((text) => text !== "")
  return texts.length === 0 ? [] : [block(texts.join("\n\n"))]
}

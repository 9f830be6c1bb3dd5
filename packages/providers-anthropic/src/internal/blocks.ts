/** The blocks of an answer as they come: calls of tools, and the thinking that goes back with them. */
import type { WorkerPart } from "@divisi/core/Worker"
import { unreadable } from "@divisi/provider-kit/VendorError"
import * as Json from "@divisi/provider-kit/VendorJson"
import type * as Echo from "./echo.ts"

/** A call of a tool, as much as has come of it. */
export interface Call {
  readonly type: "tool_use"
  readonly id: string
  readonly name: string
  readonly arguments: string
  /** Arguments that came with the beginning; they count where no pieces follow. */
  readonly given: string
  readonly isEnded: boolean
}

type Block = Call | Echo.Thinking | Extract<Echo.Place, { type: "text" }> | { readonly type: "foreign" }

/** Blocks, each at the index that the vendor gives it. */
export type Blocks = ReadonlyArray<{ readonly index: unknown; readonly block: Block }>

const foreign: Block = { type: "foreign" }

const word = (value: unknown, name: string): string => {
  const text = Json.text(value)
  if (text === undefined) throw unreadable(`${name} is no text`)
  return text
}

const callOfStart = ({ id, input, name }: Json.Fields): Call => ({
  type: "tool_use",
  id: word(id, "a call's id"),
  name: word(name, "a call's name"),
  arguments: "",
  given: JSON.stringify(Json.object(input, "a call's input")),
  isEnded: false
})

const blockOf = (start: Json.Fields): Block => {
  switch (word(start.type, "a block's type")) {
    case "tool_use":
      return callOfStart(start)
    case "thinking":
      return {
        type: "thinking",
        thinking: Json.said(start.thinking, "thinking"),
        signature: Json.said(start.signature, "a signature")
      }
    case "redacted_thinking":
      return { type: "redacted_thinking", data: Json.said(start.data, "thinking") }
    case "text":
      return { type: "text", length: 0 }
    default:
      return foreign
  }
}

/** Takes the beginning of a block. */
export const begin = (blocks: Blocks, { content_block, index }: Json.Fields): Blocks => [
  ...blocks,
  { index, block: blockOf(Json.object(content_block, "a block")) }
]

const at = (blocks: Blocks, index: unknown): Block | undefined => blocks.findLast((one) => one.index === index)?.block

/** The call at an index. */
export const callAt = (blocks: Blocks, index: unknown): Call | undefined => {
  const block = at(blocks, index)
  return block?.type === "tool_use" ? block : undefined
}

const replace = (blocks: Blocks, index: unknown, block: Block): Blocks =>
  blocks.map((one) => (one.index === index ? { index, block } : one))

const extended = (block: Block, delta: Json.Fields): Block => {
  if (block.type === "tool_use" && delta.type === "input_json_delta") {
    return { ...block, arguments: block.arguments + Json.said(delta.partial_json, "a piece of a call's arguments") }
  }
  if (block.type === "text" && delta.type === "text_delta") {
    return { type: "text", length: block.length + Json.said(delta.text, "text").length }
  }
  if (block.type !== "thinking") return block
  const { signature, thinking } = delta
  if (delta.type === "signature_delta") return { ...block, signature: Json.said(signature, "a signature") }
  return delta.type === "thinking_delta"
    ? { ...block, thinking: block.thinking + Json.said(thinking, "thinking") }
    : block
}

const pieces: ReadonlySet<unknown> = new Set(["input_json_delta", "thinking_delta", "signature_delta"])

/**
 * Takes a piece of a block. Texts are followed only beside thinking: elsewhere nobody asks where they stood, and an
 * answer has hundreds of pieces.
 */
export const extend = (blocks: Blocks, index: unknown, delta: Json.Fields): Blocks => {
  const isText = delta.type === "text_delta"
  if (isText ? !hasThinking(blocks) : !pieces.has(delta.type)) return blocks
  const block = at(blocks, index)
  if (block === undefined && delta.type === "input_json_delta") throw unreadable("a call of a tool has no beginning")
  return block === undefined ? blocks : replace(blocks, index, extended(block, delta))
}

/** Ends the call at an index. */
export const end = (blocks: Blocks, index: unknown): Blocks => {
  const call = callAt(blocks, index)
  return call === undefined ? blocks : replace(blocks, index, { ...call, isEnded: true })
}

/** A call that has not ended. */
export const openCall = (blocks: Blocks): Call | undefined =>
  blocks.map(({ block }) => block).find((block): block is Call => block.type === "tool_use" && !block.isEnded)

/** Whether the answer calls a tool. */
export const hasCalls = (blocks: Blocks): boolean => blocks.some(({ block }) => block.type === "tool_use")

const hasThinking = (blocks: Blocks): boolean =>
  blocks.some(({ block }) => block.type === "thinking" || block.type === "redacted_thinking")

/** A whole call. */
export const callOf = ({ arguments: text, given, id, name }: Call): WorkerPart => ({
  type: "tool-call",
  id,
  name,
  arguments: text === "" ? given : text
})

const kept = (block: Block): ReadonlyArray<Echo.Thinking | Echo.Place> => {
  switch (block.type) {
    case "foreign":
      return []
    case "tool_use":
      return [{ type: "tool_use" }]
    case "thinking":
      return block.signature === "" ? [] : [block]
    default:
      return [block]
  }
}

/** What goes back with the turn; nothing where no tool was called, or nothing was thought. */
export const echoOf = (blocks: Blocks, model: string): Echo.Echo | undefined =>
  hasCalls(blocks) && hasThinking(blocks) ? { model, blocks: blocks.flatMap(({ block }) => kept(block)) } : undefined

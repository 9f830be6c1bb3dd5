/** Assembles the blocks of an answer: tool calls, and the thinking that must be sent back with them. */
import { Seed } from "@divisi/core"
import type { WorkerPart } from "@divisi/core/Worker"
import { unreadable } from "../../VendorError.ts"
import * as Json from "../../VendorJson.ts"
import * as Arguments from "../arguments.ts"
import type * as Echo from "./echo.ts"

/** A tool call, possibly incomplete. */
export interface Call {
  readonly type: "tool_use"
  readonly id: string
  readonly name: string
  readonly arguments: string
  /** Arguments from the start event. They are used if no pieces follow. */
  readonly given: string
  /** The last piece received of the arguments. */
  readonly last: string
  readonly isEnded: boolean
}

type Block = Call | Echo.Thinking | Extract<Echo.Place, { type: "text" }> | { readonly type: "foreign" }

/** Blocks with their index in the response. If several share an index, the last one is meant. */
export type Blocks = ReadonlyArray<{ readonly index: unknown; readonly block: Block }>

const foreign: Block = { type: "foreign" }

const word = (value: unknown, name: string): string => {
  const text = Json.text(value)
  if (text === undefined) throw unreadable(`${name} is not a string`)
  return text
}

/** Returns the input in a call's start event as a string: an object, or JSON in a string. */
const givenOf = (input: unknown): string => {
  if (typeof input === "string") return input.trim() === "" ? "{}" : input
  return Arguments.textOf(input ?? {})
}

/** Returns the id of a call. Some servers send none, or the same one for several calls. */
const idOf = (id: unknown, blocks: Blocks, message: string): string => {
  const own = Arguments.idOf(id)
  const isFree = (id: string) => !blocks.some(({ block }) => block.type === "tool_use" && block.id === id)
  return own !== "" && isFree(own) ? own : `call-${Seed.derive(blocks.length, message, own).toString(36)}`
}

const callOfStart = ({ id, input, name }: Json.Fields, blocks: Blocks, message: string): Call => ({
  type: "tool_use",
  id: idOf(id, blocks, message),
  name: word(name, "a call's name"),
  arguments: "",
  given: givenOf(input),
  last: "",
  isEnded: false
})

const blockOf = (start: Json.Fields, blocks: Blocks, message: string): Block => {
  switch (start.type) {
    case "tool_use":
      return callOfStart(start, blocks, message)
    case "thinking":
    case "reasoning":
      return {
        type: "thinking",
        thinking: Json.textChunk(start.thinking, "thinking"),
        signature: Json.textChunk(start.signature, "a signature")
      }
    case "redacted_thinking":
      return { type: "redacted_thinking", data: Json.textChunk(start.data, "thinking") }
    case "text":
      return { type: "text", length: typeof start.text === "string" ? start.text.length : 0 }
    default:
      return foreign
  }
}

/** Maximum number of blocks per answer. */
const most = 4096

/** Starts a block. `message` is the id of the answer, from which ids are derived for calls without one. */
export const begin = (blocks: Blocks, { content_block, index }: Json.Fields, message: string): Blocks => {
  if (blocks.length >= most) throw unreadable("the response has too many blocks")
  return [...blocks, { index, block: blockOf(Json.fields(content_block), blocks, message) }]
}

const placeOf = (blocks: Blocks, index: unknown): number => blocks.findLastIndex((one) => one.index === index)

/**
 * Returns the position of the call that a piece belongs to: the call at its index, or the open call if the index has
 * neither a call nor an unknown block.
 */
const placeOfPiece = (blocks: Blocks, index: unknown): number => {
  const at = placeOf(blocks, index)
  const type = blocks[at]?.block.type
  return type === "tool_use" || type === "foreign"
    ? at
    : blocks.findLastIndex(({ block }) => block.type === "tool_use" && !block.isEnded)
}

const callIn = (blocks: Blocks, place: number): Call | undefined => {
  const block = blocks[place]?.block
  return block?.type === "tool_use" ? block : undefined
}

const replace = (blocks: Blocks, place: number, block: Block): Blocks => {
  const before = blocks[place]
  return before === undefined ? blocks : blocks.with(place, { index: before.index, block })
}

/** The next state of the blocks, and the parts to emit. */
export type Next = readonly [Blocks, ReadonlyArray<WorkerPart>]

const none: ReadonlyArray<WorkerPart> = []

/** Whether a piece is an empty object that some servers send before the actual arguments. */
const isPlaceholder = (text: string): boolean => text === "{}"

/**
 * Adds a chunk of a call's arguments: text, or the whole object. Calls executed by the vendor are foreign blocks and
 * emit nothing.
 */
export const extendCall = (blocks: Blocks, index: unknown, value: unknown): Next => {
  const piece =
    typeof value === "object" && value !== null ? JSON.stringify(value) : Json.textChunk(value, "a piece of a call")
  const place = placeOfPiece(blocks, index)
  if (place === -1 && piece !== "") throw unreadable("a tool call has no start event")
  const call = callIn(blocks, place)
  if (call === undefined || piece === "") return [blocks, none]
  if (call.isEnded) {
    // The call was already emitted without arguments.
    if (call.arguments === "" && call.given === "{}" && !isPlaceholder(piece))
      throw unreadable("arguments of a tool call arrived after its end")
    return [blocks, none]
  }
  if (call.arguments === "" && isPlaceholder(piece))
    return [replace(blocks, place, { ...call, arguments: piece }), none]
  const before = isPlaceholder(call.arguments) ? "" : call.arguments
  const next = replace(blocks, place, { ...call, arguments: before + piece, last: piece })
  return [next, [{ type: "tool-call-delta", id: call.id, name: call.name, arguments: piece }]]
}

const extended = (block: Block, type: "text" | "thinking" | "signature", text: string): Block => {
  if (block.type === "text" && type === "text") return { type, length: block.length + text.length }
  if (block.type !== "thinking" || type === "text") return block
  return { ...block, [type]: block[type] + text }
}

/**
 * Adds a chunk of text, thinking or a signature. Text is tracked only in answers with thinking, because its position
 * does not matter in other answers, which have hundreds of chunks.
 */
export const extend = (
  blocks: Blocks,
  index: unknown,
  type: "text" | "thinking" | "signature",
  text: string
): Blocks => {
  if (type === "text" && !hasThinking(blocks)) return blocks
  const place = placeOf(blocks, index)
  const block = blocks[place]?.block
  return block === undefined ? blocks : replace(blocks, place, extended(block, type, text))
}

/**
 * Returns the arguments of the call at a position. If the answer was cut, its last block may be incomplete even if it
 * has an end event or an input in its start event.
 */
const textsOf = (blocks: Blocks, place: number, isCut: boolean): ReadonlyArray<string> => {
  const call = callIn(blocks, place)
  if (call === undefined) return []
  const { arguments: text, given, isEnded, last } = call
  if (isCut && (!isEnded || place === blocks.length - 1)) return Arguments.ofCut(text)
  return Arguments.whole(text === "" || (isPlaceholder(text) && given !== "") ? given : text, last)
}

/**
 * Returns the calls of an answer, with those that a server merged into one. A call that the answer was cut within has
 * no arguments.
 */
export const calls = (blocks: Blocks, isCut: boolean): ReadonlyArray<WorkerPart> =>
  blocks.flatMap(({ block }, place) => {
    if (block.type !== "tool_use") return []
    const { id, name } = block
    return textsOf(blocks, place, isCut).map(
      (text, at): WorkerPart => ({ type: "tool-call", id: at === 0 ? id : `${id}_${at}`, name, arguments: text })
    )
  })

const ended = (blocks: Blocks, place: number): Blocks => {
  const call = callIn(blocks, place)
  return call === undefined || call.isEnded ? blocks : replace(blocks, place, { ...call, isEnded: true })
}

/** Ends the block at an index, which completes a call. Some servers send the input of a call only here. */
export const end = (blocks: Blocks, index: unknown, input?: unknown): Blocks => {
  const place = placeOf(blocks, index)
  const call = callIn(blocks, place)
  return call === undefined || call.arguments !== "" || input === undefined || input === null
    ? ended(blocks, place)
    : ended(replace(blocks, place, { ...call, given: givenOf(input) }), place)
}

const isWhole = ({ arguments: text, last }: Call): boolean => Arguments.whole(text, last).every(Arguments.isObject)

/** Ends the calls whose end event is missing but whose arguments are complete. */
export const endWhole = (blocks: Blocks): Blocks =>
  blocks.reduce((next, { block }, place) => {
    return block.type === "tool_use" && !block.isEnded && isWhole(block) ? ended(next, place) : next
  }, blocks)

/** Whether any call is incomplete. */
export const hasOpenCall = (blocks: Blocks): boolean =>
  blocks.some(({ block }) => block.type === "tool_use" && !block.isEnded)

/** Whether the answer contains a tool call. */
export const hasCalls = (blocks: Blocks): boolean => blocks.some(({ block }) => block.type === "tool_use")

const hasThinking = (blocks: Blocks): boolean =>
  blocks.some(({ block }) => block.type === "thinking" || block.type === "redacted_thinking")

const echoed = (block: Block): ReadonlyArray<Echo.Thinking | Echo.Place> => {
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

/**
 * Returns the data to send back with the turn; empty if no tool was called or there was no thinking. The positions of
 * an answer that was cut end with its last complete call.
 */
export const echoOf = (all: Blocks, model: string, isCut: boolean): Echo.Echo | undefined => {
  const blocks = isCut
    ? all.slice(0, all.findLastIndex((_, place) => textsOf(all, place, isCut).some(Arguments.isObject)) + 1)
    : all
  return hasCalls(blocks) && hasThinking(blocks)
    ? { model, blocks: blocks.flatMap(({ block }) => echoed(block)) }
    : undefined
}

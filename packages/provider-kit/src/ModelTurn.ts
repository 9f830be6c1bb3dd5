/**
 * A model's turn in multi-vendor frameworks (the AI SDK, Effect): parts with reasoning, text and tool calls, each with
 * vendor metadata that must be sent back. For authors of providers.
 *
 * Reading is a fold: each function receives the current state of the turn and returns the next state with the parts to
 * emit. Unreadable input throws a `VendorError.Failure`. {@link turnParts} is the inverse: it returns the parts of a turn in
 * the conversation.
 */

import type { Tool } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import type { AssistantMessage, Message, ToolCall, ToolMessage } from "@divisi/core/Message"
import { estimateUsage, type Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerPart } from "@divisi/core/Worker"
import * as Arguments from "./dialects/arguments.ts"
import { offeredName } from "./dialects/names.ts"
import * as Omitted from "./dialects/omitted.ts"
import { unreadable } from "./VendorError.ts"
import * as Json from "./VendorJson.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Vendor-specific additions to a part, such as signatures and ids, keyed by vendor. */
export type Metadata = Readonly<Record<string, Json.Fields>>

/** A part as stored for sending back: the full reasoning, the length of a text part, or the position of a tool call. */
type Block =
  | { readonly type: "reasoning"; readonly text: string; readonly metadata?: Metadata | undefined }
  | { readonly type: "text"; readonly length: number; readonly metadata?: Metadata | undefined }
  | { readonly type: "tool-call"; readonly metadata?: Metadata | undefined }

/** The state of reading a turn. */
export interface ModelTurn {
  /** All text received, used to estimate the usage if the vendor reports none. */
  readonly written: string
  readonly isFinished: boolean
  /**
   * The names of the offered tools. A call to a variant of a name, such as `functions.look`, counts as a call to
   * `look`.
   */
  readonly tools?: ReadonlySet<string> | undefined
  /** The model name in the vendor's response. */
  readonly answeredBy?: string | undefined
  /** Tool calls that are still arriving in chunks. */
  readonly calling: Readonly<Record<string, ToolCall>>
  /**
   * Complete tool calls. They are emitted when the answer is complete, because a truncated answer may contain an
   * incomplete call.
   */
  readonly calls: ReadonlyArray<ToolCall>
  /** Parts keyed by the framework's ids. */
  readonly blocks: ReadonlyArray<{ readonly id: string; readonly block: Block }>
}

/** The next state and the parts to emit. */
export type Next = readonly [ModelTurn, ReadonlyArray<WorkerPart>]

/** The state before the first part. */
export const start: ModelTurn = { written: "", isFinished: false, calling: {}, calls: [], blocks: [] }

/** The state before the first part, for a request with tools. */
export const startWith = (tools: ReadonlyArray<Tool.ToolDefinition> = []): ModelTurn =>
  tools.length === 0 ? start : { ...start, tools: new Set(tools.map(({ name }) => name)) }

const nameIn = ({ tools }: ModelTurn, name: string): string => (tools === undefined ? name : offeredName(name, tools))

const noParts: ReadonlyArray<WorkerPart> = []

// -------------------------------------------------------------------------------------------------------------------
// Metadata
// -------------------------------------------------------------------------------------------------------------------

/** Merges the metadata of two chunks of a part. For each vendor, the last value of a field applies. */
const merged = (left: Metadata | undefined, right: unknown): Metadata | undefined => {
  const vendors = Object.entries(Json.fields(right)).filter(([, more]) => typeof more === "object" && more !== null)
  if (vendors.length === 0) return left
  const own = vendors.map(([vendor, more]) => [vendor, { ...left?.[vendor], ...Json.fields(more) }])
  return { ...left, ...Object.fromEntries(own) }
}

const grown = (block: Block, delta: string): Block => {
  if (block.type === "reasoning") return { ...block, text: block.text + delta }
  return block.type === "text" ? { ...block, length: block.length + delta.length } : block
}

const begun = (type: Block["type"]): Block => {
  if (type === "reasoning") return { type, text: "" }
  return type === "text" ? { type, length: 0 } : { type }
}

const extended = (
  blocks: ModelTurn["blocks"],
  type: Block["type"],
  id: string,
  delta: string,
  metadata: unknown
): ModelTurn["blocks"] => {
  const at = blocks.findLastIndex((one) => one.id === id && one.block.type === type)
  const block = grown(blocks[at]?.block ?? begun(type), delta)
  const next = { id, block: defined({ ...block, metadata: merged(block.metadata, metadata) }) as Block }
  return at === -1 ? [...blocks, next] : blocks.with(at, next)
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

/** Records the vendor's name for the model that answered. */
export const named = (turn: ModelTurn, model: unknown): Next => [
  typeof model === "string" && model !== "" ? { ...turn, answeredBy: model } : turn,
  noParts
]

/** Adds a chunk of text or reasoning. Its start and end are chunks without text. */
export const write = (
  turn: ModelTurn,
  type: "text" | "reasoning",
  { delta, id, metadata }: { readonly id: string; readonly delta: unknown; readonly metadata?: unknown }
): Next => {
  // Not every model checks what its vendor sends.
  if (typeof delta !== "string") throw unreadable(`its ${type} is not a string`)
  const blocks = extended(turn.blocks, type, id, delta, metadata)
  if (delta === "") return [{ ...turn, blocks }, noParts]
  return [{ ...turn, blocks, written: turn.written + delta }, [{ type, text: delta }]]
}

/** Starts a tool call that arrives in chunks. */
export const begin = (turn: ModelTurn, { id, name }: Pick<ToolCall, "id" | "name">): Next => [
  { ...turn, calling: { ...turn.calling, [id]: { id, name: nameIn(turn, name), arguments: "" } } },
  noParts
]

const callOf = ({ calling }: ModelTurn, id: string): ToolCall | undefined =>
  Object.hasOwn(calling, id) ? calling[id] : undefined

/**
 * Adds a chunk to the arguments of an open call. Chunks of other calls, such as the vendor's own tools, are ignored.
 */
export const piece = (turn: ModelTurn, id: string, delta: unknown): Next => {
  const call = callOf(turn, id)
  if (typeof delta !== "string") throw unreadable("a fragment of a tool call is not a string")
  if (call === undefined || delta === "") return [turn, noParts]
  const calling = { ...turn.calling, [id]: { ...call, arguments: call.arguments + delta } }
  return [{ ...turn, calling }, [{ type: "tool-call-delta", ...call, arguments: delta }]]
}

/**
 * Adds a complete call. If it arrived in chunks, these are its arguments; otherwise `input` contains them as text or as
 * a parsed value.
 */
export const call = (
  turn: ModelTurn,
  {
    id,
    input,
    metadata,
    name
  }: Pick<ToolCall, "id" | "name"> & { readonly input: unknown; readonly metadata?: unknown }
): Next => {
  if ([id, name].some((word) => typeof word !== "string" || word === "")) {
    throw unreadable("a tool call has no id or no name")
  }
  const text = callOf(turn, id)?.arguments || (typeof input === "string" ? input : JSON.stringify(input ?? {}))
  // Some vendors use the same id for several calls.
  const own = turn.calls.some((one) => one.id === id) ? `call_${crypto.randomUUID()}` : id
  const blocks = extended(turn.blocks, "tool-call", own, "", metadata)
  const calls = Arguments.whole(text).map((text, at) => ({
    id: at === 0 ? own : `call_${crypto.randomUUID()}`,
    name: nameIn(turn, name),
    arguments: text
  }))
  return [{ ...turn, blocks, calls: [...turn.calls, ...calls], written: `${turn.written}${name}${text}` }, noParts]
}

const cut = "its stream ended before its answer did"

/** Ends a stream. An answer that was not marked complete is a failure. */
export const end = (turn: ModelTurn): Next => {
  if (!turn.isFinished) throw unreadable(cut)
  return [turn, noParts]
}

/** How an answer ended. */
export interface Finish {
  /** `"cut"` if the framework reports an error, or no reason. */
  readonly reason: FinishReason | "cut"
  /** Reported usage. If omitted, it is estimated from the messages and the text. */
  readonly usage: Usage | undefined
  readonly messages: ReadonlyArray<Message>
  /** The model that can interpret the turn's metadata. */
  readonly model: string
}

/** Returns the complete calls of an answer that was cut, and the others. */
const divided = ({ blocks, calling, calls }: ModelTurn): readonly [ModelTurn["calls"], ModelTurn["calls"]] => {
  const open = Object.values(calling).filter(({ id }) => !calls.some((one) => one.id === id))
  // Without arguments, the answer may have been cut before them.
  const isAtEnd = (at: number) => at === calls.length - 1 && blocks.at(-1)?.block.type === "tool-call"
  const isWhole = ({ arguments: text }: ToolCall, at: number) =>
    Arguments.isObject(text) && !(text === "{}" && isAtEnd(at))
  return [calls.filter(isWhole), [...calls.filter((one, at) => !isWhole(one, at)), ...open]]
}

/** Completes the answer. */
export const finish = (turn: ModelTurn, { messages, model, reason, usage }: Finish): Next => {
  if (reason === "cut") throw unreadable(cut)
  const [whole, incomplete] = reason === "length" ? divided(turn) : [turn.calls, []]
  const calls = whole.map((one): WorkerPart => ({ type: "tool-call", ...one }))
  const notices = incomplete.map(({ name }): WorkerPart => ({ type: "notice", notice: Omitted.cutCallOf(name) }))
  if (reason === "tool-calls" && calls.length === 0)
    throw unreadable("the response ends with a request for tools but contains no tool call")
  const last: WorkerPart = defined({
    type: "finish",
    // Some vendors report an answer with tool calls as finished.
    reason: reason === "stop" && calls.length > 0 ? "tool-calls" : reason,
    usage: usage ?? estimateUsage(messages, turn.written),
    model: turn.answeredBy,
    echo: echoOf(turn, model)
  })
  return [{ ...turn, isFinished: true }, [...notices, ...calls, last]]
}

// -------------------------------------------------------------------------------------------------------------------
// The way back
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the data to send back, or `undefined` if no tool was called or if there are only text parts and tool calls.
 */
const echoOf = ({ blocks, calls }: ModelTurn, model: string): unknown => {
  const kept = blocks.map(({ block }) => block)
  const more = kept.some(({ metadata, type }) => type === "reasoning" || metadata !== undefined)
  return calls.length > 0 && more ? { model, blocks: kept } : undefined
}

const blockOf = (value: unknown): Block | undefined => {
  const { length, metadata, text, type } = Json.fields(value)
  const own = { metadata: merged(undefined, metadata) }
  if (type === "reasoning" && typeof text === "string") return { type, text, ...own }
  if (type === "text" && typeof length === "number") return { type, length, ...own }
  return type === "tool-call" ? { type, ...own } : undefined
}

/** Returns the parts stored in an echo, or an empty list if it comes from another model. */
const read = (echo: unknown, model: string): ReadonlyArray<Block> => {
  const fields = Json.fields(echo)
  return fields.model === model ? Json.items(fields.blocks).flatMap((block) => blockOf(block) ?? []) : []
}

/** A part of a turn sent back to the model. */
export type TurnPart =
  | { readonly type: "text" | "reasoning"; readonly text: string; readonly metadata?: Metadata | undefined }
  | { readonly type: "tool-call"; readonly call: ToolCall; readonly metadata?: Metadata | undefined }

/**
 * Restores the reasoning and metadata of a turn in their original order. Returns `undefined` if the echo belongs to
 * another turn.
 */
const placed = ({ content, toolCalls = [] }: AssistantMessage, blocks: ReadonlyArray<Block>) => {
  let at = 0
  let called = 0
  const parts = blocks.flatMap((block): ReadonlyArray<TurnPart> => {
    const { metadata, type } = block
    if (type === "reasoning") return [{ type, text: block.text, metadata }]
    if (type === "tool-call") {
      called += 1
      return toolCalls.slice(called - 1, called).map((call) => ({ type, call, metadata }))
    }
    const text = content.slice(at, at + block.length)
    at += block.length
    return text === "" ? [] : [{ type, text, metadata }]
  })
  return called === toolCalls.length && at === content.length ? parts : undefined
}

/**
 * Returns the parts of a conversation turn: with the vendor's metadata if `model` produced the turn, otherwise only
 * text and calls.
 */
export const turnParts = (message: AssistantMessage, model: string): ReadonlyArray<TurnPart> => {
  const { content, echo, toolCalls = [] } = message
  const text: ReadonlyArray<TurnPart> = content === "" && toolCalls.length > 0 ? [] : [{ type: "text", text: content }]
  const calls = toolCalls.map((call): TurnPart => ({ type: "tool-call", call }))
  return placed(message, read(echo, model)) ?? [...text, ...calls]
}

/** A turn of a conversation. Consecutive tool results form one turn. */
export type Turn = Exclude<Message, ToolMessage> | ReadonlyArray<ToolMessage>

/** Returns the turns of a conversation. */
export const turns = (messages: ReadonlyArray<Message>): ReadonlyArray<Turn> => {
  const all: Array<Exclude<Message, ToolMessage> | Array<ToolMessage>> = []
  for (const message of messages) {
    const last = all.at(-1)
    if (message.role !== "tool") all.push(message)
    else if (Array.isArray(last)) last.push(message)
    else all.push([message])
  }
  return all
}

/**
 * Parses arguments as the object that models expect. Anything else is wrapped as a string in a field with the given
 * name.
 */
export const inputOf = ({ arguments: text }: ToolCall, name: string): Json.Fields => {
  if (text.trim() === "") return {}
  try {
    return Json.object(JSON.parse(text), "arguments")
  } catch {
    return { [name]: text }
  }
}

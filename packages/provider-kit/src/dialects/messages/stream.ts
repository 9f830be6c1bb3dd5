/** Folds Messages API events, or a complete message, into the parts of a worker's answer. */
import { isObject } from "@divisi/core/Fields"
import type { FinishReason, WorkerErrorReason, WorkerPart } from "@divisi/core/Worker"
import { unreadable } from "../../VendorError.ts"
import * as Json from "../../VendorJson.ts"
import type { Protocol, Step } from "../../VendorStream.ts"
import { type Ending, ending, isOpen, wordIn } from "../endings.ts"
import * as Errors from "../errors.ts"
import { content } from "../text.ts"
import * as Blocks from "./blocks.ts"
import { deltas, events } from "./events.ts"
import { type Counts, counted, usageOf } from "./usage.ts"
import { blockEvents, eventsOf } from "./whole.ts"

/** The accumulated state of an answer. */
export interface State {
  /** Whether the first event of an answer has arrived. */
  readonly hasBegun: boolean
  /** Whether the vendor has marked the answer as complete. */
  readonly isComplete: boolean
  /** The finish reason, once it has been reported. */
  readonly reason?: FinishReason | undefined
  /** The message id. Empty if there is none. */
  readonly id: string
  /** The model name reported in the response. */
  readonly model?: string | undefined
  readonly counts: Counts
  /** The blocks that have started. */
  readonly blocks: Blocks.Blocks
  /** Whether any text or thinking has arrived. */
  readonly hasText: boolean
  /** Blocks in the first event. They are used if no other blocks follow. */
  readonly preset?: unknown
  /**
   * The last event of an unknown type that contains text. Used as the error message if the answer ends without a
   * reason.
   */
  readonly foreign?: Json.Fields | undefined
}

const initial: State = { hasBegun: false, isComplete: false, id: "", counts: {}, blocks: [], hasText: false }

const none: ReadonlyArray<WorkerPart> = []

const silent = (state: State): Step<State> => ({ state, parts: none })

const failed = (state: State, failure: WorkerErrorReason): Step<State> => ({ state, parts: none, failure })

// -------------------------------------------------------------------------------------------------------------------
// Blocks
// -------------------------------------------------------------------------------------------------------------------

const spoken = (state: State, type: "text" | "reasoning", text: string): Step<State> =>
  text === "" ? silent(state) : { state: state.hasText ? state : { ...state, hasText: true }, parts: [{ type, text }] }

/** Blocks that need no notice: tool calls, and tools that the vendor runs itself. */
const known = /^(?:tool_use|redacted_thinking|(?:server|mcp)_tool_use|\w+_tool_result|container_upload|compaction)$/

/** Types of thinking blocks: Anthropic's, and the one that proxies use. */
const thoughts: ReadonlySet<unknown> = new Set(["thinking", "reasoning"])

const skipped = (type: unknown): string => `a block of type "${String(type).slice(0, 40)}" is skipped`

/** Adds a notice if a text has citations. */
const withSources = (step: Step<State>, block: Json.Fields): Step<State> =>
  Json.items(block.citations).length === 0 ? step : { ...step, omitted: citations }

const citations = ["citations"]

/** Starts a block. Its start event may already contain all of its text, or the first piece. */
const begun = (state: State, event: Json.Fields): Step<State> => {
  const block = Json.fields(event.content_block)
  const next = { ...state, hasBegun: true, blocks: Blocks.begin(state.blocks, event, state.id) }
  if (block.type === "text") return withSources(spoken(next, "text", textOf(block.text)), block)
  if (block.type === undefined && typeof block.text === "string") return spoken(next, "text", block.text)
  if (thoughts.has(block.type))
    return spoken(next, "reasoning", Json.textChunk(block.thinking ?? block.reasoning, "thinking"))
  return known.test(String(block.type)) ? silent(next) : { ...silent(next), warning: skipped(block.type) }
}

/** Returns the kind of a delta; some proxies omit its type. */
const kindOfDelta = (delta: Json.Fields): unknown => {
  if (delta.type !== undefined && delta.type !== null) return delta.type
  if (delta.partial_json !== undefined) return deltas.input
  if (delta.thinking !== undefined) return deltas.thinking
  return delta.text === undefined ? undefined : deltas.text
}

/** Returns text from a string or a list of parts. */
const textOf = (value: unknown): string =>
  Array.isArray(value) ? content(value, "text").text : Json.textChunk(value, "text")

/** Applies a delta to a block. Unknown kinds are ignored. */
const added = (state: State, { delta: value, index }: Json.Fields): Step<State> => {
  const delta = Json.fields(value)
  switch (kindOfDelta(delta)) {
    case "text":
    case deltas.text: {
      const text = textOf(delta.text)
      return spoken({ ...state, blocks: Blocks.extend(state.blocks, index, "text", text) }, "text", text)
    }
    case "reasoning_delta":
    case deltas.thinking: {
      const text = Json.textChunk(delta.thinking ?? delta.reasoning ?? delta.text, "thinking")
      return spoken({ ...state, blocks: Blocks.extend(state.blocks, index, "thinking", text) }, "reasoning", text)
    }
    case deltas.signature: {
      const signature = Json.textChunk(delta.signature, "a signature")
      return silent({ ...state, blocks: Blocks.extend(state.blocks, index, "signature", signature) })
    }
    case deltas.input: {
      const [blocks, parts] = Blocks.extendCall(state.blocks, index, delta.partial_json)
      return { state: { ...state, blocks }, parts }
    }
    case "citations_delta":
      return { ...silent(state), omitted: citations }
    default:
      return silent(state)
  }
}

/** Ends a block; some servers send its entire content here. */
const ended = (before: State, { content_block, index }: Json.Fields): Step<State> => {
  const block = Json.fields(content_block)
  const { parts: said, state } =
    block.type === "text" && !before.hasText ? spoken(before, "text", textOf(block.text)) : silent(before)
  return { state: { ...state, blocks: Blocks.end(state.blocks, index, block.input) }, parts: said }
}

// -------------------------------------------------------------------------------------------------------------------
// The message
// -------------------------------------------------------------------------------------------------------------------

const started = (state: State, { message: value }: Json.Fields): Step<State> => {
  const message = Json.object(value ?? undefined, "message")
  const { content, id, model, usage } = message
  return silent({
    ...state,
    hasBegun: true,
    id: Json.text(id) ?? state.id,
    model: Json.text(model) ?? state.model,
    counts: counted(state.counts, usage),
    preset: Array.isArray(content) && content.length > 0 ? content : state.preset
  })
}

/** Returns the vendor's message for a failed answer, if there is one. */
const failureOf = ({ failure }: Extract<Ending, { type: "failed" }>, delta: Json.Fields): WorkerErrorReason => {
  const said = Errors.messageOf(Errors.read(delta.error ?? delta.stop_details))
  return said === "" ? failure : { ...failure, detail: `${failure.detail}: ${said}` }
}

const stopOf = (event: Json.Fields, delta: Json.Fields): string => {
  const word = wordIn(delta.stop_reason, "stop_reason") || wordIn(event.stop_reason, "stop_reason")
  return isOpen(word) ? "" : word
}

/** Ends the blocks of a complete answer. Some servers omit their end events. */
const endedBlocks = ({ blocks, reason }: State): Blocks.Blocks =>
  reason === "length" ? blocks : Blocks.endWhole(blocks)

/** Reads usage and the finish reason. If several events report a reason, the last one is used. */
const changed = (state: State, event: Json.Fields): Step<State> => {
  const delta = Json.fields(event.delta)
  const counts = counted(counted(state.counts, delta.usage), event.usage)
  const stop = stopOf(event, delta)
  if (stop === "") return silent({ ...state, counts })
  const end = ending(stop, "stop_reason")
  if (end.type === "failed") return failed({ ...state, counts }, failureOf(end, delta))
  const filled = fill({ ...state, counts, reason: end.reason }, state.preset)
  return { ...filled, state: { ...filled.state, blocks: endedBlocks(filled.state) } }
}

const fold = (state: State, events: ReadonlyArray<Json.Fields>): Step<State> => {
  const parts: Array<WorkerPart> = []
  const omitted: Array<string> = []
  let warning: string | undefined
  let step: Step<State> = silent(state)
  for (const event of events) {
    step = next(step.state, event)
    parts.push(...step.parts)
    omitted.push(...(step.omitted ?? []))
    warning ??= step.warning
    if (step.failure !== undefined) break
  }
  return { ...step, parts, omitted, warning }
}

/** Adds the blocks of the message itself, if no other blocks have arrived. */
const fill = (state: State, content: unknown): Step<State> =>
  state.blocks.length === 0 && !state.hasText ? fold(state, blockEvents(content)) : silent(state)

/** Checks that an answer marked as complete has no incomplete block. */
const completed = (state: State, event: Json.Fields): Step<State> => {
  const { message, "amazon-bedrock-invocationMetrics": metrics } = event
  const whole = Json.fields(message)
  const counts = counted(counted(counted(state.counts, whole.usage), metrics), event.usage)
  const filled = fill({ ...state, counts }, whole.content ?? state.preset)
  const blocks = endedBlocks(filled.state)
  const reason = state.reason ?? "stop"
  if (reason !== "length" && Blocks.hasOpenCall(blocks))
    throw unreadable("the response ended in the middle of a tool call")
  if (reason === "tool-calls" && !Blocks.hasCalls(blocks) && !filled.state.hasText) {
    throw unreadable("the response ends with a request for tools but contains no tool call")
  }
  return { ...filled, state: { ...filled.state, blocks, reason, isComplete: true } }
}

// -------------------------------------------------------------------------------------------------------------------
// Events
// -------------------------------------------------------------------------------------------------------------------

/** Returns the kind of an event. Some proxies omit its type, or send errors in another vendor's format. */
const kindOf = (event: Json.Fields): string => {
  if (Errors.hasInformation(event.error)) return "error"
  const type = Json.textChunk(event.type, "type")
  if (type !== "") return type
  if (event.role === "assistant" && event.content !== undefined) return "message"
  if (isObject(event.message)) return events.messageStart
  if (isObject(event.content_block)) return events.blockStart
  if (isObject(event.delta)) return event.index === undefined ? events.messageDelta : events.blockDelta
  return ""
}

/** Reads an event of an unknown kind. A server that does not support this protocol may explain its rejection there. */
const foreign = (state: State, event: Json.Fields): Step<State> => {
  if (Errors.read(event).words.length === 0) return silent(state)
  if (!state.hasBegun) return failed(state, Errors.reasonOfEvent(event))
  return silent(event.type === undefined ? { ...state, foreign: event } : state)
}

/** Folds one event. Unknown events and deltas are ignored. */
export const next = (state: State, value: unknown): Step<State> => {
  if (value === null) return silent(state)
  const event = Json.object(value, "an event")
  switch (kindOf(event)) {
    case "message":
      return fold(state, eventsOf(event))
    case events.messageStart:
      return started(state, event)
    case events.blockStart:
      return begun(state, event)
    case events.blockDelta:
      return added(state, event)
    case events.blockStop:
      return ended(state, event)
    case events.messageDelta:
      return changed(state, event)
    case events.messageStop:
      return completed(state, event)
    case events.error:
      return failed(state, Errors.reasonOfEvent(event))
    case events.ping:
      return silent(state)
    default:
      return foreign(state, event)
  }
}

const incomplete = ({ foreign, hasBegun }: State): WorkerErrorReason => {
  if (foreign !== undefined) return Errors.reasonOfEvent(foreign)
  return hasBegun
    ? { _tag: "Network", detail: "the stream ended before the answer was complete" }
    : { _tag: "Malformed", detail: "the response is not a Messages API response" }
}

/**
 * Returns the finish reason. A reason without a final `message_stop` suffices (tombii/better-ccflare#307). An answer
 * with tool calls finishes with `tool-calls`, regardless of the vendor's reason.
 */
const finishReason = ({ blocks, hasText, reason }: State): FinishReason | undefined => {
  if (reason === undefined || (reason !== "length" && Blocks.hasOpenCall(blocks))) return undefined
  if (Blocks.hasCalls(blocks)) return reason === "stop" ? "tool-calls" : reason
  // The finish reason is wrong, but the text is usable.
  if (reason === "tool-calls") return hasText ? "stop" : undefined
  return reason
}

/** Returns the protocol of Messages API streams. */
export const protocolOf = (model: string): Protocol<unknown, State> => ({
  initial,
  next,
  finishReason,
  isOver: ({ isComplete }) => isComplete,
  last: ({ blocks, reason }) => Blocks.calls(blocks, reason === "length"),
  usage: ({ counts }) => usageOf(counts),
  model: ({ model }) => model,
  echo: ({ blocks, reason }) => Blocks.echoOf(blocks, model, reason === "length"),
  incomplete
})

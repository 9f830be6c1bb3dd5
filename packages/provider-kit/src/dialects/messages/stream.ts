/** Folds events of the Messages API, or a complete message, into the parts of a worker's answer. */
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

/** The state of an answer so far. */
export interface State {
  /** Whether the first event of an answer has arrived. */
  readonly hasBegun: boolean
  /** Whether the vendor has marked the answer as complete. */
  readonly isComplete: boolean
  /** The finish reason, once the vendor has reported it. */
  readonly reason?: FinishReason | undefined
  /** The id of the message; empty if it has no id. */
  readonly id: string
  /** The model name in the response. */
  readonly model?: string | undefined
  readonly counts: Counts
  /** The blocks that have started. */
  readonly blocks: Blocks.Blocks
  /** Whether any text or thinking has arrived. */
  readonly hasText: boolean
  /** Blocks in the first event. They are used if no others follow. */
  readonly preset?: unknown
  /** The last event of an unknown type that contains text. It is the reason if the answer ends without one. */
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

/** Blocks without anything to say here: calls, and tools that the vendor runs itself. */
const known = /^(?:tool_use|redacted_thinking|(?:server|mcp)_tool_use|\w+_tool_result|container_upload|compaction)$/

/** Kinds of blocks of thinking: Anthropic's, and that of proxies. */
const thoughts: ReadonlySet<unknown> = new Set(["thinking", "reasoning"])

const skipped = (type: unknown): string => `a block of type "${String(type).slice(0, 40)}" is skipped`

/** A text may have citations. */
const withSources = (step: Step<State>, block: Json.Fields): Step<State> =>
  Json.items(block.citations).length === 0 ? step : { ...step, omitted: citations }

const citations = ["citations"]

/** A block may have all of its text, or the first piece of it, at its beginning. */
const begun = (state: State, event: Json.Fields): Step<State> => {
  const block = Json.fields(event.content_block)
  const next = { ...state, hasBegun: true, blocks: Blocks.begin(state.blocks, event, state.id) }
  if (block.type === "text") return withSources(spoken(next, "text", textOf(block.text)), block)
  if (block.type === undefined && typeof block.text === "string") return spoken(next, "text", block.text)
  if (thoughts.has(block.type))
    return spoken(next, "reasoning", Json.said(block.thinking ?? block.reasoning, "thinking"))
  return known.test(String(block.type)) ? silent(next) : { ...silent(next), warning: skipped(block.type) }
}

/** The kind of a delta; some proxies leave out its type. */
const kindOfDelta = (delta: Json.Fields): unknown => {
  if (delta.type !== undefined && delta.type !== null) return delta.type
  if (delta.partial_json !== undefined) return deltas.input
  if (delta.thinking !== undefined) return deltas.thinking
  return delta.text === undefined ? undefined : deltas.text
}

/** A text, or a list of parts. */
const textOf = (value: unknown): string =>
  Array.isArray(value) ? content(value, "text").text : Json.said(value, "text")

/** Adds a delta of a block. Unknown kinds are ignored. */
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
      const text = Json.said(delta.thinking ?? delta.reasoning ?? delta.text, "thinking")
      return spoken({ ...state, blocks: Blocks.extend(state.blocks, index, "thinking", text) }, "reasoning", text)
    }
    case deltas.signature: {
      const signature = Json.said(delta.signature, "a signature")
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

/** The end of a block; some servers give all of it there. */
const ended = (before: State, { content_block, index }: Json.Fields): Step<State> => {
  const block = Json.fields(content_block)
  const { parts: said, state } =
    block.type === "text" && !before.hasText ? spoken(before, "text", textOf(block.text)) : silent(before)
  const [blocks, parts] = Blocks.end(state.blocks, index, block.input)
  return { state: { ...state, blocks }, parts: said.length === 0 ? parts : [...said, ...parts] }
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

/** The vendor's words about an ending that means failure, if it has any. */
const failureOf = ({ failure }: Extract<Ending, { type: "failed" }>, delta: Json.Fields): WorkerErrorReason => {
  const said = Errors.messageOf(Errors.read(delta.error ?? delta.stop_details))
  return said === "" ? failure : { ...failure, detail: `${failure.detail}: ${said}` }
}

const stopOf = (event: Json.Fields, delta: Json.Fields): string => {
  const word = wordIn(delta.stop_reason, "stop_reason") || wordIn(event.stop_reason, "stop_reason")
  return isOpen(word) ? "" : word
}

/** Usage, and why the answer ends. Several may come: the last word counts. */
const changed = (state: State, event: Json.Fields): Step<State> => {
  const delta = Json.fields(event.delta)
  const counts = counted(counted(state.counts, delta.usage), event.usage)
  const stop = stopOf(event, delta)
  if (stop === "") return silent({ ...state, counts })
  const end = ending(stop, "stop_reason")
  if (end.type === "failed") return failed({ ...state, counts }, failureOf(end, delta))
  const filled = fill({ ...state, counts, reason: end.reason }, state.preset)
  // Some servers send no end of a block.
  const [blocks, ends] = Blocks.endWhole(filled.state.blocks)
  return { ...filled, state: { ...filled.state, blocks }, parts: [...filled.parts, ...ends] }
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

/** Takes blocks that came within the message, if no others have come. */
const fill = (state: State, content: unknown): Step<State> =>
  state.blocks.length === 0 && !state.hasText ? fold(state, blockEvents(content)) : silent(state)

/** An answer marked complete must not miss any part. */
const completed = (state: State, event: Json.Fields): Step<State> => {
  const { message, "amazon-bedrock-invocationMetrics": metrics } = event
  const whole = Json.fields(message)
  const counts = counted(counted(counted(state.counts, whole.usage), metrics), event.usage)
  const filled = fill({ ...state, counts }, whole.content ?? state.preset)
  const [blocks, ends] = Blocks.endWhole(filled.state.blocks)
  const reason = state.reason ?? "stop"
  if (Blocks.hasOpenCall(blocks)) throw unreadable("the response ended in the middle of a tool call")
  if (reason === "tool-calls" && !Blocks.hasCalls(blocks) && !filled.state.hasText) {
    throw unreadable("the response ends with a request for tools but contains no tool call")
  }
  return { ...filled, state: { ...filled.state, blocks, reason, isComplete: true }, parts: [...filled.parts, ...ends] }
}

// -------------------------------------------------------------------------------------------------------------------
// Events
// -------------------------------------------------------------------------------------------------------------------

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null

/** The kind of an event. Some proxies leave out its type, or write errors in another vendor's form. */
const kindOf = (event: Json.Fields): string => {
  if (Errors.isSaid(event.error)) return "error"
  const type = Json.said(event.type, "type")
  if (type !== "") return type
  if (event.role === "assistant" && event.content !== undefined) return "message"
  if (isObject(event.message)) return events.messageStart
  if (isObject(event.content_block)) return events.blockStart
  if (isObject(event.delta)) return event.index === undefined ? events.messageDelta : events.blockDelta
  return ""
}

/** An event of no known kind: a server that does not speak this protocol may say why it refuses. */
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
 * Returns the reason for the end of the answer. A reason without `message_stop` is sufficient
 * (tombii/better-ccflare#307). An answer with tool calls waits for their results, regardless of the vendor's ending.
 */
const finishReason = ({ blocks, hasText, reason }: State): FinishReason | undefined => {
  if (reason === undefined || Blocks.hasOpenCall(blocks)) return undefined
  if (Blocks.hasCalls(blocks)) return reason === "stop" ? "tool-calls" : reason
  // With a text, the word alone is wrong.
  if (reason === "tool-calls") return hasText ? "stop" : undefined
  return reason
}

/** Returns the protocol of Messages API streams. */
export const protocolOf = (model: string): Protocol<unknown, State> => ({
  initial,
  next,
  finishReason,
  isOver: ({ isComplete }) => isComplete,
  usage: ({ counts }) => usageOf(counts),
  model: ({ model }) => model,
  echo: ({ blocks }) => Blocks.echoOf(blocks, model),
  incomplete
})

/** Events of the Messages API as parts of a worker's answer: a pure fold. */
import { defined } from "@divisi/core/Fields"
import type { Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerErrorReason, WorkerPart } from "@divisi/core/Worker"
import { unreadable } from "@divisi/provider-kit/VendorError"
import * as Json from "@divisi/provider-kit/VendorJson"
import type { Protocol, Step } from "@divisi/provider-kit/VendorStream"
import * as Blocks from "./blocks.ts"
import { reasonOfEvent } from "./errors.ts"

/** The figures of Anthropic's usage that count here. Those of a later event replace those of an earlier one. */
interface Counts {
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number
  readonly thinking?: number | undefined
}

/** The state of an answer so far. */
export interface State {
  /** Whether the first event of an answer has come. */
  readonly hasBegun: boolean
  /** Whether the vendor has said that this is all. */
  readonly isComplete: boolean
  readonly reason: FinishReason
  /** What answers, as the vendor names it. */
  readonly model?: string | undefined
  readonly counts: Counts
  /** The blocks that have begun. */
  readonly blocks: Blocks.Blocks
}

const initial: State = {
  hasBegun: false,
  isComplete: false,
  reason: "other",
  counts: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 },
  blocks: []
}

/** A field that is absent, or no count, changes nothing. */
const counted = (counts: Counts, usage: unknown): Counts => {
  if (usage === undefined) return counts
  const reported = Json.fields(usage)
  return {
    input: Json.number(reported.input_tokens) ?? counts.input,
    cacheRead: Json.number(reported.cache_read_input_tokens) ?? counts.cacheRead,
    cacheWrite: Json.number(reported.cache_creation_input_tokens) ?? counts.cacheWrite,
    output: Json.number(reported.output_tokens) ?? counts.output,
    thinking: Json.number(Json.fields(reported.output_tokens_details).thinking_tokens) ?? counts.thinking
  }
}

/**
 * What the answer has used so far; `undefined` until the vendor reports it. It counts cached tokens beside the input.
 */
const usageOf = ({ counts }: State): Usage | undefined => {
  const { cacheRead, cacheWrite, input, output, thinking } = counts
  const inputTokens = input + cacheRead + cacheWrite
  if (inputTokens === 0) return undefined
  return defined({
    inputTokens,
    outputTokens: output,
    cachedInputTokens: cacheRead || undefined,
    cacheWriteTokens: cacheWrite || undefined,
    reasoningTokens: thinking
  })
}

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "refusal",
  tool_use: "tool-calls"
}

const none: ReadonlyArray<WorkerPart> = []

const silent = (state: State): Step<State> => ({ state, parts: none })

const said = (state: State, type: "text" | "reasoning", value: unknown): Step<State> => {
  const text = Json.said(value, type === "text" ? "text" : "thinking")
  return text === "" ? silent(state) : { state, parts: [{ type, text }] }
}

/** A piece of a call's arguments; the pieces of a call that the vendor runs itself are not ours. */
const asked = (state: State, index: unknown, value: unknown): Step<State> => {
  const call = Blocks.callAt(state.blocks, index)
  const text = Json.said(value, "a piece of a call's arguments")
  if (call === undefined || text === "") return silent(state)
  const { id, name } = call
  return { state, parts: [{ type: "tool-call-delta", id, name, arguments: text }] }
}

/** What a piece of a block says. Unknown kinds are ignored. */
const added = (state: State, index: unknown, delta: Json.Fields): Step<State> => {
  switch (Json.said(delta.type, "a delta's type")) {
    case "text_delta":
      return said(state, "text", delta.text)
    case "thinking_delta":
      return said(state, "reasoning", delta.thinking)
    case "input_json_delta":
      return asked(state, index, delta.partial_json)
    default:
      return silent(state)
  }
}

/** Ends a block; a call is whole then. */
const ended = (state: State, index: unknown): Step<State> => {
  const call = Blocks.callAt(state.blocks, index)
  if (call === undefined || call.isEnded) return silent(state)
  const blocks = Blocks.end(state.blocks, index)
  return { state: { ...state, blocks }, parts: [Blocks.callOf(call)] }
}

/** Nothing may be missing of an answer that says that it is complete. */
const completed = (state: State): Step<State> => {
  if (Blocks.openCall(state.blocks) !== undefined) throw unreadable("the answer ended before its call of a tool did")
  if (state.reason === "tool-calls" && !Blocks.hasCalls(state.blocks)) {
    throw unreadable("the answer waits for tools, and calls none")
  }
  return silent({ ...state, isComplete: true })
}

/** Folds one event. Unknown events and deltas are ignored. */
export const next = (state: State, event: unknown): Step<State> => {
  const fields = Json.object(event, "an event")
  switch (Json.said(fields.type, "type")) {
    case "message_start": {
      const { model, usage } = Json.object(fields.message, "message")
      return silent({ ...state, hasBegun: true, model: Json.text(model), counts: counted(state.counts, usage) })
    }
    case "content_block_start":
      return silent({ ...state, blocks: Blocks.begin(state.blocks, fields) })
    case "content_block_delta": {
      const delta = Json.object(fields.delta ?? null, "delta")
      return added({ ...state, blocks: Blocks.extend(state.blocks, fields.index, delta) }, fields.index, delta)
    }
    case "content_block_stop":
      return ended(state, fields.index)
    case "message_delta": {
      const stop = Json.said(Json.object(fields.delta, "delta").stop_reason, "stop_reason")
      const reason = stop === "" ? state.reason : (Json.meaning(reasons, stop) ?? "other")
      return silent({ ...state, reason, counts: counted(state.counts, fields.usage) })
    }
    case "message_stop":
      return completed(state)
    case "error":
      return { state, parts: none, failure: reasonOfEvent(fields) }
    default:
      return silent(state)
  }
}

const incomplete = ({ hasBegun }: State): WorkerErrorReason =>
  hasBegun
    ? { _tag: "Network", detail: "the stream ended before the answer did" }
    : { _tag: "Malformed", detail: "what came is no answer of the Messages API" }

/** An answer that calls tools waits for them, whatever else the vendor says of its end. */
const reasonOf = ({ blocks, isComplete, reason }: State): FinishReason | undefined => {
  if (!isComplete) return undefined
  return reason === "stop" && Blocks.hasCalls(blocks) ? "tool-calls" : reason
}

/** How the Messages API streams the answer of a model. */
export const protocolOf = (model: string): Protocol<unknown, State> => ({
  initial,
  next,
  finishReason: reasonOf,
  usage: usageOf,
  model: ({ model }) => model,
  echo: ({ blocks }) => Blocks.echoOf(blocks, model),
  incomplete
})

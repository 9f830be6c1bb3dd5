/** Events of the Messages API as parts of a worker's answer: a pure fold. */

import { defined } from "@divisi/core/Fields"
import type { Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerErrorReason, WorkerPart } from "@divisi/core/Worker"
import * as Json from "@divisi/provider-kit/VendorJson"
import type { Protocol, Step } from "@divisi/provider-kit/VendorStream"
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
  readonly counts: Counts
}

const initial: State = {
  hasBegun: false,
  isComplete: false,
  reason: "other",
  counts: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }
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
  refusal: "refusal"
}

const none: ReadonlyArray<WorkerPart> = []

const silent = (state: State): Step<State> => ({ state, parts: none })

const said = (state: State, type: "text" | "reasoning", value: unknown): Step<State> => {
  const text = Json.said(value, type === "text" ? "text" : "thinking")
  return text === "" ? silent(state) : { state, parts: [{ type, text }] }
}

/** What a piece of a block adds. Unknown kinds are ignored. */
const added = (state: State, delta: Json.Fields): Step<State> => {
  switch (Json.said(delta.type, "a delta's type")) {
    case "text_delta":
      return said(state, "text", delta.text)
    case "thinking_delta":
      return said(state, "reasoning", delta.thinking)
    default:
      return silent(state)
  }
}

/** Folds one event. Unknown events and deltas are ignored. */
export const next = (state: State, event: unknown): Step<State> => {
  const fields = Json.object(event, "an event")
  switch (Json.said(fields.type, "type")) {
    case "message_start": {
      const { usage } = Json.object(fields.message, "message")
      return silent({ ...state, hasBegun: true, counts: counted(state.counts, usage) })
    }
    case "content_block_delta":
      return added(state, Json.object(fields.delta ?? null, "delta"))
    case "message_delta": {
      const stop = Json.said(Json.object(fields.delta, "delta").stop_reason, "stop_reason")
      const reason = stop === "" ? state.reason : (Json.meaning(reasons, stop) ?? "other")
      return silent({ ...state, reason, counts: counted(state.counts, fields.usage) })
    }
    case "message_stop":
      return silent({ ...state, isComplete: true })
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

/** How the Messages API streams. */
export const protocol: Protocol<unknown, State> = {
  initial,
  next,
  finishReason: ({ isComplete, reason }) => (isComplete ? reason : undefined),
  usage: usageOf,
  incomplete
}

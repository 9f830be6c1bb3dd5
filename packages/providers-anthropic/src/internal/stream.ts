/** Events of the Messages API as parts of a worker's answer: a pure fold. */

import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages"
import { defined } from "@divisi/core/Fields"
import type { Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerErrorReason, WorkerPart } from "@divisi/core/Worker"
import type { Protocol, Step } from "@divisi/provider-kit/VendorStream"

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

/** A field that is absent or null changes nothing. */
interface Reported {
  readonly input_tokens?: number | null | undefined
  readonly cache_read_input_tokens?: number | null | undefined
  readonly cache_creation_input_tokens?: number | null | undefined
  readonly output_tokens?: number | null | undefined
  readonly output_tokens_details?: { readonly thinking_tokens: number } | null | undefined
}

const counted = (counts: Counts, reported: Reported | undefined): Counts => {
  if (reported === undefined) return counts
  const thinking = reported.output_tokens_details?.thinking_tokens ?? counts.thinking
  return {
    input: reported.input_tokens ?? counts.input,
    cacheRead: reported.cache_read_input_tokens ?? counts.cacheRead,
    cacheWrite: reported.cache_creation_input_tokens ?? counts.cacheWrite,
    output: reported.output_tokens ?? counts.output,
    thinking
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
  refusal: "content-filter"
}

const none: ReadonlyArray<WorkerPart> = []

const silent = (state: State): Step<State> => ({ state, parts: none })

const said = (state: State, type: "text" | "reasoning", text: string): Step<State> =>
  text === "" ? silent(state) : { state, parts: [{ type, text }] }

/** Folds one event. Unknown events and deltas are ignored. */
export const next = (state: State, event: RawMessageStreamEvent): Step<State> => {
  switch (event.type) {
    case "message_start":
      return silent({ ...state, hasBegun: true, counts: counted(state.counts, event.message?.usage) })
    case "content_block_delta":
      if (event.delta.type === "text_delta") return said(state, "text", event.delta.text)
      return event.delta.type === "thinking_delta" ? said(state, "reasoning", event.delta.thinking) : silent(state)
    case "message_delta": {
      const reason = event.delta.stop_reason === null ? state.reason : (reasons[event.delta.stop_reason] ?? "other")
      return silent({ ...state, reason, counts: counted(state.counts, event.usage) })
    }
    case "message_stop":
      return silent({ ...state, isComplete: true })
    default:
      return silent(state)
  }
}

const incomplete = ({ hasBegun }: State): WorkerErrorReason =>
  hasBegun
    ? { _tag: "Network", detail: "the stream ended before the answer did" }
    : { _tag: "Malformed", detail: "what came is no answer of the Messages API" }

/** How the Messages API streams. */
export const protocol: Protocol<RawMessageStreamEvent, State> = {
  initial,
  next,
  finishReason: ({ isComplete, reason }) => (isComplete ? reason : undefined),
  usage: usageOf,
  incomplete
}

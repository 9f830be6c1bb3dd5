/** Turns the events of the Responses API into parts. */

import type { Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerPart } from "@divisi/core/Worker"
import type { Protocol, Step } from "@divisi/provider-kit/VendorStream"
import type { Response, ResponseStreamEvent } from "openai/resources/responses/responses"
import { reasonOfObject } from "./errors.ts"
import { count } from "./usage.ts"

/** The state of an answer so far. */
interface State {
  readonly isRefused: boolean
  /** The last event's response, once it has come. */
  readonly last: Response | undefined
}

const nothing: ReadonlyArray<WorkerPart> = []

/** Folds one event. Unknown events are ignored. */
const next = (state: State, event: ResponseStreamEvent, secret: string): Step<State> => {
  switch (event?.type) {
    case "response.output_text.delta":
      return said(state, event.delta)
    case "response.refusal.delta":
      return said(state.isRefused ? state : { ...state, isRefused: true }, event.delta)
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      return { state, parts: event.delta ? [{ type: "reasoning", text: event.delta }] : nothing }
    case "response.completed":
    case "response.incomplete":
      return { state: { ...state, last: event.response }, parts: nothing }
    case "response.failed":
      return {
        state: { ...state, last: event.response },
        parts: nothing,
        failure: reasonOfObject(event.response.error, { secrets: [secret], nowMillis: Date.now() })
      }
    default:
      return { state, parts: nothing }
  }
}

const said = (state: State, delta: string): Step<State> =>
  delta ? { state, parts: [{ type: "text", text: delta }] } : { state, parts: nothing }

const reasons: Readonly<Record<string, FinishReason>> = {
  max_output_tokens: "length",
  content_filter: "content-filter"
}

const finishReason = ({ isRefused, last }: State): FinishReason | undefined => {
  if (last === undefined) return undefined
  if (last.status === "incomplete") return reasons[last.incomplete_details?.reason ?? ""] ?? "other"
  return isRefused ? "content-filter" : "stop"
}

/** OpenAI counts cached tokens in the input, and reasoning in the output, as we do. */
const usageOf = ({ last }: State): Usage | undefined => {
  const usage = last?.usage ?? undefined
  if (usage === undefined) return undefined
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    ...count("cachedInputTokens", usage.input_tokens_details?.cached_tokens),
    ...count("cacheWriteTokens", usage.input_tokens_details?.cache_write_tokens),
    ...count("reasoningTokens", usage.output_tokens_details?.reasoning_tokens)
  }
}

/** How the Responses API streams. No failure shows `secret`. */
export const protocol = (secret: string): Protocol<ResponseStreamEvent, State> => ({
  initial: { isRefused: false, last: undefined },
  next: (state, event) => next(state, event, secret),
  finishReason,
  usage: usageOf
})

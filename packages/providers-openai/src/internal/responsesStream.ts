/** The events of the Responses API as parts. */

import type { Message } from "@tutti/core/Task"
import type { FinishReason, Usage, WorkerErrorReason, WorkerPart } from "@tutti/core/Worker"
import * as Result from "effect/Result"
import type { Response, ResponseStreamEvent } from "openai/resources/responses/responses"
import { reasonOfObject } from "./errors.ts"
import { count, cut, estimate, type Protocol, type Step } from "./generate.ts"

/** What must be known at the end. */
interface State {
  readonly isRefused: boolean
  /** The last event's response, once it has come. */
  readonly last: Response | undefined
}

const nothing: ReadonlyArray<WorkerPart> = []

/** How one event goes on. Events that are not known here bring nothing. */
const step = (state: State, event: ResponseStreamEvent): Step<State> => {
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
    case "response.failed":
      return { state: { ...state, last: event.response }, parts: nothing }
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

const finishReason = ({ isRefused, last }: State): FinishReason => {
  if (last?.status === "incomplete") return reasons[last.incomplete_details?.reason ?? ""] ?? "other"
  return isRefused ? "content-filter" : "stop"
}

/** OpenAI counts cached tokens in the input, and reasoning in the output, as we do. */
const usageOf = (usage: Response["usage"], messages: ReadonlyArray<Message>, characters: number): Usage =>
  usage === undefined || usage === null
    ? estimate(messages, characters)
    : {
        inputTokens: usage.input_tokens,
        outputTokens: usage.output_tokens,
        ...count("cachedInputTokens", usage.input_tokens_details?.cached_tokens),
        ...count("cacheWriteTokens", usage.input_tokens_details?.cache_write_tokens),
        ...count("reasoningTokens", usage.output_tokens_details?.reasoning_tokens)
      }

const end = (
  state: State,
  characters: number,
  messages: ReadonlyArray<Message>,
  secret: string
): Result.Result<WorkerPart, WorkerErrorReason> => {
  if (state.last === undefined) return Result.fail(cut)
  if (state.last.status === "failed")
    return Result.fail(reasonOfObject(state.last.error, { secrets: [secret], nowMillis: Date.now() }))
  return Result.succeed({
    type: "finish",
    reason: finishReason(state),
    usage: usageOf(state.last.usage, messages, characters)
  })
}

/** How the answer to these messages is read. */
export const protocol = (messages: ReadonlyArray<Message>, secret: string): Protocol<State, ResponseStreamEvent> => ({
  start: { isRefused: false, last: undefined },
  step,
  end: (state, characters) => end(state, characters, messages, secret)
})

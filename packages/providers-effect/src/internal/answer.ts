/** Converts the events of a run to the parts of a `LanguageModel` stream, as a pure fold. */
import { AnswerText, type RunEvent } from "@divisi/core"
import type { Spend } from "@divisi/core/Usage"
import type { FinishReason } from "@divisi/core/Worker"
import * as AiError from "effect/ai/AiError"
import type * as Response from "effect/ai/Response"
import * as Result from "effect/Result"

/** The state of the fold. */
export interface State {
  readonly answer: AnswerText.AnswerText
  readonly isOpen: boolean
}

/** The state before the first event. */
export const start = (answer: AnswerText.AnswerText): State => ({
  answer,
  isOpen: false
})

type Parts = ReadonlyArray<Response.StreamPartEncoded>

const id = "answer"

/** Processes one event of a run. Fails if the run has no answer, or an answer that differs from the emitted text. */
export const next = (
  before: State,
  event: RunEvent.RunEvent,
  modelId: string
): Result.Result<readonly [State, Parts], AiError.AiErrorReason> => {
  const [answer, delta] = AnswerText.emit(before.answer, event)
  if (answer.isContradicted) return Result.fail(contradicted)
  const isFirst = before.answer.runId === undefined
  const timestamp = new Date(event.at).toISOString()
  const beginning: Parts = isFirst ? [{ type: "response-metadata", id: event.runId, modelId, timestamp }] : []
  const opening: Parts = delta !== "" && !before.isOpen ? [{ type: "text-start", id }] : []
  const text: Parts = delta === "" ? [] : [{ type: "text-delta", id, delta }]
  const state = { answer, isOpen: before.isOpen || delta !== "" }
  const parts = [...beginning, ...opening, ...text]
  if (event.type !== "run-finished" || event.runId !== answer.runId) return Result.succeed([state, parts])
  if (event.answer === undefined && event.ending !== "refused") return Result.fail(failed(event))
  const closing: Parts = state.isOpen ? [{ type: "text-end", id }] : []
  return Result.succeed([state, [...parts, ...closing, finish(state, event)]])
}

const contradicted = new AiError.InternalProviderError({
  description: "A call failed in the middle of the answer, so the text so far is not valid. Retry the request."
})

/** Creates an error that is not retried, because the run has already retried what it can. */
const failed = ({ detail, ending }: RunEvent.Of<"run-finished">) =>
  new AiError.UnknownError({ description: detail ?? `The run has no answer: ${ending}` })

const usageOf = ({ usage }: Spend): Response.FinishPartEncoded["usage"] => {
  const { cachedInputTokens, cacheWriteTokens, inputTokens, outputTokens, reasoningTokens } = usage
  return {
    inputTokens: {
      total: inputTokens,
      uncached: inputTokens - (cachedInputTokens ?? 0) - (cacheWriteTokens ?? 0),
      cacheRead: cachedInputTokens,
      cacheWrite: cacheWriteTokens
    },
    outputTokens: {
      total: outputTokens,
      text: reasoningTokens === undefined ? undefined : outputTokens - reasoningTokens,
      reasoning: reasoningTokens
    }
  }
}

const reasons: Readonly<Record<FinishReason, Response.FinishPartEncoded["reason"]>> = {
  stop: "stop",
  length: "length",
  refusal: "content-filter",
  "tool-calls": "tool-calls",
  other: "other"
}

const reasonOf = (answer: AnswerText.AnswerText, ending: RunEvent.Ending): Response.FinishPartEncoded["reason"] => {
  if (ending === "refused") return "content-filter"
  return ending === "answered" ? reasons[answer.finishReason] : "other"
}

const finish = ({ answer }: State, event: RunEvent.Of<"run-finished">): Response.FinishPartEncoded => ({
  type: "finish",
  reason: reasonOf(answer, event.ending),
  usage: usageOf(event.spend),
  metadata: { divisi: AnswerText.summary(answer, event) }
})

/** Joins the parts of a successful stream into those of a complete answer. */
export const whole = (parts: Parts): Array<Response.PartEncoded> => {
  const text = parts.map((part) => (part.type === "text-delta" ? part.delta : "")).join("")
  const kept = parts.filter((part) => part.type === "response-metadata" || part.type === "finish")
  return text === "" ? kept : [{ type: "text", text }, ...kept]
}

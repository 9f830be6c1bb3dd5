/** Converts the events of a run to the parts of a model's stream, as a pure fold. */

import {
  AISDKError,
  type LanguageModelV4Content,
  type LanguageModelV4FinishReason,
  type LanguageModelV4GenerateResult,
  type LanguageModelV4StreamPart,
  type LanguageModelV4Usage,
  type SharedV4Warning
} from "@ai-sdk/provider"
import { AnswerText, type RunEvent } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import { noSpend, type Spend } from "@divisi/core/Usage"
import type { FinishReason } from "@divisi/core/Worker"
import * as Result from "effect/Result"
import { progressOf } from "./progress.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The state of the fold. */
export interface State {
  readonly answer: AnswerText.AnswerText
  /** The type of the block that is currently open. */
  readonly open: "reasoning" | "text" | undefined
}

/** Information about the call. */
export interface CallInfo {
  readonly modelId: string
  readonly warnings: Array<SharedV4Warning>
  readonly showsProgress: boolean
  /** Whether each event is also emitted as a raw part. */
  readonly includesEvents: boolean
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Raised if the run ended without an answer. */
export class ConductorModelError extends AISDKError {
  readonly runId: string
  readonly ending: RunEvent.Ending
  /** The cost of the run. */
  readonly spend: Spend | undefined

  constructor(options: {
    readonly runId: string
    readonly ending: RunEvent.Ending
    readonly message: string
    readonly spend?: Spend | undefined
  }) {
    super({ name: "AI_ConductorModelError", message: options.message })
    this.runId = options.runId
    this.ending = options.ending
    this.spend = options.spend
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Fold
// -------------------------------------------------------------------------------------------------------------------

type Parts = ReadonlyArray<LanguageModelV4StreamPart>

/** The state before the first event. */
export const start = (answer: AnswerText.AnswerText): State => ({
  answer,
  open: undefined
})

const ids = { text: "answer", reasoning: "progress" }

const close = (open: State["open"]): Parts => (open === undefined ? [] : [{ type: `${open}-end`, id: ids[open] }])

/** Appends text of one type, opening a block for it if necessary. */
const append = (state: State, kind: "reasoning" | "text", delta: string): readonly [State, Parts] => {
  if (delta === "") return [state, []]
  const id = ids[kind]
  const opening: Parts = state.open === kind ? [] : [...close(state.open), { type: `${kind}-start`, id }]
  return [{ ...state, open: kind }, [...opening, { type: `${kind}-delta`, id, delta }]]
}

/** Processes one event of a run. Fails if the run has no answer, or an answer that differs from the emitted text. */
export const next = (
  before: State,
  event: RunEvent.RunEvent,
  call: CallInfo
): Result.Result<readonly [State, Parts], ConductorModelError> => {
  const [answer, text] = AnswerText.emit(before.answer, event)
  if (answer.isContradicted) return Result.fail(contradicted(event))
  const known: State = { ...before, answer }
  const raw: Parts = call.includesEvents ? [{ type: "raw", rawValue: event }] : []
  const isFirst = before.answer.runId === undefined
  const beginning: Parts = isFirst ? begin(event, call) : []
  // Once the answer has started, no progress is inserted.
  const line = call.showsProgress && known.open !== "text" ? progressOf(event, answer.runId) : undefined
  const [informed, progress] = append(known, "reasoning", line === undefined ? "" : `${line}\n`)
  const [state, words] = append(informed, "text", text)
  const parts = [...beginning, ...raw, ...progress, ...words]
  if (event.type !== "run-finished" || event.runId !== answer.runId) return Result.succeed([state, parts])
  if (event.answer === undefined && event.ending !== "refused") return Result.fail(failed(event))
  return Result.succeed([state, [...parts, ...close(state.open), finish(state, event)]])
}

const begin = (event: RunEvent.RunEvent, { modelId, warnings }: CallInfo): Parts => [
  { type: "stream-start", warnings },
  { type: "response-metadata", id: event.runId, modelId, timestamp: new Date(event.at) }
]

// -------------------------------------------------------------------------------------------------------------------
// The end of a run
// -------------------------------------------------------------------------------------------------------------------

const failed = ({ detail, ending, runId, spend }: RunEvent.Of<"run-finished">) =>
  new ConductorModelError({ runId, ending, spend, message: detail ?? `The run has no answer: ${ending}.` })

const contradicted = (event: RunEvent.RunEvent) =>
  new ConductorModelError({
    runId: event.runId,
    ending: "failed",
    message: "A call failed in the middle of the answer, so the text so far is not valid. Retry the request.",
    spend: event.type === "run-finished" ? event.spend : undefined
  })

const reasons: Readonly<Record<FinishReason, LanguageModelV4FinishReason["unified"]>> = {
  stop: "stop",
  length: "length",
  refusal: "content-filter",
  "tool-calls": "tool-calls",
  other: "other"
}

const reasonOf = (answer: AnswerText.AnswerText, ending: RunEvent.Ending): LanguageModelV4FinishReason["unified"] => {
  if (ending === "refused") return "content-filter"
  return ending === "answered" ? reasons[answer.finishReason] : "other"
}

const usageOf = ({ usage }: Spend): LanguageModelV4Usage => {
  const { cachedInputTokens, cacheWriteTokens, inputTokens, outputTokens, reasoningTokens } = usage
  return {
    inputTokens: {
      total: inputTokens,
      noCache: inputTokens - (cachedInputTokens ?? 0) - (cacheWriteTokens ?? 0),
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

const finish = (state: State, event: RunEvent.Of<"run-finished">): LanguageModelV4StreamPart => ({
  type: "finish",
  finishReason: {
    unified: reasonOf(state.answer, event.ending),
    raw: event.ending
  },
  usage: usageOf(event.spend),
  providerMetadata: { divisi: AnswerText.summary(state.answer, event) }
})

/** Returns the end of a failed stream: the AI SDK expects the error as a part, followed by a finish part. */
export const broken = (error: unknown): Parts => [
  { type: "error", error },
  {
    type: "finish",
    finishReason: { unified: "error", raw: error instanceof ConductorModelError ? error.ending : undefined },
    usage: usageOf((error instanceof ConductorModelError ? error.spend : undefined) ?? noSpend)
  }
]

// -------------------------------------------------------------------------------------------------------------------
// Whole answers
// -------------------------------------------------------------------------------------------------------------------

const joined = (parts: Parts, type: "reasoning" | "text"): ReadonlyArray<LanguageModelV4Content> => {
  const text = parts.map((part) => (part.type === `${type}-delta` ? (part as { delta: string }).delta : "")).join("")
  return text === "" ? [] : [{ type, text }]
}

/** Joins the parts of a successful stream into one result. */
export const whole = (parts: Parts): LanguageModelV4GenerateResult => {
  const one = <T extends LanguageModelV4StreamPart["type"]>(type: T) =>
    parts.find((part): part is Extract<LanguageModelV4StreamPart, { type: T }> => part.type === type)
  const end = one("finish")
  const response = one("response-metadata")
  if (end === undefined || response === undefined) throw new Error("The run ended without its last event.")
  const { finishReason, providerMetadata, usage } = end
  const { id, modelId, timestamp } = response
  const content = [...joined(parts, "reasoning"), ...joined(parts, "text")]
  return defined({
    content,
    finishReason,
    usage,
    warnings: one("stream-start")?.warnings ?? [],
    response: { id, modelId, timestamp } as NonNullable<LanguageModelV4GenerateResult["response"]>,
    providerMetadata
  })
}

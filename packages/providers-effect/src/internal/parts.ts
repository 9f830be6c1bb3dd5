/** Turns the parts of a `LanguageModel`'s stream into those of a worker's answer: one step of a fold. */
import { defined } from "@divisi/core/Fields"
import type { Message } from "@divisi/core/Message"
import { estimateUsage, type Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerPart } from "@divisi/core/Worker"
import * as Json from "@divisi/provider-kit/VendorJson"
import * as AiError from "effect/ai/AiError"
import type * as Response from "effect/ai/Response"
import * as Result from "effect/Result"

/** How far a stream has been read. */
export interface State {
  /** Everything written so far, to estimate usage that nobody reports. */
  readonly written: string
  readonly isFinished: boolean
}

/** The state before the first part. */
export const start: State = { written: "", isFinished: false }

/** The end of a stream, as an event. */
export const end = { type: "end" } as const

type Next = Result.Result<readonly [State, ReadonlyArray<WorkerPart>], unknown>

/** Takes one part; fails when the model reports an error or the stream ends too early. */
export const next = (
  state: State,
  part: Response.StreamPart<Record<never, never>> | typeof end,
  messages: ReadonlyArray<Message>
): Next => {
  switch (part.type) {
    case "text-delta":
      return written(state, "text", part.delta)
    case "reasoning-delta":
      return written(state, "reasoning", part.delta)
    case "error":
      return Result.fail(part.error)
    case "finish":
      return part.reason === "error" ? cut : finished(state, part, messages)
    case "end":
      return state.isFinished ? Result.succeed([state, []]) : cut
    default:
      return Result.succeed([state, []])
  }
}

const malformed = (description: string): Next =>
  Result.fail(
    AiError.make({
      module: "LanguageModel",
      method: "streamText",
      reason: new AiError.InvalidResponseError({ description })
    })
  )

const cut: Next = malformed("its stream ended before its answer did")

const written = (state: State, type: "text" | "reasoning", text: string): Next => {
  // Not every model checks what its vendor sends.
  if (typeof text !== "string") return malformed(`its ${type} is no text`)
  return Result.succeed(text === "" ? [state, []] : [{ ...state, written: state.written + text }, [{ type, text }]])
}

const reasons: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  "content-filter": "refusal"
}

const finished = (state: State, { reason, usage }: Response.FinishPart, messages: ReadonlyArray<Message>): Next => {
  const finish: WorkerPart = {
    type: "finish",
    reason: Json.meaning(reasons, reason) ?? "other",
    usage: usageOf(usage) ?? estimateUsage(messages, state.written)
  }
  return Result.succeed([{ ...state, isFinished: true }, [finish]])
}

/** `undefined` if the model did not report it. */
const usageOf = (usage: Response.Usage): Usage | undefined => {
  const input = Json.fields(Json.fields(usage).inputTokens)
  const output = Json.fields(Json.fields(usage).outputTokens)
  const inputTokens = Json.number(input.total)
  const outputTokens = Json.number(output.total)
  if (inputTokens === undefined || outputTokens === undefined) return undefined
  return defined({
    inputTokens,
    outputTokens,
    cachedInputTokens: Json.number(input.cacheRead),
    cacheWriteTokens: Json.number(input.cacheWrite),
    reasoningTokens: Json.number(output.reasoning)
  })
}

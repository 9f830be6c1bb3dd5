/** Turns the parts of a model's stream into those of a worker's answer: one step of a fold, without side effects. */

import {
  InvalidResponseDataError,
  type LanguageModelV4StreamPart,
  type LanguageModelV4Usage,
  type SharedV4Warning,
  TypeValidationError,
  UnsupportedFunctionalityError
} from "@ai-sdk/provider"
import { defined } from "@divisi/core/Fields"
import type { Message } from "@divisi/core/Message"
import { estimateUsage, type Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerPart } from "@divisi/core/Worker"
import * as Json from "@divisi/provider-kit/VendorJson"
import * as Result from "effect/Result"

/** How far a stream has been read. */
export interface State {
  /** Everything written so far, to estimate usage that nobody reports. */
  readonly written: string
  readonly isFinished: boolean
}

/** What is known about the call whose stream is read. */
export interface Reading {
  readonly messages: ReadonlyArray<Message>
  readonly ignoresUnsupported: boolean
}

/** The state before the first part. */
export const start: State = { written: "", isFinished: false }

/** The end of a stream, as an event. */
export const end = { type: "end" } as const

const noParts: ReadonlyArray<WorkerPart> = []

type Next = Result.Result<readonly [State, ReadonlyArray<WorkerPart>], unknown>

/** Takes one part; fails with what the model, or this reading of it, reports as an error. */
export const next = (state: State, part: LanguageModelV4StreamPart | typeof end, reading: Reading): Next => {
  switch (part.type) {
    case "stream-start":
      return warned(state, part.warnings, reading)
    case "text-delta":
      return written(state, "text", part.delta)
    case "reasoning-delta":
      return written(state, "reasoning", part.delta)
    case "error":
      return isUnknownEvent(part.error) ? Result.succeed([state, noParts]) : Result.fail(part.error)
    case "finish":
      return finished(state, part, reading)
    case "end":
      return state.isFinished ? Result.succeed([state, noParts]) : cut("Its stream ended before its answer did.")
    default:
      return Result.succeed([state, noParts])
  }
}

/**
 * Providers that check their vendor's events report an event of an unknown kind as an error, and read on. Only a known
 * event that they cannot read is a real error.
 */
const isUnknownEvent = (error: unknown): boolean => {
  if (!TypeValidationError.isInstance(error)) return false
  const issues = Json.items(Json.fields(error.cause).issues)
  return issues.length > 0 && issues.every((issue) => Json.fields(issue).note === "No matching discriminator")
}

const written = (state: State, type: "text" | "reasoning", text: string): Next => {
  // Not every model checks what its vendor sends.
  if (typeof text !== "string") return cut(`Its ${type} is no text.`)
  return Result.succeed(
    text === "" ? [state, noParts] : [{ ...state, written: state.written + text }, [{ type, text }]]
  )
}

const cut = (message: string): Next => Result.fail(new InvalidResponseDataError({ data: undefined, message }))

const warned = (state: State, warnings: ReadonlyArray<SharedV4Warning>, { ignoresUnsupported }: Reading): Next => {
  const refused = warnings.find((warning) => warning.type === "unsupported")
  if (refused === undefined || ignoresUnsupported) return Result.succeed([state, noParts])
  const { details, feature: functionality } = refused
  const message = `The model does not support ${functionality}${details === undefined ? "" : `: ${details}`}`
  return Result.fail(new UnsupportedFunctionalityError({ functionality, message }))
}

type Finish = Extract<LanguageModelV4StreamPart, { type: "finish" }>

const finished = (state: State, { finishReason, usage }: Finish, { messages }: Reading): Next => {
  const { raw, unified } = Json.fields(finishReason)
  // Providers report this at the end of a stream whose vendor never said that the answer was complete.
  const isCut = unified === "error" || unified === "interrupted" || (unified === "other" && raw === undefined)
  if (isCut) return cut("Its stream ended before its answer did.")
  const finish: WorkerPart = {
    type: "finish",
    reason: Json.meaning(reasons, unified) ?? "other",
    usage: usageOf(usage, state.written !== "") ?? estimateUsage(messages, state.written)
  }
  return Result.succeed([{ ...state, isFinished: true }, [finish]])
}

const reasons: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  "content-filter": "refusal"
}

/** `undefined` if the vendor did not report it. Some providers then report 0, which no prompt or text can use. */
const usageOf = (usage: LanguageModelV4Usage, hasWritten: boolean): Usage | undefined => {
  const input = Json.fields(Json.fields(usage).inputTokens)
  const output = Json.fields(Json.fields(usage).outputTokens)
  const inputTokens = Json.number(input.total)
  const outputTokens = Json.number(output.total)
  if (!inputTokens || outputTokens === undefined) return undefined
  if (hasWritten && outputTokens === 0) return undefined
  return defined({
    inputTokens,
    outputTokens,
    cachedInputTokens: Json.number(input.cacheRead),
    cacheWriteTokens: Json.number(input.cacheWrite),
    reasoningTokens: Json.number(output.reasoning)
  })
}

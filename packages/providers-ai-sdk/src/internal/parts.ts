/** Converts the parts of a model's stream to those of a worker's answer, as a pure fold. */

import {
  type LanguageModelV4StreamPart,
  type LanguageModelV4Usage,
  type SharedV4Warning,
  TypeValidationError,
  UnsupportedFunctionalityError
} from "@ai-sdk/provider"
import { defined } from "@divisi/core/Fields"
import type { Message } from "@divisi/core/Message"
import type { Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerPart } from "@divisi/core/Worker"
import { Dialects, VendorJson as Json, ModelTurn, VendorError } from "@divisi/provider-kit"

/** Information about the call whose stream is read. */
export interface Reading {
  /** The model that can read the resulting turns again. */
  readonly model: string
  readonly messages: ReadonlyArray<Message>
  /** Whether a preference that the model does not support is omitted with a notice instead of failing the call. */
  readonly mayOmit: boolean
}

/** The event for the end of a stream. */
export const end = { type: "end" } as const

const noParts: ReadonlyArray<WorkerPart> = []

/** Processes one part. Throws an error reported by the model or found in the stream. */
export const next = (
  turn: ModelTurn.ModelTurn,
  part: LanguageModelV4StreamPart | typeof end,
  reading: Reading
): ModelTurn.Next => {
  switch (part.type) {
    case "stream-start":
      return [turn, warned(part.warnings, reading)]
    case "text-start":
    case "text-end":
    case "text-delta":
      return written(turn, "text", part)
    case "reasoning-start":
    case "reasoning-end":
    case "reasoning-delta":
      return written(turn, "reasoning", part)
    case "tool-input-start":
      return part.providerExecuted === true
        ? [turn, noParts]
        : ModelTurn.begin(turn, { id: part.id, name: part.toolName })
    case "tool-input-delta":
      return ModelTurn.piece(turn, part.id, part.delta)
    case "tool-call":
      return part.providerExecuted === true ? [turn, noParts] : called(turn, part)
    case "response-metadata":
      return ModelTurn.named(turn, part.modelId)
    case "error":
      if (isUnknownEvent(part.error)) return [turn, noParts]
      throw part.error
    case "finish":
      return finished(turn, part, reading)
    case "end":
      return ModelTurn.end(turn)
    default:
      return [turn, noParts]
  }
}

/**
 * Whether an error only reports an event of an unknown kind. Providers that validate events emit such errors and
 * continue. An error about a known event that cannot be parsed is a real one.
 */
const isUnknownEvent = (error: unknown): boolean => {
  if (!TypeValidationError.isInstance(error)) return false
  const issues = Json.items(Json.fields(error.cause).issues)
  return issues.length > 0 && issues.every((issue) => Json.fields(issue).note === "No matching discriminator")
}

type Kind = "text" | "reasoning"

type Piece = Extract<LanguageModelV4StreamPart, { type: `${Kind}-${"start" | "delta" | "end"}` }>

const written = (turn: ModelTurn.ModelTurn, type: Kind, part: Piece): ModelTurn.Next =>
  ModelTurn.write(turn, type, {
    id: part.id,
    delta: "delta" in part ? part.delta : "",
    metadata: part.providerMetadata
  })

type Part<Type> = Extract<LanguageModelV4StreamPart, { type: Type }>

const called = (turn: ModelTurn.ModelTurn, part: Part<"tool-call">): ModelTurn.Next => {
  const { input, providerMetadata: metadata, toolCallId: id, toolName: name } = part
  return ModelTurn.call(turn, { id, name, input, metadata })
}

/** Matches the AI SDK's names for demands. All other settings are preferences. */
const demand =
  /^(?:responseFormat|toolChoice|stopSequences|tools?\b|strict|provider-defined tool|.*structuredOutputMode)/

/** Returns notices about preferences that the model does not support. An unsupported demand fails. */
const warned = (warnings: ReadonlyArray<SharedV4Warning>, { mayOmit }: Reading): ReadonlyArray<WorkerPart> =>
  warnings.flatMap((warning): ReadonlyArray<WorkerPart> => {
    if (warning.type !== "unsupported") return noParts
    const { details, feature: functionality } = warning
    const because = details === undefined ? "" : `: ${details}`
    if (mayOmit && !demand.test(functionality)) {
      return [{ type: "notice", notice: `${functionality}: the model does not support it${because}; it was left out` }]
    }
    throw new UnsupportedFunctionalityError({
      functionality,
      message: `The model does not support ${functionality}${because}`
    })
  })

const finished = (turn: ModelTurn.ModelTurn, part: Part<"finish">, { messages, model }: Reading): ModelTurn.Next => {
  const { raw, unified } = Json.fields(part.finishReason)
  // The AI SDK maps unknown finish reasons to "other", or to an error if there is none, and treats a pause as an end.
  const isPaused = raw === "pause_turn"
  const end = typeof raw === "string" && raw !== "" ? Dialects.Endings.ending(raw, "finish reason") : undefined
  const isKnown = unified !== "other" && unified !== "error"
  if (end?.type === "failed" && !isKnown) throw new VendorError.Failure(end.failure)
  // Providers report this at the end of a stream if the vendor never marked the answer as complete.
  const isCut = unified === "error" || unified === "interrupted" || (unified === "other" && raw === undefined)
  return ModelTurn.finish(turn, {
    reason: isCut
      ? "cut"
      : ((isPaused ? "length" : Json.meaning(reasons, unified)) ?? (end?.type === "ended" ? end.reason : "other")),
    usage: usageOf(part.usage, turn.written !== ""),
    messages,
    model
  })
}

const reasons: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  "content-filter": "refusal",
  "tool-calls": "tool-calls"
}

/**
 * Returns the usage; `undefined` if the vendor did not report it. Some providers then report 0, which is impossible for
 * a prompt or text.
 */
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

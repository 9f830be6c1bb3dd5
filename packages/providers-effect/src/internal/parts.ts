/** Converts the parts of a `LanguageModel` stream to those of a worker's answer, as a pure fold. */
import { defined } from "@divisi/core/Fields"
import type { Message } from "@divisi/core/Message"
import type { Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerPart } from "@divisi/core/Worker"
import { VendorJson as Json, ModelTurn } from "@divisi/provider-kit"
import type * as Response from "effect/ai/Response"
import type { Tools } from "./request.ts"

/** Information about the call whose stream is read. */
export interface Reading {
  /** The model that can read the resulting turns again. */
  readonly model: string
  readonly messages: ReadonlyArray<Message>
}

/** A part of a model's stream. Tool calls have their parameters as parsed by the model's package. */
export type Part = Response.StreamPart<Tools, "deferred">

/** The event for the end of a stream. */
export const end = { type: "end" } as const

const noParts: ReadonlyArray<WorkerPart> = []

/** Processes one part. Throws if the model reports an error or the stream ends too early. */
export const next = (turn: ModelTurn.ModelTurn, part: Part | typeof end, reading: Reading): ModelTurn.Next => {
  switch (part.type) {
    case "text-start":
    case "text-end":
    case "text-delta":
      return written(turn, "text", part)
    case "reasoning-start":
    case "reasoning-end":
    case "reasoning-delta":
      return written(turn, "reasoning", part)
    case "tool-params-start":
      return part.providerExecuted ? [turn, noParts] : ModelTurn.begin(turn, part)
    case "tool-params-delta":
      return ModelTurn.piece(turn, part.id, part.delta)
    case "tool-call":
      return part.providerExecuted ? [turn, noParts] : ModelTurn.call(turn, { ...part, input: part.params })
    case "response-metadata":
      return ModelTurn.named(turn, part.modelId)
    case "error":
      throw part.error
    case "finish":
      return finished(turn, part, reading)
    case "end":
      return ModelTurn.end(turn)
    default:
      return [turn, noParts]
  }
}

type Kind = "text" | "reasoning"

type Piece = Extract<Part, { type: `${Kind}-${"start" | "delta" | "end"}` }>

const written = (turn: ModelTurn.ModelTurn, type: Kind, part: Piece): ModelTurn.Next => {
  const { id, metadata } = part
  return ModelTurn.write(turn, type, { id, metadata, delta: "delta" in part ? part.delta : "" })
}

const reasons: Readonly<Record<string, FinishReason | "cut">> = {
  stop: "stop",
  length: "length",
  "content-filter": "refusal",
  "tool-calls": "tool-calls",
  error: "cut"
}

const finished = (
  turn: ModelTurn.ModelTurn,
  { reason, usage }: Response.FinishPart,
  reading: Reading
): ModelTurn.Next =>
  ModelTurn.finish(turn, { ...reading, reason: Json.meaning(reasons, reason) ?? "other", usage: usageOf(usage) })

/** Returns the usage; `undefined` if the model did not report it. */
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

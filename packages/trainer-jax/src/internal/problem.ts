/** Converts any failure to an `EngineError` of this engine. */
import { EngineError, type EngineErrorReason } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"

/** The name of this engine. */
export const engineName = "jax"

/** An error with its reason. */
export const make = (
  doing: EngineError["doing"],
  detail: string,
  tag: Exclude<EngineErrorReason["_tag"], "RateLimited"> = "InvalidRequest"
): EngineError => new EngineError({ engine: engineName, doing, reason: { _tag: tag, detail } })

/** A request that is refused. */
export const failed = (...problem: Parameters<typeof make>): Effect.Effect<never, EngineError> =>
  Effect.fail(make(...problem))

const detailOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** The errors of jax-js when its memory, which has 32-bit addresses, is full. */
const isFull = (cause: unknown): boolean => /4 GiB|out of memory|memory access out of bounds/i.test(detailOf(cause))

/** The error that a failure stands for. */
export const errorOf = (doing: EngineError["doing"], cause: unknown): EngineError => {
  if (cause instanceof EngineError) return cause
  if (isFull(cause)) return make(doing, `${detailOf(cause)} Lower memoryBytes, or give shorter prompts.`, "TooLarge")
  return make(doing, detailOf(cause), "Failed")
}

/** Converts any failure to an `EngineError` from this engine. */
import { EngineError, type EngineErrorReason } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"

/** Name of this engine in errors. */
export const engineName = "jax"

/** Creates an error with its reason. */
export const make = (
  doing: EngineError["doing"],
  detail: string,
  tag: Exclude<EngineErrorReason["_tag"], "RateLimited"> = "InvalidRequest"
): EngineError => new EngineError({ engine: engineName, doing, reason: { _tag: tag, detail } })

/** Fails with the error for a rejected request. */
export const failed = (...problem: Parameters<typeof make>): Effect.Effect<never, EngineError> =>
  Effect.fail(make(...problem))

const detailOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** Whether an error means that the memory of jax-js, which has 32-bit addresses, is exhausted. */
const isFull = (cause: unknown): boolean => /4 GiB|out of memory|memory access out of bounds/i.test(detailOf(cause))

/** Returns the error for a failure. */
export const errorOf = (doing: EngineError["doing"], cause: unknown): EngineError => {
  if (cause instanceof EngineError) return cause
  if (isFull(cause)) return make(doing, `${detailOf(cause)} Lower memoryBytes, or use shorter prompts.`, "TooLarge")
  return make(doing, detailOf(cause), "Failed")
}

/** Engines whose passing failures are waited out. */
import * as Effect from "effect/Effect"
import type { Engine, EngineError } from "../Engine.ts"

const maxAttempts = 8
const baseDelayMillis = 1000
const maxDelayMillis = 60_000

const patiently = <A, R>(effect: Effect.Effect<A, EngineError, R>): Effect.Effect<A, EngineError, R> => {
  const from = (attempt: number): Effect.Effect<A, EngineError, R> =>
    Effect.catchTag(effect, "EngineError", (error) => {
      if (!error.isRetryable || attempt + 1 >= maxAttempts) return Effect.fail(error)
      const { reason } = error
      const asked = reason._tag === "RateLimited" ? (reason.retryAfterMillis ?? 0) : 0
      const delay = Math.max(asked, Math.min(maxDelayMillis, baseDelayMillis * 2 ** attempt))
      return Effect.andThen(Effect.sleep(delay), from(attempt + 1))
    })
  return from(0)
}

/**
 * An engine that asks again where that can help. Only what can be asked twice is: data that fail add no gradient, but a
 * step whose answer was lost may have been made.
 */
export const make = (engine: Engine): Engine => ({
  ...engine,
  sampler: Effect.map(patiently(engine.sampler), (sampler) => ({
    version: sampler.version,
    sample: (request) => patiently(sampler.sample(request))
  })),
  forward: (data) => patiently(engine.forward(data)),
  forwardBackward: (data, loss) => patiently(engine.forwardBackward(data, loss)),
  save: (name, folder) => patiently(engine.save(name, folder)),
  load: (saved, folder) => patiently(engine.load(saved, folder))
})

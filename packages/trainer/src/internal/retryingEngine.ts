/** Engine wrapper that retries after transient failures. */
import * as Effect from "effect/Effect"
import type { Engine, EngineError } from "../Engine.ts"

const maxAttempts = 8
const baseDelayMillis = 1000
const maxDelayMillis = 60_000

const retrying = <A, R>(effect: Effect.Effect<A, EngineError, R>): Effect.Effect<A, EngineError, R> => {
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
 * Returns an engine that retries failed requests if a retry is safe and can succeed. Data whose request failed added no
 * gradient, so it is sent again. Optimizer steps are not retried, because the step may have been applied even though
 * its response was lost.
 */
export const make = (engine: Engine): Engine => ({
  ...engine,
  sampler: Effect.map(retrying(engine.sampler), (sampler) => ({
    version: sampler.version,
    sample: (request) => retrying(sampler.sample(request))
  })),
  forward: (data) => retrying(engine.forward(data)),
  forwardBackward: (data, loss) => retrying(engine.forwardBackward(data, loss)),
  save: (name, folder) => retrying(engine.save(name, folder)),
  load: (saved, folder) => retrying(engine.load(saved, folder))
})

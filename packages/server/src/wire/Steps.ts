/**
 * Work that is divided into steps, so that a large request does not occupy the event loop: other requests are handled
 * between its steps.
 */
import * as Effect from "effect/Effect"
import { ApiError } from "./ApiError.ts"

/** Work that can pause at each `yield`. Throws an `ApiError` if the request is invalid. */
export type Steps<A> = Generator<void, A, void>

/** Maximum duration of the steps of one event loop turn, in milliseconds. The last step may exceed it. */
const turnMillis = 1

/** Runs all steps at once. */
export const all = <A>(steps: Steps<A>): A => {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** Converts an exception: an `ApiError` becomes a failure, any other exception a defect. */
const thrown = (error: unknown): Effect.Effect<never, ApiError> =>
  error instanceof ApiError ? Effect.fail(error) : Effect.die(error)

/** Evaluates an effect, as {@link attempt} does with a value. */
const attempted = <A>(evaluate: () => Effect.Effect<A, ApiError>): Effect.Effect<A, ApiError> =>
  Effect.suspend(() => {
    try {
      return evaluate()
    } catch (error) {
      return thrown(error)
    }
  })

/** Calls a function and converts a thrown `ApiError` into a failure. Any other exception becomes a defect. */
export const attempt = <A>(read: () => A): Effect.Effect<A, ApiError> => attempted(() => Effect.succeed(read()))

/**
 * Runs steps over as many event loop turns as they need. A thrown `ApiError` becomes a failure, any other exception a
 * defect.
 */
export const paced = <A>(start: () => Steps<A>): Effect.Effect<A, ApiError> => {
  const turn = (steps: Steps<A>): Effect.Effect<A, ApiError> => {
    const end = performance.now() + turnMillis
    do {
      const { done, value } = steps.next()
      if (done === true) return Effect.succeed(value)
    } while (performance.now() < end)
    return Effect.andThen(
      Effect.yieldNow,
      attempted(() => turn(steps))
    )
  }
  return attempted(() => turn(start()))
}

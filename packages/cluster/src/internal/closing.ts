/** Cleanup of a process that closes a database, which may be unreachable by then. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/**
 * The maximum time that a close waits for the database. After it, other processes detect that the process has ended.
 */
const patienceMillis = 3_000

/**
 * Does something as well as it can, and waits for it no longer than a close may take (in milliseconds), even if it cannot
 * be interrupted.
 */
export const bounded = <E>(effect: Effect.Effect<unknown, E>, millis: number = patienceMillis): Effect.Effect<void> =>
  Effect.flatMap(Effect.forkDetach(Effect.interruptible(Effect.ignore(effect)), { startImmediately: true }), (fiber) =>
    Effect.andThen(
      Effect.interruptible(Effect.timeoutOption(Effect.asVoid(Fiber.await(fiber)), millis)),
      Effect.sync(() => fiber.interruptUnsafe())
    )
  )

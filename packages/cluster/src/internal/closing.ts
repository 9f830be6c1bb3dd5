/** Cleanup of a process that closes a database, which may be unreachable by then. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"

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

/** Acquires something in a scope. If it fails, what it has acquired is released at once, so it can be tried again. */
export const acquired = <A, E, R>(
  scope: Scope.Scope,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, Exclude<R, Scope.Scope>> =>
  Effect.flatMap(Scope.fork(scope), (own) =>
    Effect.onError(Scope.provide(effect, own), (cause) => Scope.close(own, Exit.failCause(cause)))
  )

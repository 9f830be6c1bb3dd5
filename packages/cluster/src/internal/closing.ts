/** Cleanup when a process disconnects from a database, which may be unreachable at that time. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"

/**
 * Maximum time to wait for the database on closing, in milliseconds. After that, other processes detect that this one
 * is gone.
 */
const patienceMillis = 3_000

/**
 * Runs an effect, ignoring failures, and waits for at most `millis` milliseconds, even if the effect cannot be
 * interrupted.
 */
export const bounded = <E>(effect: Effect.Effect<unknown, E>, millis: number = patienceMillis): Effect.Effect<void> =>
  Effect.flatMap(Effect.forkDetach(Effect.interruptible(Effect.ignore(effect)), { startImmediately: true }), (fiber) =>
    Effect.andThen(
      Effect.interruptible(Effect.timeoutOption(Effect.asVoid(Fiber.await(fiber)), millis)),
      Effect.sync(() => fiber.interruptUnsafe())
    )
  )

/**
 * Acquires resources in a scope. On failure, acquired resources are released immediately, so that it can be retried.
 */
export const acquired = <A, E, R>(
  scope: Scope.Scope,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, Exclude<R, Scope.Scope>> =>
  Effect.flatMap(Scope.fork(scope), (own) =>
    Effect.onError(Scope.provide(effect, own), (cause) => Scope.close(own, Exit.failCause(cause)))
  )

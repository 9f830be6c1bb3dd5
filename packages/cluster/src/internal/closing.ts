/** Cleanup when a process disconnects from a database, which may be unreachable at that time. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"

/**
 * Maximum time to wait for the database when disconnecting, in milliseconds. After that, other processes have to detect
 * that this process is gone.
 */
const patienceMillis = 3_000

/**
 * Runs an effect, ignores failures, and waits for at most `millis` milliseconds, even if the effect cannot be
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
 * Acquires resources in a scope. If that fails, resources acquired so far are released immediately, so that the caller
 * can retry.
 */
export const acquired = <A, E, R>(
  scope: Scope.Scope,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, Exclude<R, Scope.Scope>> =>
  Effect.flatMap(Scope.fork(scope), (own) =>
    Effect.onError(Scope.provide(effect, own), (cause) => Scope.close(own, Exit.failCause(cause)))
  )

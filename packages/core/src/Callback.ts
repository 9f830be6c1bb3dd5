/**
 * User functions. Each may be async and may throw: its result is awaited, an exception is a failure, and no rejection
 * stays unhandled.
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import { isA, messageOf } from "./Thrown.ts"

/** A value of type `A` as a user's function may return it: plain, as a promise or as an effect. */
export type Given<A, E = never> = A | PromiseLike<A> | Effect.Effect<A, E>

const isPromiseLike = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function"

/** Calls a user function. Fails with its exception, or with the rejection of its promise. */
export const settle = <A, E = unknown>(call: () => Given<A, E>): Effect.Effect<A, E> =>
  Effect.suspend((): Effect.Effect<A, E> => {
    try {
      const given = call()
      if (Effect.isEffect(given)) return given as Effect.Effect<A, E>
      if (!isPromiseLike(given)) return Effect.succeed(given as A)
      return Effect.tryPromise({ try: async () => given as PromiseLike<A>, catch: (error) => error as E })
    } catch (error) {
      return Effect.fail(error as E)
    }
  })

/** A function of a user has failed: it threw, its promise was rejected, or its Effect failed or died. */
export class CallbackError extends Data.TaggedError("CallbackError")<{
  /** The function, e.g. `reserve of the ledger`. */
  readonly callback: string
  readonly cause: unknown
}> {
  override get message(): string {
    return `${this.callback} failed: ${messageOf(this.cause)}`
  }
}

/**
 * Calls a function of a user, and names it in the error. Errors that `isExpected` knows pass as they are; so do
 * interruptions, and errors that name a function already.
 */
export const called = <A, E = never>(
  callback: string,
  call: () => Given<A, E>,
  isExpected: (error: unknown) => boolean = () => false
): Effect.Effect<A, E | CallbackError> =>
  Effect.catchCause(settle<A, E>(call), (cause): Effect.Effect<never, E | CallbackError> => {
    const error = Cause.squash(cause)
    return Cause.hasInterruptsOnly(cause) || isA(error, CallbackError) || isExpected(error)
      ? Effect.failCause(cause)
      : Effect.fail(new CallbackError({ callback, cause: error }))
  })

/** Calls a listener without waiting for it. `onError` receives its exception, whether synchronous or later. */
export const notify = (call: () => unknown, onError: (error: unknown) => void): void => {
  try {
    const given = call()
    if (isPromiseLike(given)) given.then(undefined, onError)
  } catch (error) {
    onError(error)
  }
}

/** Keeps log output off the standard output, which may carry a protocol, unless the caller has a logger. */
export const toErrorOutput: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.provideService(
  References.LogToStderr,
  true
)

/** Calls a listener whose errors are logged. `what` names it: `onPaid`. */
export const notifyLogged = (what: string, call: () => unknown): void =>
  notify(call, (error) =>
    Effect.runFork(
      toErrorOutput(Effect.logWarning(`${what} failed, which is not needed to continue: ${messageOf(error)}`))
    )
  )

/** Handles the rejection of an unused value that may be a promise. */
export const unheard = (given: unknown): void => {
  if (isPromiseLike(given)) given.then(undefined, () => {})
}

/** Calls a function whose answer is needed synchronously. A promise is refused, and its rejection is handled. */
export const atOnce = <A>(what: string, call: () => A): A => {
  const given = call()
  if (!isPromiseLike(given)) return given
  unheard(given)
  throw new TypeError(`${what} must return its result synchronously, but returned a promise`)
}

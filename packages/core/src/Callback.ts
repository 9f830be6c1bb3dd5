/**
 * Calls user functions, which may be async and may throw. Promises are awaited, exceptions become failures, and no
 * rejection goes unhandled.
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import { isA, messageOf } from "./Thrown.ts"

/** The return type of a user function: an `A`, a promise of it, or an effect that yields it. */
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

/** A user function failed: it threw, its promise was rejected, or its Effect failed or died. */
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
 * Calls a user function and names it in the error. Errors that `isExpected` accepts, interruptions, and errors that
 * already name a function are passed on unchanged.
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

/** Calls a listener without waiting for it. `onError` receives its exception or rejection. */
export const notify = (call: () => unknown, onError: (error: unknown) => void): void => {
  try {
    const given = call()
    if (isPromiseLike(given)) given.then(undefined, onError)
  } catch (error) {
    onError(error)
  }
}

/** Logs to stderr instead of stdout, which may carry a protocol, unless the caller provides a logger. */
export const toErrorOutput: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.provideService(
  References.LogToStderr,
  true
)

/** Calls a listener and logs its errors. `what` is its name in the log, such as `onPaid`. */
export const notifyLogged = (what: string, call: () => unknown): void =>
  notify(call, (error) =>
    Effect.runFork(
      toErrorOutput(Effect.logWarning(`${what} failed, and the run continues without it: ${messageOf(error)}`))
    )
  )

/** Handles the rejection of an unused value that may be a promise. */
export const unheard = (given: unknown): void => {
  if (isPromiseLike(given)) given.then(undefined, () => {})
}

/** Calls a function whose result is needed synchronously. A promise is an error; its rejection is handled. */
export const atOnce = <A>(what: string, call: () => A): A => {
  const given = call()
  if (!isPromiseLike(given)) return given
  unheard(given)
  throw new TypeError(`${what} must return its result synchronously, but returned a promise`)
}

/**
 * Helpers for calling user-supplied functions, which may be async and may throw. Promises are awaited, exceptions are
 * converted to failures, and no rejection is left unhandled.
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import { isA, messageOf } from "./Thrown.ts"
import * as Warning from "./Warning.ts"

/** The return type accepted from a user-supplied function: a plain value, a promise, or an effect. */
export type Given<A, E = never> = A | PromiseLike<A> | Effect.Effect<A, E>

const isPromiseLike = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function"

/**
 * Calls a user-supplied function and returns its result as an effect. The effect fails with the thrown exception or the
 * rejection reason.
 */
export const settle = <A, E = unknown>(call: () => Given<A, E>): Effect.Effect<A, E> =>
  Effect.suspend(() => settleUnsafe(call))

/** Like {@link settle}, but calls the function immediately. */
export const settleUnsafe = <A, E = unknown>(call: () => Given<A, E>): Effect.Effect<A, E> => {
  try {
    const given = call()
    if (Effect.isEffect(given)) return given as Effect.Effect<A, E>
    if (!isPromiseLike(given)) return Effect.succeed(given as A)
    return Effect.tryPromise({ try: async () => given as PromiseLike<A>, catch: (error) => error as E })
  } catch (error) {
    return Effect.fail(error as E)
  }
}

/** Raised when a user-supplied function throws, returns a rejected promise, or returns an effect that fails or dies. */
export class CallbackError extends Data.TaggedError("CallbackError")<{
  /** A human-readable name for the function, e.g. `reserve of the ledger`. */
  readonly callback: string
  readonly cause: unknown
}> {
  override get message(): string {
    return `${this.callback} failed: ${messageOf(this.cause)}`
  }
}

/**
 * Calls a user-supplied function and wraps its failure in a {@link CallbackError} that names the function.
 * Interruptions, errors accepted by `isExpected`, and existing `CallbackError`s pass through unchanged.
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

/**
 * Wraps a listener so that it neither throws nor returns a promise. Exceptions and rejections are passed to `onError`.
 */
export const notifying =
  <A>(listener: (value: A) => unknown, onError: (error: unknown, value: A) => void) =>
  (value: A): void => {
    try {
      const given = listener(value)
      if (given !== undefined && isPromiseLike(given)) given.then(undefined, (error) => onError(error, value))
    } catch (error) {
      onError(error, value)
    }
  }

/**
 * Redirects log output to stderr, because stdout may carry a protocol. A logger configured by the caller takes
 * precedence.
 *
 * @internal
 */
export const toErrorOutput: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.provideService(
  References.LogToStderr,
  true
)

/**
 * Calls a listener and logs a warning if it fails. `what` is the listener's name in the log message, such as `onPaid`.
 */
export const notifyLogged = (what: string, call: () => unknown): void =>
  notifying(call, (error) =>
    Effect.runFork(Warning.log(`${what} failed, and the run continues without it: ${messageOf(error)}`))
  )(undefined)

/**
 * Marks a possible promise as handled, so that its rejection does not crash the process.
 *
 * @internal
 */
export const unheard = (given: unknown): void => {
  if (isPromiseLike(given)) given.then(undefined, () => {})
}

/** Calls a function that must return synchronously. Throws a `TypeError` if the function returns a promise. */
export const atOnce = <A>(what: string, call: () => A): A => {
  const given = call()
  if (!isPromiseLike(given)) return given
  unheard(given)
  throw new TypeError(`${what} must return its result synchronously, but returned a promise`)
}

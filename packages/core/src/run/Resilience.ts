/**
 * Resilience: the handling of failed calls. A call is retried with the same worker while that can help ({@link delay});
 * then another worker takes over if the caller allows it ({@link reassign}).
 *
 * Both are plain values that the executor reads. Limits that many runs share because a vendor counts them together
 * (rate limits, circuit breakers) belong to a {@link Gate}. `ProviderGate` makes one.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { settle } from "../Callback.ts"
import * as Seed from "../Seed.ts"
import { messageOf } from "../Thrown.ts"
import type { Allowance } from "../task/Allowance.ts"
import { isRetryable, type Worker, type WorkerError, type WorkerErrorReason } from "../task/Worker.ts"
import { size, type WorkerPool } from "../task/WorkerPool.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** How failed calls are retried with the same worker. The defaults are in {@link defaultRetry}. */
export interface Retry {
  /** The maximum number of attempts, including the first. Default: 3; 1 means no retry. */
  readonly maxAttempts?: number | undefined
  /** The delay after the first failure, in milliseconds. Default: 500. */
  readonly baseDelayMillis?: number | undefined
  /** The factor by which the delay grows with each failure. Default: 2. */
  readonly factor?: number | undefined
  /** The maximum delay of this schedule, in milliseconds. Default: 30,000. */
  readonly maxDelayMillis?: number | undefined
  /**
   * The longest `retry-after` of a vendor to wait for, in milliseconds. Default: 120,000. If a vendor asks for a longer
   * wait, the call is not retried.
   */
  readonly maxRetryAfterMillis?: number | undefined
  /** Whether delays are randomized; equal seeds give equal delays. Default: `true`. */
  readonly jitter?: boolean | undefined
}

/** A step whose worker failed after all retries. */
export interface Failure {
  readonly pool: WorkerPool
  /** The index of the worker that failed last. */
  readonly failed: number
  /** The indices of all workers that failed this step, in order, including `failed`. */
  readonly tried: ReadonlyArray<number>
  readonly error: WorkerError
}

/**
 * Which worker takes over a step whose worker failed after all retries: none (`"never"`), the next untried worker of
 * the pool, starting over after the last (`"next"`), or the one that a function returns (`undefined` for none). Under a
 * cost limit, workers without a price are not eligible.
 */
export type Reassign = "never" | "next" | ((failure: Failure) => number | undefined | PromiseLike<number | undefined>)

/**
 * A gate that every call to a worker passes through. It enforces limits that all runs of a process share.
 *
 * `tokens` is the number of tokens that a vendor will count for the call: its likely input and its maximum output. The
 * gate may delay the call or refuse it with a `WorkerError`. It runs the call at most once, and receives the vendor's
 * remaining limits through `onAllowance`.
 *
 * A worker may itself start a run, whose calls reach the same gate while the enclosing call is in progress. For such
 * calls, `within` lists the `place` values that the gate passed to the enclosing calls, innermost first. A gate that
 * queues calls must not make a call wait for a call that encloses it.
 */
export interface Gate {
  readonly enter: <A, E, R>(
    worker: Worker,
    tokens: number,
    call: (onAllowance: (allowance: Allowance) => void, place?: object) => Effect.Effect<A, E, R>,
    within?: ReadonlyArray<object>
  ) => Effect.Effect<A, E | WorkerError, R>
  /** Whether it assigns places to calls, which nested runs receive. Default: `false`. */
  readonly givesPlaces?: boolean | undefined
  /** The providers that currently receive no calls. Absent if the gate never closes providers. */
  readonly closed?: Effect.Effect<ReadonlyArray<ClosedProvider>> | undefined
  /** Reopens all providers, e.g. after a configuration change. */
  readonly reset?: Effect.Effect<void> | undefined
}

/** A provider that currently receives no calls. */
export interface ClosedProvider {
  /** The key of the provider: a worker's `provider`, or its id. */
  readonly provider: string
  /** The reason why it is closed: the vendor requested a pause, or calls failed repeatedly. */
  readonly because: "rate-limited" | "failing"
  /** The time at which one trial call is admitted, in milliseconds since 1970. */
  readonly until: number
}

// -------------------------------------------------------------------------------------------------------------------
// Retry
// -------------------------------------------------------------------------------------------------------------------

/** Up to three attempts, with randomized delays of up to 0.5 s and 1 s. */
export const defaultRetry = {
  maxAttempts: 3,
  baseDelayMillis: 500,
  factor: 2,
  maxDelayMillis: 30_000,
  maxRetryAfterMillis: 120_000,
  jitter: true
} satisfies Required<Retry>

/** No retries. */
export const noRetry = { ...defaultRetry, maxAttempts: 1 } satisfies Required<Retry>

const share = (seed: number, attempt: number): number =>
  Seed.index(1_000_001, Seed.derive(seed, "retry", attempt)) / 1_000_000

/**
 * Returns the number of milliseconds to wait before a failed call is retried, or `undefined` if it is not retried.
 *
 * **Details**
 *
 * `attempt` is the number of the failed attempt, from 0. The delay is `baseDelayMillis * factor ** attempt`, at most
 * `maxDelayMillis`; jitter subtracts up to half of it. A vendor's `retry-after` is the minimum delay: jitter adds up to
 * `baseDelayMillis` to it, so that calls are not all retried at the same instant.
 *
 * **Example**
 *
 * ```ts
 * import { Resilience } from "@divisi/core"
 *
 * const retry = { maxAttempts: 3, jitter: false }
 * Resilience.delay(retry, { attempt: 0, reason: { _tag: "Network" }, seed: 1 }) // => 500
 * Resilience.delay(retry, { attempt: 2, reason: { _tag: "Network" }, seed: 1 }) // => undefined
 * Resilience.delay(retry, { attempt: 0, reason: { _tag: "Quota" }, seed: 1 }) // => undefined
 * ```
 */
export const delay = (
  retry: Retry,
  failed: { readonly attempt: number; readonly reason: WorkerErrorReason; readonly seed: number }
): number | undefined => {
  const { attempt, reason, seed } = failed
  const {
    baseDelayMillis = defaultRetry.baseDelayMillis,
    factor = defaultRetry.factor,
    jitter = defaultRetry.jitter,
    maxAttempts = defaultRetry.maxAttempts,
    maxDelayMillis = defaultRetry.maxDelayMillis,
    maxRetryAfterMillis = defaultRetry.maxRetryAfterMillis
  } = retry
  if (attempt + 1 >= maxAttempts || !isRetryable(reason)) return undefined
  const backoff = Math.min(maxDelayMillis, baseDelayMillis * factor ** attempt)
  const spread = jitter ? share(seed, attempt) : 0
  const retryAfterMillis = "retryAfterMillis" in reason ? (reason.retryAfterMillis ?? 0) : 0
  if (retryAfterMillis > maxRetryAfterMillis) return undefined
  const wait = Math.max(
    backoff * (1 - spread / 2),
    retryAfterMillis > 0 ? retryAfterMillis + spread * baseDelayMillis : 0
  )
  // A wait that is not a number would never end.
  return Number.isFinite(wait) ? Math.ceil(wait) : undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Reassign
// -------------------------------------------------------------------------------------------------------------------

/** Whether a worker may be called. Under a cost limit, workers without a price are not eligible. */
export type IsAllowed = (worker: Worker) => boolean

const all: IsAllowed = () => true

/** Returns the next untried and allowed worker of the pool, starting over after the last. */
export const next = (
  { failed, pool, tried }: Omit<Failure, "error">,
  isAllowed: IsAllowed = all
): number | undefined => {
  const count = size(pool)
  for (let offset = 1; offset <= count; offset++) {
    const ordinal = (failed + offset) % count
    if (!tried.includes(ordinal) && isAllowed(pool.workers[ordinal]!)) return ordinal
  }
  return undefined
}

/**
 * Returns the index of the worker that takes over, or `undefined` for none. A function's choice of a worker that was
 * already tried, does not exist or is not allowed counts as none. An exception also counts as none, and is logged.
 *
 * **Example**
 *
 * ```ts
 * import { Resilience } from "@divisi/core"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import { WorkerError } from "@divisi/core/Worker"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import * as Effect from "effect/Effect"
 *
 * const pool = WorkerPool.makeUnsafe([ScriptedWorker.echo("a"), ScriptedWorker.echo("b")])
 * const error = new WorkerError({ worker: "b", reason: { _tag: "Quota" } })
 * await Effect.runPromise(Resilience.reassign("next", { pool, failed: 1, tried: [1], error })) // => 0
 * await Effect.runPromise(Resilience.reassign("next", { pool, failed: 0, tried: [1, 0], error })) // => undefined
 * ```
 */
export const reassign = (
  rule: Reassign,
  failure: Failure,
  isAllowed: IsAllowed = all
): Effect.Effect<number | undefined> => {
  if (rule === "never") return Effect.undefined
  if (rule === "next") return Effect.succeed(next(failure, isAllowed))
  const { pool, tried } = failure
  const isOpen = (named: number | undefined) =>
    Number.isInteger(named) &&
    named! >= 0 &&
    named! < size(pool) &&
    !tried.includes(named!) &&
    isAllowed(pool.workers[named!]!)
  return Effect.matchEffect(
    settle<number | undefined>(() => rule(failure)),
    {
      onSuccess: (named) => Effect.succeed(isOpen(named) ? named : undefined),
      onFailure: (error) =>
        Effect.as(Effect.logWarning(`reassign failed, so no other worker takes over: ${messageOf(error)}`), undefined)
    }
  )
}

// -------------------------------------------------------------------------------------------------------------------
// Gate
// -------------------------------------------------------------------------------------------------------------------

/** The gate of all calls; none by default. `ProviderGate.layer` sets it. */
export const Gate: Context.Reference<Gate | undefined> = Context.Reference("@divisi/core/Resilience/Gate", {
  defaultValue: (): Gate | undefined => undefined
})

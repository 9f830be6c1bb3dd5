/**
 * Resilience: the handling of failed calls. The same worker is retried while that can help ({@link delay}), then
 * another one takes over if the caller allows it ({@link reassign}).
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

/** How a failed call is tried again with the same worker. An absent setting is that of {@link defaultRetry}. */
export interface Retry {
  /** All attempts, the first included: 3 by default, 1 for no retry. */
  readonly maxAttempts?: number | undefined
  /** The wait after the first failure, in milliseconds; 500 by default. */
  readonly baseDelayMillis?: number | undefined
  /** The factor by which the wait grows with every failure; 2 by default. */
  readonly factor?: number | undefined
  /** The longest wait by this schedule, in milliseconds; 30,000 by default. */
  readonly maxDelayMillis?: number | undefined
  /**
   * The longest retry-after of a vendor that is obeyed, in milliseconds; 120,000 by default. When a vendor asks for
   * more, the call is not retried, since an earlier retry would fail.
   */
  readonly maxRetryAfterMillis?: number | undefined
  /** Whether waits are spread at random, the same for the same seed; true by default. */
  readonly jitter?: boolean | undefined
}

/** A step whose worker has failed for good. */
export interface Failure {
  readonly pool: WorkerPool
  /** The ordinal of the worker that failed last. */
  readonly failed: number
  /** The ordinals of all workers that failed at this step, in order, `failed` included. */
  readonly tried: ReadonlyArray<number>
  readonly error: WorkerError
}

/**
 * The worker that takes over a step whose worker has failed for good: none, the next untried worker of the pool (after
 * the last, the first), or the one that a function returns (`undefined` for none). Under a cost limit, a worker without
 * a price takes over no step.
 */
export type Reassign = "never" | "next" | ((failure: Failure) => number | undefined | PromiseLike<number | undefined>)

/**
 * A gate that every call of a worker passes through. It enforces limits that all runs of a process share.
 *
 * `tokens` is the number of tokens that a vendor will count for the call: its likely input and its maximum output. The
 * gate may delay the call, or refuse it with a `WorkerError`. It runs it at most once, and receives the vendor's
 * remaining limits through `onAllowance`.
 *
 * A worker may itself start a run, whose calls reach the same gate while the enclosing call is in progress. The `place`
 * that the gate passes to `call` is returned as `within`, the closest call first. A gate that queues calls must not
 * make a call wait for one that encloses it.
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
  /** The providers that currently receive no calls; absent if a gate closes none. */
  readonly closed?: Effect.Effect<ReadonlyArray<ClosedProvider>> | undefined
  /** Opens all of them, as after a change of the configuration. */
  readonly reset?: Effect.Effect<void> | undefined
}

/** A provider that no call is sent to for a while. */
export interface ClosedProvider {
  /** The key of the provider: a worker's `provider`, or its id. */
  readonly provider: string
  /** Its vendor asked all calls to wait, or failed repeatedly. */
  readonly because: "rate-limited" | "failing"
  /** The end, in milliseconds since 1970; one call is then admitted as a trial. */
  readonly until: number
}

// -------------------------------------------------------------------------------------------------------------------
// Retry
// -------------------------------------------------------------------------------------------------------------------

/** Three attempts, half a second and then a second apart, spread at random. */
export const defaultRetry = {
  maxAttempts: 3,
  baseDelayMillis: 500,
  factor: 2,
  maxDelayMillis: 30_000,
  maxRetryAfterMillis: 120_000,
  jitter: true
} satisfies Required<Retry>

/** Every failure is final. */
export const noRetry = { ...defaultRetry, maxAttempts: 1 } satisfies Required<Retry>

const share = (seed: number, attempt: number): number =>
  Seed.index(1_000_001, Seed.derive(seed, "retry", attempt)) / 1_000_000

/**
 * Returns the number of milliseconds to wait before a failed call is retried, or `undefined` if it is not retried.
 *
 * **Details**
 *
 * `attempt` is the number of the failed attempt, from 0. The wait is `baseDelayMillis * factor ** attempt`, at most
 * `maxDelayMillis`; jitter removes up to half of it. A vendor's retry-after is the minimum wait: jitter adds up to
 * `baseDelayMillis` to it, so that calls do not all return at the same instant.
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

/** Whether a worker may be called at all; a worker without a price may not under a cost limit. */
export type IsAllowed = (worker: Worker) => boolean

const all: IsAllowed = () => true

/** Returns the next worker of the pool that is untried and allowed; after the last follows the first. */
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
 * Returns the ordinal of the worker that takes over, or `undefined` for none. A function's choice of a worker that was
 * tried, does not exist or is not allowed counts as none: a step never returns to a worker that failed it. An exception
 * counts as none, too, and is logged.
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
        Effect.as(Effect.logWarning(`reassign failed, and no other worker takes over: ${messageOf(error)}`), undefined)
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

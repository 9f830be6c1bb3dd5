/**
 * Error handling for worker calls: a failed call is retried with the same worker as long as that can help
 * ({@link delay}), after which another worker may take over ({@link reassign}).
 *
 * Both are configured with plain values. Limits that apply across runs, such as rate limits, and circuit breakers are
 * enforced by a {@link Gate}; `ProviderGate` is an implementation.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { settle } from "../Callback.ts"
import * as Seed from "../Seed.ts"
import { messageOf } from "../Thrown.ts"
import type { Allowance } from "../task/Allowance.ts"
import { isRetryable, type Worker, type WorkerError, type WorkerErrorReason } from "../task/Worker.ts"
import { size, type WorkerPool } from "../task/WorkerPool.ts"
import * as Warning from "../Warning.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Retry policy for failed calls. Defaults: {@link defaultRetry}. */
export interface Retry {
  /** Maximum number of attempts, including the first. 1 disables retries. Default: 3. */
  readonly maxAttempts?: number | undefined
  /** Delay after the first failure, in milliseconds. Default: 500. */
  readonly baseDelayMillis?: number | undefined
  /** Factor by which the delay grows after each failure. Default: 2. */
  readonly factor?: number | undefined
  /** Maximum computed delay, in milliseconds. Default: 30,000. */
  readonly maxDelayMillis?: number | undefined
  /**
   * Maximum `retry-after` to honor, in milliseconds. If a vendor requests a longer wait, the call is not retried.
   * Default: 120,000.
   */
  readonly maxRetryAfterMillis?: number | undefined
  /** Whether to randomize delays. The same seed yields the same delays. Default: `true`. */
  readonly jitter?: boolean | undefined
}

/** Describes a step whose worker failed after all retries. */
export interface Failure {
  readonly pool: WorkerPool
  /** Index of the worker that failed most recently. */
  readonly failed: number
  /** Indices of all workers that failed this step, in order, including `failed`. */
  readonly tried: ReadonlyArray<number>
  readonly error: WorkerError
}

/**
 * Selects the worker that takes over a step after its worker failed all retries: no worker (`"never"`), the next
 * untried worker in the pool, wrapping around at the end (`"next"`), or the index returned by a function (`undefined`
 * for none). Under a cost limit, workers without a price are not eligible.
 */
export type Reassign = "never" | "next" | ((failure: Failure) => number | undefined | PromiseLike<number | undefined>)

/**
 * Guards every worker call. Used to enforce limits that apply to all runs in a process, such as rate limits.
 *
 * `tokens` is the number of tokens that the vendor is expected to count for the call: the estimated input plus the
 * maximum output. The gate may delay the call or reject it with a `WorkerError`. It executes the call at most once. The
 * vendor's remaining allowance is reported to the gate through `onAllowance`, and the first part of its answer through
 * `onBegin`.
 *
 * A worker may start a nested run, whose calls pass through the same gate while the enclosing call is still in
 * progress. For such calls, `within` contains the `place` values that the gate assigned to the enclosing calls,
 * innermost first. A gate with a queue must never make a call wait for one of its enclosing calls.
 *
 * `patienceMillis` is the time left until the run ends. A gate should reject a call that would have to wait longer, so
 * that another worker can take over. Default: `Infinity`.
 */
export interface Gate {
  readonly enter: <A, E, R>(
    worker: Worker,
    tokens: number,
    call: (onAllowance: (allowance: Allowance) => void, place?: object, onBegin?: () => void) => Effect.Effect<A, E, R>,
    within?: ReadonlyArray<object>,
    patienceMillis?: number
  ) => Effect.Effect<A, E | WorkerError, R>
  /**
   * Returns the expected time until the gate would admit a call because of pauses and rate limits, in milliseconds. `now`
   * is a time of the monotonic clock. A worker that can be called sooner may take over. Undefined if it is unknown.
   */
  readonly expectedWait?: ((worker: Worker, tokens: number, now: number) => number) | undefined
  /** Whether the gate assigns a `place` to each call, which is passed on to nested runs. Default: `false`. */
  readonly givesPlaces?: boolean | undefined
  /** Lists the providers that are currently blocked. Undefined if the gate never blocks providers. */
  readonly closed?: Effect.Effect<ReadonlyArray<ClosedProvider>> | undefined
  /** Unblocks all providers, e.g. after a configuration change. */
  readonly reset?: Effect.Effect<void> | undefined
}

/** Slots for concurrent calls that several processes share. `PostgresSlots` of `@divisi/cluster` is an implementation. */
export interface SharedSlots {
  /** Joins the processes that share the slots, until the scope closes. */
  readonly join: Effect.Effect<SlotMember, never, Scope>
}

/** One of the processes that share slots. */
export interface SlotMember {
  /** Renews this process's share of the slots with a name, and returns how many calls it may have in flight. */
  readonly share: (name: string, demand: SlotDemand) => Effect.Effect<SlotShare, { readonly message: string }>
}

/** The demand of a process for the slots with a name. */
export interface SlotDemand {
  /** Number of slots for all processes together. */
  readonly limit: number
  /** Number of calls in flight. */
  readonly used: number
  /** Number of calls in flight or waiting for a slot. */
  readonly wanted: number
}

/** A process's share of the slots. */
export interface SlotShare {
  /** Maximum number of calls in flight. If it is already exceeded, no further call may start. */
  readonly slots: number
  /** Whether another process waits for slots. */
  readonly isContended: boolean
  /** How long the share is valid after it was requested, in milliseconds. */
  readonly leaseMillis: number
}

/** A provider to which no calls are currently sent. */
export interface ClosedProvider {
  /** The provider's key: the worker's `provider`, or else its id. */
  readonly provider: string
  /**
   * Why the provider is blocked: the vendor requested a pause (`"rate-limited"`), or its calls failed repeatedly
   * (`"failing"`).
   */
  readonly because: "rate-limited" | "failing"
  /** When the next trial call is allowed, in milliseconds since the Unix epoch. */
  readonly until: number
}

// -------------------------------------------------------------------------------------------------------------------
// Retry
// -------------------------------------------------------------------------------------------------------------------

/** The default retry policy: up to three attempts, with randomized delays of up to 0.5 s and 1 s. */
export const defaultRetry = {
  maxAttempts: 3,
  baseDelayMillis: 500,
  factor: 2,
  maxDelayMillis: 30_000,
  maxRetryAfterMillis: 120_000,
  jitter: true
} satisfies Required<Retry>

/** Disables retries. */
export const noRetry = { ...defaultRetry, maxAttempts: 1 } satisfies Required<Retry>

const share = (seed: number, attempt: number): number => Seed.draw(Seed.derive(seed, "retry", attempt))()

/**
 * Returns the delay before a failed call is retried, in milliseconds, or `undefined` if it should not be retried.
 *
 * **Details**
 *
 * `attempt` is the zero-based number of the failed attempt. The delay is `baseDelayMillis * factor ** attempt`, capped
 * at `maxDelayMillis`; jitter reduces it by up to half. If the vendor sent a `retry-after`, the delay is at least that
 * long, and jitter adds up to `baseDelayMillis`, so that clients do not all retry at the same moment.
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
  // `NaN` would produce a wait that never ends.
  return Number.isFinite(wait) ? Math.ceil(wait) : undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Reassign
// -------------------------------------------------------------------------------------------------------------------

/** Whether a worker may be called. Under a cost limit, workers without a price are not eligible. */
type IsAllowed = (worker: Worker) => boolean

const all: IsAllowed = () => true

/**
 * Returns the index of the next worker in the pool that is eligible and has not been tried, wrapping around at the end.
 *
 * @internal
 */
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
 * Returns the index of the worker that takes over, or `undefined` if no worker does. If `rule` is a function that
 * throws or returns a worker that is unknown, not eligible or already tried, no worker takes over. Exceptions are
 * logged.
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
        Effect.as(Warning.log(`reassign failed, so no other worker takes over: ${messageOf(error)}`), undefined)
    }
  )
}

// -------------------------------------------------------------------------------------------------------------------
// Gate
// -------------------------------------------------------------------------------------------------------------------

/** The gate for all worker calls. Default: `undefined`. Set by `ProviderGate.layer`. */
export const Gate: Context.Reference<Gate | undefined> = Context.Reference("@divisi/core/Resilience/Gate", {
  defaultValue: (): Gate | undefined => undefined
})

/**
 * The provider gate: enforces a provider's limits across all runs of a process.
 *
 * A vendor counts requests and tokens per key, whichever run they come from, so limits, pauses and circuit breakers
 * belong to a provider: the `provider` of a worker, or its `id`. If a vendor reports that its limits are nearly
 * exhausted (a worker's `allowance` part), calls wait instead of being refused, even without configured limits. Calls
 * are served in order of arrival. A call that is interrupted while it waits leaves the queue and uses no tokens.
 *
 * A worker may itself start a run, whose calls are nested in the worker's call. A nested call does not wait for its
 * enclosing call: if no slot is free, it uses the slot of the enclosing call, one nested call at a time.
 *
 * This module loads Effect's schemas. The executor uses only the lightweight `Resilience.Gate`.
 */

import { type Allowance, Elapsed, Resilience, Options as Tables } from "@divisi/core"
import { type Worker, WorkerError, type WorkerErrorReason } from "@divisi/core/Worker"
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as RateLimiter from "effect/persistence/RateLimiter"
import type * as Scope from "effect/Scope"
import * as Line from "./internal/line.ts"
import * as Pace from "./internal/pace.ts"
import * as Shared from "./internal/shared.ts"
import * as Steady from "./internal/steady.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Limits for one provider. An omitted limit does not apply. */
export interface Limits {
  /**
   * Maximum number of calls per minute, enforced by a token bucket of this size. After an idle minute, this many calls
   * can start immediately.
   */
  readonly requestsPerMinute?: number | undefined
  /**
   * The maximum number of input and output tokens per minute. Each call is counted at its maximum possible usage when
   * it starts. A call that needs more than this limit uses a full minute's tokens.
   */
  readonly tokensPerMinute?: number | undefined
  /** Maximum number of concurrent calls. If a worker starts a run, the calls of that run share the worker's slot. */
  readonly concurrency?: number | undefined
}

/** The circuit breaker of a provider. */
export interface Breaker {
  /** The number of consecutive failures that open the circuit. Default: 5. */
  readonly failures?: number | undefined
  /** How long the circuit stays open before a single trial call is admitted, in milliseconds. Default: 30,000. */
  readonly openMillis?: number | undefined
}

/** Options of a gate. */
export interface Options {
  /** The limits by provider. Those under `"*"` apply to every other provider, each counted separately. */
  readonly limits?: Readonly<Record<string, Limits>> | undefined
  /** The circuit breaker. Default: none. */
  readonly breaker?: Breaker | undefined
  /**
   * The longest retry-after that calls wait for, in milliseconds. If a vendor requests a longer delay, calls fail.
   * Default: 120,000.
   */
  readonly maxPauseMillis?: number | undefined
  /**
   * The maximum time that a retry-after or a reported allowance closes a provider, in milliseconds. After a retry-after,
   * one trial call is admitted; if it is refused, the provider closes again. Default: 300,000.
   */
  readonly maxClosedMillis?: number | undefined
}

const limitsTable = {
  requestsPerMinute: Tables.number(0.001),
  tokensPerMinute: Tables.number(0.001),
  concurrency: Tables.whole(1)
} satisfies Tables.ShapeOf<Limits>

/**
 * The names, types and ranges of {@link Options}, for their validation.
 *
 * @internal
 */
export const optionsTable = {
  limits: Tables.recordOf(limitsTable),
  breaker: { failures: Tables.whole(1), openMillis: Tables.limit } satisfies Tables.ShapeOf<Breaker>,
  maxPauseMillis: Tables.limit,
  maxClosedMillis: Tables.limit
} satisfies Tables.ShapeOf<Options>

/** A limit per minute, whose bucket is in a store, and the amount taken from it in advance. */
interface Bucket {
  readonly key: string
  readonly perMinute: number | undefined
  /** Total amount that the queued calls need. */
  queued: number
  /** Amount taken in advance for queued calls, and the time until which it may be used. */
  ahead: number
  aheadUntil: number
  /** Amount in the bucket at the time `at`, minus the amount that the waiting call will take. */
  level: number
  at: number
}

/** State of one provider. */
interface Provider {
  readonly key: string
  readonly requests: Bucket
  readonly tokens: Bucket
  readonly slots: Line.Line | undefined
  /** Queue of calls. Only the first one waits for limits and pauses; the others wait for their turn. */
  readonly turn: Line.Line
  pace: Pace.Pace
  /** Wakes the call at the head of the queue when its vendor has reported a new allowance. */
  heard: () => void
  pausedUntil: number
  /** Key of the provider's circuit. It changes on reset. */
  circuit: string
  /** The time until which the circuit was open when it was last read. */
  openUntil: number
  /**
   * State of the trial call that is made after a pause that was shorter than the vendor requested. Other calls wait for
   * it.
   */
  probe: "none" | "due" | "running"
  /**
   * Whether an answer has begun since the last failure that counted towards its circuit. Calls then do not wait for the
   * end of the trial call, which may take minutes.
   */
  isAnswering: boolean
  /** Number of finished calls. `waiting` contains the calls that wait for the next one to finish. */
  ended: number
  readonly waiting: Set<() => void>
  /** The last failure that counted towards its circuit. */
  lastFailure: string | undefined
}

/** A call's slot at its provider. Nested calls may use it, one at a time. */
class Place {
  readonly provider: Provider
  readonly lent = Line.make(1)

  constructor(provider: Provider) {
    this.provider = provider
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Waiting for a turn
// -------------------------------------------------------------------------------------------------------------------

/** A call that waits for its turn. */
interface Turn {
  /** Whether the call is nested in another call of the same provider. */
  readonly isWithin: boolean
  readonly tokens: number
  /** The maximum wait for a pause or an allowance, in milliseconds. A call that must wait longer is rejected. */
  readonly longestWait: number
  /** Called if this call is the trial call after a pause. */
  readonly onProbe: () => void
}

const sleep = (millis: number) => Effect.sleep(Math.max(1, Math.ceil(millis)))

const refuse = (worker: Worker, reason: WorkerErrorReason) =>
  Effect.fail(new WorkerError({ worker: worker.id, reason }))

/**
 * How long an amount taken in advance may be used, in milliseconds. After a long pause, it would come on top of a bucket
 * that has refilled.
 */
const aheadMillis = 1_000

const amountOf = ({ perMinute = 0 }: Bucket, amount: number): number => Math.min(amount, perMinute)

const minuteMillis = 60_000

/** Returns the expected time until a bucket has enough for all calls in the queue and for one more, in milliseconds. */
const waitOf = (bucket: Bucket, amount: number, now: number): number => {
  const { ahead, aheadUntil, at, level, perMinute, queued } = bucket
  if (perMinute === undefined) return 0
  const refilled = Math.min(perMinute, level + ((now - at) * perMinute) / minuteMillis)
  const missing = queued + amountOf(bucket, amount) - refilled - (now < aheadUntil ? ahead : 0)
  return missing > 0 ? (missing * minuteMillis) / perMinute : 0
}

/** Refuses a call whose own limit delays it for too long. */
const overLimit = (worker: Worker, wait: number) =>
  refuse(worker, {
    _tag: "RateLimited",
    retryAfterMillis: Math.ceil(wait),
    detail: "its configured limit per minute is used up"
  })

/**
 * Takes tokens from a bucket, waiting until there are enough, unless that takes longer than the call may wait. With
 * `isRoomy`, also takes those of the calls in the queue, so that they do not need to access the store.
 */
const take = (
  limiter: RateLimiter.RateLimiter,
  bucket: Bucket,
  amount: number,
  isRoomy: boolean,
  worker: Worker,
  patienceMillis: number
): Effect.Effect<void, WorkerError> => {
  const { key, perMinute } = bucket
  if (perMinute === undefined) return Effect.void
  const consume = (own: number, more: number): Effect.Effect<void, WorkerError> =>
    limiter
      .consume({
        algorithm: "token-bucket",
        onExceeded: "fail",
        window: Duration.minutes(1),
        limit: perMinute,
        key,
        tokens: own + more
      })
      .pipe(
        Effect.flatMap(({ remaining }) =>
          Effect.map(Steady.now, (now) => {
            bucket.level = remaining
            bucket.at = now
            bucket.ahead = more
            bucket.aheadUntil = now + aheadMillis
          })
        ),
        Effect.catch(({ reason }) => {
          if (reason._tag !== "RateLimitExceeded")
            return Effect.logWarning(
              `Cannot read the rate limits of ${key}, so calls are not limited: ${reason.message}`
            )
          const again = consume(own, 0)
          if (more > 0) return again
          const wait = Duration.toMillis(reason.retryAfter)
          return Effect.flatMap(Steady.now, (now) => {
            const isTooLong = wait > patienceMillis
            bucket.level = (isTooLong ? own : 0) - (wait * perMinute) / minuteMillis
            bucket.at = now
            return isTooLong ? overLimit(worker, wait) : Effect.andThen(sleep(wait), again)
          })
        })
      )
  return Effect.flatMap(Steady.now, (now) => {
    const own = amountOf(bucket, amount)
    const ahead = now < bucket.aheadUntil ? bucket.ahead : 0
    bucket.ahead = Math.max(0, ahead - own)
    if (ahead >= own) return Effect.void
    return consume(own - ahead, isRoomy ? Math.min(bucket.queued, perMinute - own) : 0)
  })
}

/**
 * Waits until a provider's pause is over, even if it is extended or ended in the meantime. After a pause shorter than
 * the vendor requested, one call tries the provider while the others wait for its outcome.
 */
const pause = (provider: Provider, worker: Worker, call: Turn): Effect.Effect<void, WorkerError> =>
  Effect.flatMap(Steady.now, (now) => {
    const { isWithin, longestWait, onProbe } = call
    const left = Math.ceil(provider.pausedUntil - now)
    const again = Effect.suspend(() => pause(provider, worker, call))
    if (left <= 0) {
      // The call that tries may be the one that it is within.
      if (isWithin) return Effect.void
      if (provider.probe === "running") return Effect.andThen(nextEnd(provider, provider.ended), again)
      if (provider.probe === "due") onProbe()
      return Effect.void
    }
    return left > longestWait
      ? refuse(worker, {
          _tag: "RateLimited",
          retryAfterMillis: left,
          detail: "the provider asked for all calls to be paused"
        })
      : Effect.andThen(Effect.timeoutOption(nextEnd(provider, provider.ended), left), again)
  })

const nextWord = (provider: Provider): Effect.Effect<void> =>
  Effect.callback((resume) => {
    provider.heard = () => resume(Effect.void)
    return Effect.sync(() => {
      provider.heard = () => {}
    })
  })

type AllowanceListener = (allowance: Allowance.Allowance) => void

/**
 * Waits until the vendor's allowance suffices, then admits the call. The returned listener timestamps the vendor's next
 * report with the gate's clock.
 */
const keepPace = (provider: Provider, worker: Worker, call: Turn): Effect.Effect<AllowanceListener, WorkerError> =>
  Effect.clockWith((clock) => {
    const now = Elapsed.ticks(clock)
    const wait = provider.pace.wait(call.tokens, now)
    if (wait > call.longestWait) {
      const detail = "its provider reports that its rate limits are exhausted"
      return refuse(worker, { _tag: "RateLimited", retryAfterMillis: Math.ceil(wait), detail })
    }
    if (wait > 0) {
      const heard = Effect.timeoutOption(nextWord(provider), Math.max(1, Math.ceil(wait)))
      return Effect.andThen(heard, keepPace(provider, worker, call))
    }
    const onAllowance = provider.pace.admit(call.tokens, now)
    return Effect.succeed((allowance: Allowance.Allowance) => {
      onAllowance(allowance, Elapsed.ticks(clock))
      provider.heard()
    })
  })

// -------------------------------------------------------------------------------------------------------------------
// Watching calls
// -------------------------------------------------------------------------------------------------------------------

const failureOf = (exit: Exit.Exit<unknown, unknown>): WorkerErrorReason | undefined => {
  if (Exit.isSuccess(exit)) return undefined
  const error = Cause.findErrorOption(exit.cause)
  return error._tag === "Some" && Predicate.isTagged(error.value, "WorkerError")
    ? (error.value as WorkerError).reason
    : undefined
}

/** Pauses all calls to a provider after a retry-after. */
const observe = (
  provider: Provider,
  exit: Exit.Exit<unknown, unknown>,
  maxClosedMillis: number
): Effect.Effect<void> => {
  const reason = failureOf(exit)
  if (reason?._tag !== "RateLimited" || reason.retryAfterMillis === undefined) return Effect.void
  const { retryAfterMillis } = reason
  return Effect.map(Steady.now, (now) => {
    provider.pausedUntil = Math.max(provider.pausedUntil, now + Math.min(retryAfterMillis, maxClosedMillis))
    if (retryAfterMillis > maxClosedMillis) provider.probe = "due"
  })
}

/** The silence from which a timeout set by a run or step indicates an unhealthy vendor, in milliseconds. */
const longSilenceMillis = 30_000

/**
 * Classifies the outcome of a call for the circuit breaker and for trial calls. A rejected request is an answer: the
 * vendor is available. A rate limit, an interruption and a caller's short time limit say nothing about its health.
 */
const classify = (exit: Exit.Exit<unknown, unknown>, maxClosedMillis: number): CircuitBreaker.Outcome => {
  if (Exit.isSuccess(exit)) return CircuitBreaker.success
  const reason = failureOf(exit)
  switch (reason?._tag) {
    case "Overloaded":
      return reason.retryAfterMillis === undefined
        ? CircuitBreaker.failure()
        : CircuitBreaker.failure({ retryAfter: Math.min(reason.retryAfterMillis, maxClosedMillis) })
    case "Network":
      return CircuitBreaker.failure()
    case "Timeout": {
      const { silentMillis = Number.POSITIVE_INFINITY } = reason
      return silentMillis >= longSilenceMillis ? CircuitBreaker.failure() : CircuitBreaker.ignored
    }
    case undefined:
    case "RateLimited":
    case "Defect":
      return CircuitBreaker.ignored
    default:
      return CircuitBreaker.success
  }
}

/** Wakes the calls that wait for another call of the provider. */
const announceEnd = (provider: Provider) => {
  provider.ended += 1
  const woken = [...provider.waiting]
  provider.waiting.clear()
  for (const wake of woken) wake()
}

const nextEnd = (provider: Provider, seen: number) =>
  Effect.callback<void>((resume) => {
    if (provider.ended !== seen) return resume(Effect.void)
    const wake = () => resume(Effect.void)
    provider.waiting.add(wake)
    return Effect.sync(() => provider.waiting.delete(wake))
  })

const openCircuit = ({ lastFailure }: Provider, retryAfterMillis: number): WorkerErrorReason => ({
  _tag: "Overloaded",
  retryAfterMillis,
  detail: `its provider failed repeatedly, so calls are paused${lastFailure === undefined ? "" : `; the last failure: ${lastFailure}`}`
})

const isRejection = (error: unknown): error is CircuitBreaker.CircuitBreakerError =>
  Predicate.isTagged(error, "CircuitBreakerError")

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Wraps each call in its provider's circuit breaker. */
interface Circuits {
  /** Rejects a call while the circuit is open. */
  readonly check: (provider: Provider, worker: Worker) => Effect.Effect<void, WorkerError>
  readonly protect: <A, E, R>(
    provider: Provider,
    worker: Worker,
    isWithin: boolean,
    call: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | WorkerError, R>
  /** Returns how long a provider's circuit stays open, in milliseconds; 0 if it is closed. */
  readonly openFor: (provider: Provider) => Effect.Effect<number>
}

const noCircuits: Circuits = {
  check: () => Effect.void,
  protect: (_provider, _worker, _isWithin, call) => call,
  openFor: () => Effect.succeed(0)
}

const makeCircuits = Effect.fnUntraced(function* (options: Breaker, maxClosedMillis: number) {
  const { failures = 5, openMillis = 30_000 } = options
  const breaker = yield* CircuitBreaker.make({
    tripPolicy: CircuitBreaker.consecutive(failures),
    openDuration: openMillis
  })

  const openFor: Circuits["openFor"] = (provider) =>
    Effect.zipWith(Effect.option(breaker.state(provider.circuit)), Steady.now, (state, now) => {
      const left = state._tag === "None" || state.value._tag !== "Open" ? 0 : Duration.toMillis(state.value.retryAfter)
      provider.openUntil = now + left
      return left
    })

  const check: Circuits["check"] = (provider, worker) =>
    Effect.flatMap(openFor(provider), (left) => (left > 0 ? refuse(worker, openCircuit(provider, left)) : Effect.void))

  // While one call probes a failed provider, the others wait until its answer begins or it ends. The probe can belong
  // to another process if the circuit is shared, so no call waits longer than the circuit stays open. A nested call to
  // the same provider can be part of that probe, so it does not wait.
  const protect: Circuits["protect"] = (provider, worker, isWithin, call) =>
    Effect.suspend(() => {
      const seen = provider.ended
      let admitted = false
      let isFailed = false
      const admit = Effect.suspend(() => {
        admitted = true
        return call
      })
      return breaker
        .execute(admit, {
          key: provider.circuit,
          classify: (exit) => {
            const outcome = classify(exit, maxClosedMillis)
            if (outcome._tag === "Failure") {
              isFailed = true
              const reason = failureOf(exit)
              provider.lastFailure = reason?.detail ?? reason?._tag
              provider.isAnswering = false
            }
            return outcome
          }
        })
        .pipe(
          Effect.ensuring(
            Effect.suspend(() => {
              if (admitted) announceEnd(provider)
              return isFailed ? openFor(provider) : Effect.void
            })
          ),
          Effect.catchIf(isRejection, ({ reason }) =>
            reason._tag === "CircuitHalfOpen"
              ? isWithin || provider.isAnswering
                ? call
                : Effect.andThen(
                    Effect.timeoutOption(nextEnd(provider, seen), openMillis),
                    protect(provider, worker, isWithin, call)
                  )
              : refuse(
                  worker,
                  openCircuit(
                    provider,
                    reason._tag === "CircuitOpen" ? Duration.toMillis(reason.retryAfter) : openMillis
                  )
                )
          )
        )
    })

  return { check, protect, openFor } satisfies Circuits
})

const makeBucket = (key: string, perMinute: number | undefined): Bucket => ({
  key,
  perMinute,
  queued: 0,
  ahead: 0,
  aheadUntil: 0,
  level: Number.POSITIVE_INFINITY,
  at: 0
})

type MakeSlots = (name: string, limit: number) => Line.Line

const makeProvider = (key: string, limits: Limits, pace: Pace.Pace, slots: MakeSlots): Provider => ({
  key,
  requests: makeBucket(`${key}/requests`, limits.requestsPerMinute),
  tokens: makeBucket(`${key}/tokens`, limits.tokensPerMinute),
  slots: limits.concurrency === undefined ? undefined : slots(key, limits.concurrency),
  turn: Line.make(1),
  pace,
  heard: () => {},
  pausedUntil: 0,
  probe: "none",
  isAnswering: false,
  circuit: key,
  openUntil: 0,
  ended: 0,
  waiting: new Set(),
  lastFailure: undefined
})

/** Counts a call that waits for its turn. The returned function ends this, and has no effect if it is called again. */
const enqueue = ({ requests, tokens: ofTokens }: Provider, tokens: number): (() => void) => {
  const amount = amountOf(ofTokens, tokens)
  let isQueued = true
  requests.queued += 1
  ofTokens.queued += amount
  return () => {
    if (!isQueued) return
    isQueued = false
    requests.queued -= 1
    ofTokens.queued -= amount
  }
}

/** Returns why a provider is closed and until when (wall clock time), or an empty list if it is open. */
const closedOf = (
  circuits: Circuits,
  provider: Provider,
  clock: Clock.Clock,
  maxPauseMillis: number
): Effect.Effect<ReadonlyArray<Resilience.ClosedProvider>> => {
  const { key, pace, pausedUntil } = provider
  const [now, ticks] = [clock.currentTimeMillisUnsafe(), Elapsed.ticks(clock)]
  const exhausted = pace.wait(1, ticks)
  const paused = Math.ceil(Math.max(pausedUntil - ticks, exhausted > maxPauseMillis ? exhausted : 0))
  if (paused > 0) return Effect.succeed([{ provider: key, because: "rate-limited", until: now + paused }])
  return Effect.map(circuits.openFor(provider), (left) =>
    left > 0 ? [{ provider: key, because: "failing", until: now + Math.ceil(left) }] : []
  )
}

/** Returns the first limit that would block every call, or `undefined`. */
const findImpossible = (limits: Readonly<Record<string, Limits>>): string | undefined => {
  for (const [provider, limit] of Object.entries(limits)) {
    for (const name of ["requestsPerMinute", "tokensPerMinute", "concurrency"] as const) {
      const value = limit[name]
      if (value !== undefined && !(value >= 1)) return `${name} of ${provider} is ${value}; it must be at least 1`
    }
  }
  return undefined
}

/**
 * Creates a gate on top of stores for rate limits and circuits, which several processes may share. With `sharedSlots`,
 * the limits of concurrent calls apply to all processes together.
 *
 * **Details**
 *
 * A call waits for a free slot, then for its turn, for the limits, for the end of a pause, and until the vendor's
 * allowance suffices; then it runs. A call that would wait longer than `maxPauseMillis` fails with `RateLimited` and
 * that time as its retry-after, without a request. A `RateLimited` error with a retry-after pauses the provider for all
 * calls, for at most `maxClosedMillis`; then one trial call is made, and the others follow once its answer begins.
 * Errors that indicate an unhealthy provider (`Overloaded`, `Network`, `Timeout`) count toward its circuit breaker. A
 * timeout set by a run or step (`silentMillis`) counts only if the provider was silent for 30 s. A rejected request, such
 * as an `InvalidRequest`, ends the provider's sequence of failures and closes a half-open circuit.
 *
 * While the circuit is open, calls fail with `Overloaded` and the remaining time as retry-after, without a request. If a store is unreachable, calls are admitted.
 * A limit below 1 is a defect, because no call could ever pass.
 */
export const make = Effect.fnUntraced(function* (
  options: Options,
  sharedSlots?: Resilience.SharedSlots
): Effect.fn.Return<
  Resilience.Gate,
  never,
  RateLimiter.RateLimiterStore | CircuitBreaker.CircuitBreakerStore | Scope.Scope
> {
  const {
    limits = {},
    maxClosedMillis = 300_000,
    maxPauseMillis = Resilience.defaultRetry.maxRetryAfterMillis
  } = options
  const impossible = findImpossible(limits)
  if (impossible !== undefined) return yield* Effect.die(new RangeError(`ProviderGate: ${impossible}.`))
  const limiter = yield* RateLimiter.make
  const circuits = options.breaker === undefined ? noCircuits : yield* makeCircuits(options.breaker, maxClosedMillis)
  const slots: MakeSlots = sharedSlots === undefined ? (_, limit) => Line.make(limit) : yield* Shared.make(sharedSlots)
  const providers = new Map<string, Provider>()
  let resets = 0

  const providerOf = (worker: Worker): Provider => {
    const key = worker.provider ?? worker.id
    let provider = providers.get(key)
    if (provider === undefined) {
      provider = makeProvider(key, limits[key] ?? limits["*"] ?? {}, Pace.make(maxClosedMillis), slots)
      providers.set(key, provider)
    }
    return provider
  }

  const limitedFor = ({ requests, tokens: ofTokens }: Provider, tokens: number, now: number): number =>
    Math.max(waitOf(requests, 1, now), waitOf(ofTokens, tokens, now))

  const awaitTurn = (provider: Provider, worker: Worker, call: Turn, patienceMillis: number) =>
    Effect.flatMap(Steady.now, (now) => {
      const { tokens } = call
      const wait = limitedFor(provider, tokens, now)
      if (wait > patienceMillis) return overLimit(worker, wait)
      const leave = enqueue(provider, tokens)
      const taken = Effect.flatMap(Steady.now, (now) => {
        leave()
        const isRoomy = limitedFor(provider, tokens, now) === 0
        return Effect.andThen(
          take(limiter, provider.requests, 1, isRoomy, worker, patienceMillis),
          take(limiter, provider.tokens, tokens, isRoomy, worker, patienceMillis)
        )
      })
      return circuits
        .check(provider, worker)
        .pipe(
          Effect.andThen(taken),
          Effect.andThen(pause(provider, worker, call)),
          Effect.andThen(keepPace(provider, worker, call)),
          provider.turn.pass,
          Effect.ensuring(Effect.sync(leave))
        )
    })

  return {
    givesPlaces: true,
    enter: (worker, tokens, call, within = [], patienceMillis = Number.POSITIVE_INFINITY) =>
      Effect.suspend(() => {
        const provider = providerOf(worker)
        const around = within.find((one): one is Place => one instanceof Place && one.provider === provider)
        const isWithin = around !== undefined
        const place = new Place(provider)
        let isProbe = false
        const onProbe = () => {
          isProbe = true
          provider.probe = "running"
        }
        const endProbe = (isAccepted: boolean) => {
          if (!isProbe) return
          isProbe = false
          if (provider.probe === "running") provider.probe = isAccepted ? "none" : "due"
          announceEnd(provider)
        }
        const onBegin = () => {
          endProbe(true)
          if (provider.isAnswering) return
          provider.isAnswering = true
          announceEnd(provider)
        }
        const longestWait = Math.min(maxPauseMillis, patienceMillis)
        const turn = awaitTurn(provider, worker, { isWithin, tokens, longestWait, onProbe }, patienceMillis)
        const entered = Effect.flatMap(turn, (onAllowance) =>
          circuits.protect(
            provider,
            worker,
            isWithin,
            Effect.onExit(call(onAllowance, place, onBegin), (exit) => observe(provider, exit, maxClosedMillis))
          )
        ).pipe(Effect.onExit((exit) => Effect.sync(() => endProbe(classify(exit, maxClosedMillis)._tag === "Success"))))
        if (provider.slots === undefined) return entered
        return Line.passOne(around === undefined ? [provider.slots] : [provider.slots, around.lent], entered)
      }),
    expectedWait: (worker, tokens, now) => {
      const provider = providerOf(worker)
      const closedFor = Math.max(provider.pausedUntil, provider.openUntil) - now
      return Math.max(0, closedFor, provider.pace.wait(tokens, now), limitedFor(provider, tokens, now))
    },
    closed: Effect.clockWith((clock) =>
      Effect.map(
        Effect.forEach([...providers.values()], (provider) => closedOf(circuits, provider, clock, maxPauseMillis)),
        (all) => all.flat()
      )
    ),
    reset: Effect.sync(() => {
      resets += 1
      for (const provider of providers.values()) {
        provider.pausedUntil = 0
        provider.openUntil = 0
        provider.pace = Pace.make(maxClosedMillis)
        provider.heard()
        provider.probe = "none"
        provider.circuit = `${provider.key}#${resets}`
        announceEnd(provider)
      }
    })
  }
})

// -------------------------------------------------------------------------------------------------------------------
// Layers
// -------------------------------------------------------------------------------------------------------------------

/** Rate limits in memory. */
const limits = Layer.effect(
  RateLimiter.RateLimiterStore,
  Effect.map(RateLimiter.RateLimiterStore, (store) => ({
    ...store,
    tokenBucket: (...asked) => Steady.steadily(store.tokenBucket(...asked))
  }))
).pipe(Layer.provide(RateLimiter.layerStoreMemory))

/** Circuits in memory. */
const circuits = Layer.effect(
  CircuitBreaker.CircuitBreakerStore,
  Effect.map(CircuitBreaker.CircuitBreakerStore, (store) => ({
    admit: (...asked) => Steady.steadily(store.admit(...asked)),
    record: (...asked) => Steady.steadily(store.record(...asked)),
    state: (...asked) => Steady.steadily(store.state(...asked))
  }))
).pipe(Layer.provide(CircuitBreaker.layerStoreMemory()))

/**
 * A gate for all calls of this process. Changes of the wall clock do not affect waiting times.
 *
 * **Example**
 *
 * ```ts
 * import * as ProviderGate from "@divisi/provider-kit/ProviderGate"
 *
 * const gate = ProviderGate.layer({
 *   limits: { openai: { requestsPerMinute: 500, tokensPerMinute: 200_000 }, "*": { concurrency: 8 } },
 *   breaker: { failures: 5, openMillis: 30_000 }
 * })
 * ```
 */
export const layer = (options: Options): Layer.Layer<never> => {
  Tables.check("ProviderGate.layer", options, optionsTable)
  return Layer.effect(Resilience.Gate, make(options)).pipe(Layer.provide([limits, circuits]))
}

/**
 * A gate whose requests and tokens per minute are counted in a store that processes may share, such as
 * `PostgresRateLimits.layer` of `@divisi/cluster`. A call at the front of the queue also takes the requests and tokens
 * of the calls behind it, so that they do not need to access the store. With `slots`, such as those of `PostgresSlots`,
 * the limits of concurrent calls are shared as well. All other state belongs to this process: pauses, circuits and the
 * vendor's reported allowance.
 */
export const layerShared = (
  options: Options,
  slots?: Resilience.SharedSlots
): Layer.Layer<never, never, RateLimiter.RateLimiterStore> => {
  Tables.check("ProviderGate.layerShared", options, optionsTable)
  return Layer.effect(Resilience.Gate, make(options, slots)).pipe(Layer.provide(circuits))
}

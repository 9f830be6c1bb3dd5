/**
 * The core of a worker call: the request, its stages, and the single place where the call is charged.
 *
 * A call is a stack of middleware around `send`. Each middleware receives the next function. It may change the request,
 * call the next function more than once, or answer the call itself. This module does not depend on any feature:
 * `pipeline.ts` defines the middleware of a run and its order.
 *
 * Two functions cannot be replaced by middleware. `meter` reserves, settles and reports usage in one uninterruptible
 * tick. `send` is the only function that calls a worker's `generate`.
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { millisSince } from "../Elapsed.ts"
import type { AnswerSource, Emit, Item } from "../events/RunEvent.ts"
import type { StepFailure } from "../events/StepFailure.ts"
import type { Recorded } from "../journal/RecordedRun.ts"
import type { Ledger, Reservation } from "../run/Budget.ts"
import { Caller, callerOf, within } from "../run/Caller.ts"
import { settleUnsafe } from "../run/MemoryLedger.ts"
import type { Recording, Slot } from "../run/Recording.ts"
import type { Gate } from "../run/Resilience.ts"
import type { Entry, Failure, ResponseCache } from "../run/ResponseCache.ts"
import { withErrorOf } from "../task/thrown.ts"
import type { BudgetExceeded, Paid } from "../task/Usage.ts"
import type { Worker, WorkerError, WorkerRequest } from "../task/Worker.ts"
import type { ActiveSpans } from "../telemetry/ActiveSpans.ts"
import { type Accounts, numbered, paidOf, reserve } from "./accounts.ts"
import type { Recalled } from "./numbering.ts"
import {
  type AllowanceListener,
  type DeltaListener,
  nothingYet,
  type Received,
  receive,
  type Silence
} from "./receive.ts"
import { report } from "./reports.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** State shared by all calls of a run. */
export interface CallRun {
  readonly runId: string
  readonly clock: Clock.Clock
  readonly emit: Emit | undefined
  /** The run's own budget. */
  readonly ledger: Ledger
  /** Whether any account of the run has a limit, so that calls must reserve their worst case. */
  readonly isLimited: () => boolean
  /** Whether the run uses a shared account. Calls charged to a shared account must have names. */
  readonly isShared: boolean
  /**
   * Number of calls made at each position, from which call names are derived. Undefined if the journal names the calls,
   * or if no account is shared.
   */
  readonly counts: Map<string, number> | undefined
  /** The run's spans, if it is being traced. */
  readonly spans: ActiveSpans | undefined
  /** The call within which the run was started, if an account pays for that call. */
  readonly caller: Caller | undefined
  /** Whether runs started by workers need access to the enclosing call. */
  readonly isCarried: boolean
  /** Whether the run only replays what an earlier process recorded. Any call beyond the record is interrupted. */
  readonly isReplayed: boolean
  /** The time at which the outermost run ends, on the monotonic clock. `Infinity` if it has no time limit. */
  readonly deadline: number
}

/**
 * A request to a worker. `sample` distinguishes calls that intentionally repeat the same request, and depends only on
 * the seed.
 */
export interface Ask {
  readonly worker: Worker
  readonly request: WorkerRequest
  readonly sample: number
  readonly round: number
  /** Undefined for calls made by the policy or a critic. */
  readonly step?: number | undefined
  /** The item, if the step runs for items. */
  readonly item?: Item | undefined
  /** Whether the call is only replayed from its record, as in {@link CallRun}. */
  readonly isReplayed?: boolean | undefined
  /** The caller. If the call does not belong to a step, it replaces the step in the call's address. */
  readonly by: "policy" | "step" | "critic" | "check"
  /**
   * Index of the call among those made by its step, the step's checks, or the round's policy or critic. All attempts of
   * a call have the same index.
   */
  readonly turn: number
  /**
   * Set for calls of the last step, unless it has a check: whether a limit has stopped other steps. A recorded answer is
   * replaced if it was given on the reservation of `budget.keep`, and its inputs are more complete now.
   */
  readonly isLimited?: boolean | undefined
  /** Whether it is certain that no earlier process made this call. */
  readonly isNew?: boolean | undefined
  /** Time limit for this call in milliseconds. Overrides the run's limit. */
  readonly timeoutMillis?: number | undefined
  /**
   * Whether another worker could answer a call with this number of tokens instead, without a long wait. If so, the call
   * does not wait long for a pause or a rate limit.
   */
  readonly mayReplace?: ((tokens: number) => boolean) | undefined
  readonly onDelta?: DeltaListener | undefined
  /** Called with a notice for each part omitted from the request. */
  readonly onNotice?: ((notice: string) => void) | undefined
  /** Called synchronously when the answer is charged, so that an interruption cannot separate the two. */
  readonly onAnswer: (answered: Answered) => void
}

/** How long a call waits for a pause or a rate limit if another worker could answer instead, in milliseconds. */
export const shortWaitMillis = 2_000

/** The state of a call as it passes through the middleware. Each optional field is set by a single middleware. */
export interface At {
  /** Number of attempts made. `failures` contains those that failed with an error since the last restart. */
  readonly attempt: number
  readonly failures: ReadonlyArray<Failure>
  /** Name of the call on accounts. Undefined if the run has neither a shared account nor a journal. */
  readonly name?: string
  /** The call's journal slot, and the handle under which the vendor can deliver this answer again. Set by `replay`. */
  readonly slot?: Slot
  readonly handle?: string | undefined
  /**
   * An answer that an earlier process found in the cache, with the time of the lookup. Set by `replay` and used by
   * `cache`.
   */
  readonly cached?: { readonly entry: Entry; readonly since: number }
  /** Called with a cache hit. Set by `replay` and called by `cache`. */
  readonly onCached?: (at: At, entry: Entry) => void
  /**
   * Hash of the call's content, and the start of its first attempt. Set if a middleware needs to measure the time of an
   * answer.
   */
  readonly key?: string
  readonly since?: number
  /**
   * The call's reservations, which are passed to runs started by its worker. Undefined if such runs do not need them.
   */
  readonly reservations?: ReadonlyArray<Reservation>
  /** The slot assigned by the gate, and the listeners for the vendor's rate limits and the first part. Set by `gate`. */
  readonly place?: object | undefined
  readonly onAllowance?: AllowanceListener
  readonly onBegin?: (() => void) | undefined
  /** Stores the handle of an answer. Reading continues only once it has completed. Set by `intent`. */
  readonly onHandle?: (handle: string) => Effect.Effect<void>
  /**
   * Called with an answer before it is charged, so that it is not lost if the process ends while an account stores the
   * charge. Set by `replay`. Further calls for an attempt have no effect.
   */
  readonly onAnswered?: (attempt: number, answered: Answered) => void
  /** State of the current attempt. */
  readonly received: Received
  /**
   * Called in the same tick in which an attempt is charged. Middleware that must act in that tick wraps this function,
   * which must not wait.
   */
  readonly settled: (ask: Ask, at: At, end: Settled) => void
}

/** A complete answer with its cost to the run. */
export interface Answered extends Entry, Paid, AnswerSource {
  readonly usage: Paid["usage"]
  /** Additional time to count for a cache hit that is charged, in milliseconds. 0 otherwise. */
  readonly addedMillis: number
}

/** Returns the part of an answer that a cache stores: its usage, but not its cost. */
export const entryOf = ({ addedMillis: _, cached: __, costUsd: ___, origin: ____, ...entry }: Answered): Entry => entry

/** The end of an attempt: an answer, an error, or, if neither is set, an interruption. */
export interface Settled {
  readonly answered?: Answered
  readonly error?: WorkerError | undefined
  /** How the error affects the call. Set by `retry`. */
  readonly failure?: Failure
  /** Undefined if the worker was not called. */
  readonly paid?: Paid | undefined
}

/** The context that a run passes to its rounds, steps and nested runs. */
export interface CallContext extends CallRun, Accounts {
  readonly call: (ask: Ask) => Effect.Effect<Answered, CallError>
  /** Failures of the run and its nested runs. */
  readonly failures: Array<StepFailure>
  /** Calls and verdicts recorded by an earlier process, if a transcript was given. */
  readonly recorded: Recorded | undefined
  /** Undefined if the run has no journal. */
  readonly recording: Recording | undefined
  /** Looks up the numbers of recorded calls. Undefined if there are no recorded calls. */
  readonly recalled: Recalled | undefined
  readonly gate: Gate | undefined
  readonly cache: ResponseCache | undefined
}

export type CallError = WorkerError | BudgetExceeded
export type Call = (ask: Ask, at: At) => Effect.Effect<Answered, CallError>
export type CallMiddleware = (next: Call) => Call

/** Wraps a function in middleware. The first middleware is the outermost; `undefined` elements are skipped. */
export const compose = <A>(middleware: ReadonlyArray<((next: A) => A) | undefined>, innermost: A): A =>
  middleware.reduceRight((next, one) => (one === undefined ? next : one(next)), innermost)

// -------------------------------------------------------------------------------------------------------------------
// The way in
// -------------------------------------------------------------------------------------------------------------------

const noFailures: ReadonlyArray<Failure> = []
const untouched = nothingYet()

/** Starts a new attempt of a call. */
export const attempted = (at: At, settled: At["settled"]): At => ({ ...at, received: nothingYet(), settled })

/**
 * Returns a function that makes calls through the run's middleware. Each attempt charged to the run is reported exactly
 * once, in the same tick: as `call-failed`, as `call-interrupted`, or, for an answer, by the caller's own event.
 */
export const calling = (run: CallRun, call: Call): ((ask: Ask) => Effect.Effect<Answered, CallError>) => {
  const { counts, runId } = run
  const settled: At["settled"] = (ask, at, end) => report(run, ask, at, end)
  const first: At = { attempt: 0, failures: noFailures, received: untouched, settled }
  if (counts === undefined) return (ask) => call(ask, first)
  return (ask) => Effect.suspend(() => call(ask, { ...first, name: numbered(runId, counts, ask) }))
}

// -------------------------------------------------------------------------------------------------------------------
// The meter
// -------------------------------------------------------------------------------------------------------------------

/** Adds the duration and the earlier failures to an answer, if a middleware needs them. */
const timed = ({ clock }: CallRun, { failures, since }: At, answered: Answered): Answered => {
  if (since === undefined) return answered
  const durationMillis = millisSince(clock, since)
  return failures.length === 0 ? { ...answered, durationMillis } : { ...answered, durationMillis, failures }
}

/**
 * Charges each attempt: reserves its worst case, settles it, and reports its end in the same tick. An attempt halted by
 * another account or by the run's journal is closed without a report, because it provides no evidence about the worker.
 */
export const meter =
  (run: CallRun): CallMiddleware =>
  (next) =>
  (ask, at) => {
    const { ledger } = run
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMapEager(reserve(ledger, ask, at), (own) =>
        Effect.matchCauseEffect(restore(next(ask, run.isCarried ? { ...at, reservations: [own] } : at)), {
          onSuccess: (given) => {
            const paid: Paid = { usage: given.usage, costUsd: given.costUsd }
            at.onAnswered?.(at.attempt, given)
            return Effect.mapEager(settleUnsafe(ledger, own, paid), () => {
              const answered = timed(run, at, given)
              at.settled(ask, at, { answered, paid })
              return answered
            })
          },
          onFailure: (cause) =>
            withErrorOf(ask.worker, cause, (error) => {
              const { received } = at
              const paid = paidOf(run, ask, at, error)
              const closed = paid === undefined ? ledger.release(own) : ledger.settle(own, paid)
              return Effect.flatMap(closed, () => {
                if (!received.isHalted) at.settled(ask, at, { error, paid })
                return Effect.failCause(cause)
              })
            })
        })
      )
    )
  }

// -------------------------------------------------------------------------------------------------------------------
// The worker
// -------------------------------------------------------------------------------------------------------------------

/** Sends the request to the worker. */
export const send = (run: CallRun, timeoutMillis: number | undefined, silence: Silence): Call => {
  const { clock, isCarried, isLimited, runId } = run
  const usual = { clock, timeoutMillis, silence, isLimited }
  return (ask, at) =>
    Effect.suspend(() => {
      const { by, item, step, worker } = ask
      const limits = ask.timeoutMillis === undefined ? usual : { ...usual, timeoutMillis: ask.timeoutMillis }
      at.received.isSent = true
      const received = receive(ask, at.received, limits, at)
      const asked = within(run, { type: "call", runId, by, step, item, worker: worker.id }, received)
      return isCarried ? Effect.provideService(asked, Caller, callerOf(run, at)) : asked
    })
}

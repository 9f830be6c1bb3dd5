/**
 * The core of a call: the request, its stages, and the one place where it is charged.
 *
 * A call is a stack of middleware around `send`. A middleware gets the next function and may change the request, call
 * it more than once, or answer by itself. This module knows no features: `pipeline.ts` defines which middleware a run
 * has, and in which order.
 *
 * Two functions cannot be middleware. `meter` reserves, settles and reports usage in one uninterruptible tick. `send`
 * is the only place that runs a worker's `generate`.
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { millisSince } from "../Elapsed.ts"
import type { Emit, Item } from "../events/RunEvent.ts"
import type { StepFailure } from "../events/StepFailure.ts"
import type { Recorded } from "../journal/RecordedRun.ts"
import type { Ledger, Reservation } from "../run/Budget.ts"
import { Caller, callerOf } from "../run/Caller.ts"
import { within } from "../run/carried.ts"
import type { Recording, Slot } from "../run/Recording.ts"
import type { Gate } from "../run/Resilience.ts"
import type { Entry, Failure, ResponseCache } from "../run/ResponseCache.ts"
import { withErrorOf } from "../task/thrown.ts"
import { type BudgetExceeded, cost, type Paid } from "../task/Usage.ts"
import type { Worker, WorkerError, WorkerRequest } from "../task/Worker.ts"
import type { ActiveSpans } from "../telemetry/ActiveSpans.ts"
import { type Accounts, attemptName, boundOn, numbered, occurrenceOf, paidOf, priced } from "./accounts.ts"
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

/** State that the calls of one run share. */
export interface CallRun {
  readonly runId: string
  readonly clock: Clock.Clock
  readonly emit: Emit | undefined
  /** The run's own budget. */
  readonly ledger: Ledger
  /** Whether an account of the run has a limit, so that calls must reserve their worst case. */
  readonly isLimited: () => boolean
  /** Whether the run shares an account. Calls on a shared account need names. */
  readonly isShared: boolean
  /**
   * The number of calls per place, from which calls are named on accounts. Absent if the journal names them, or if no
   * account is shared.
   */
  readonly counts: Map<string, number> | undefined
  /** The spans of the run, if it has any. */
  readonly spans: ActiveSpans | undefined
  /** The call that started the run, if an account pays for that call. */
  readonly caller: Caller | undefined
  /** Whether runs that its workers start need the enclosing call. */
  readonly isCarried: boolean
  /** Whether it only replays the record of an earlier process. Calls beyond the record are interrupted. */
  readonly isReplayed: boolean
}

/**
 * A request to a worker. `sample` distinguishes calls that repeat a request on purpose. It depends only on the seed.
 */
export interface Ask {
  readonly worker: Worker
  readonly request: WorkerRequest
  readonly sample: number
  readonly round: number
  /** Absent for calls of the policy and of a critic. */
  readonly step?: number | undefined
  /** The item of the step, if it runs for items. */
  readonly item?: Item | undefined
  /** Whether the call is only replayed from its record, as in {@link CallRun}. */
  readonly isReplayed?: boolean | undefined
  /** The caller. In the call's address it replaces the step if the call belongs to no step. */
  readonly by: "policy" | "step" | "critic" | "check"
  /**
   * The index of the call among the calls of its step, the step's checks, or the round's policy or critic. Failed
   * attempts have the index of their call.
   */
  readonly turn: number
  /** Whether it is known that no earlier process made the call. */
  readonly isNew?: boolean | undefined
  /** Its time limit in milliseconds, instead of the run's. */
  readonly timeoutMillis?: number | undefined
  readonly onDelta?: DeltaListener | undefined
  /** Receives notices about content omitted from the request. */
  readonly onNotice?: ((notice: string) => void) | undefined
  /** Called synchronously when the answer is charged, so that an interruption cannot separate the two. */
  readonly onAnswer: (answered: Answered) => void
}

/** The stage of a call on its way to the worker. Each optional field has one middleware that sets it. */
export interface At {
  /** The number of attempts so far. `failures` counts those that failed with an error since the last restart. */
  readonly attempt: number
  readonly failures: ReadonlyArray<Failure>
  /** The name of the call on accounts. Absent if the run shares no account and has no journal. */
  readonly name?: string
  /** Its address in the journal, and the handle under which the vendor can re-deliver this answer. Set by `replay`. */
  readonly slot?: Slot
  readonly handle?: string | undefined
  /**
   * An answer that an earlier process took from the cache, with the time of the lookup. Set by `replay`, used by
   * `cache`.
   */
  readonly cached?: { readonly entry: Entry; readonly since: number }
  /** Receives an answer from the cache. Set by `replay`, called by `cache`. */
  readonly onCached?: (at: At, entry: Entry) => void
  /** The hash of its content, and the start of its first attempt. Set if a middleware needs the time of an answer. */
  readonly key?: string
  readonly since?: number
  /** The reservations for the call, passed to runs that its worker starts. Absent if such runs do not need them. */
  readonly reservations?: ReadonlyArray<Reservation>
  /** The queue position of the call, and the listener for its rate limits. Set by `gate`. */
  readonly place?: object | undefined
  readonly onAllowance?: AllowanceListener
  /** Stores the handle of an answer. Set by `intent`. Receiving continues only after it has completed. */
  readonly onHandle?: (handle: string) => Effect.Effect<void>
  /** The state of the current attempt. */
  readonly received: Received
  /**
   * Called in the tick in which an attempt is charged. A middleware that must act in the same tick wraps it. It must
   * not wait.
   */
  readonly settled: (ask: Ask, at: At, end: Settled) => void
}

/** A complete answer, and its charge to the run. */
export interface Answered extends Entry, Paid {
  readonly usage: Paid["usage"]
  /** Whether it came from the cache and was free. */
  readonly cached: boolean
  /** The extra time of a cached answer that is charged; 0 otherwise. */
  readonly addedMillis: number
}

/** Returns the part of an answer that a cache stores: its usage, but not its cost. */
export const entryOf = ({ addedMillis: _, cached: __, costUsd: ___, ...entry }: Answered): Entry => entry

/** How an attempt ended: with an answer, with an error, or, if it has neither, by interruption. */
export interface Settled {
  readonly answered?: Answered
  readonly error?: WorkerError | undefined
  /** The consequence of the error for the call: set by `retry`. */
  readonly failure?: Failure
  /** Absent if the worker was not called. */
  readonly paid?: Paid | undefined
}

/** The context that a run passes to its rounds, steps and nested runs. */
export interface CallContext extends CallRun, Accounts {
  readonly call: (ask: Ask) => Effect.Effect<Answered, CallError>
  /** The failures of the run and its nested runs so far. */
  readonly failures: Array<StepFailure>
  /** The calls and verdicts of an earlier process, if a transcript was given. */
  readonly recorded: Recorded | undefined
  /** Absent without a journal. */
  readonly recording: Recording | undefined
  /** The numbers of the recorded calls; absent if nothing is recorded. */
  readonly recalled: Recalled | undefined
  readonly gate: Gate | undefined
  readonly cache: ResponseCache | undefined
}

export type CallError = WorkerError | BudgetExceeded
export type Call = (ask: Ask, at: At) => Effect.Effect<Answered, CallError>
export type CallMiddleware = (next: Call) => Call

/** Wraps a function in middleware. The first middleware is the outermost; absent ones are skipped. */
export const compose = <A>(middleware: ReadonlyArray<((next: A) => A) | undefined>, innermost: A): A =>
  middleware.reduceRight<A>((next, one) => (one === undefined ? next : one(next)), innermost)

// -------------------------------------------------------------------------------------------------------------------
// The way in
// -------------------------------------------------------------------------------------------------------------------

const noFailures: ReadonlyArray<Failure> = []
const untouched = nothingYet()

/** Starts a new attempt of a call. */
export const attempted = (at: At, settled: At["settled"]): At => ({ ...at, received: nothingYet(), settled })

/**
 * Makes the calls of a run through its middleware. Every attempt that is charged to the run has exactly one event,
 * emitted in the same tick: `call-failed`, `call-interrupted`, or the caller's own event for an answer.
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
 * Charges each attempt: reserves its worst case, settles it, and reports its end in the same tick. An attempt that was
 * halted (by another account, or by the run's journal) is closed without a report, because it is not evidence about the
 * worker.
 */
export const meter =
  (run: CallRun): CallMiddleware =>
  (next) =>
  (ask, at) => {
    const { ledger } = run
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        priced(ledger.reserve(boundOn(ledger, ask), attemptName(at), occurrenceOf(at)), ask.worker),
        (own) =>
          Effect.matchCauseEffect(restore(next(ask, run.isCarried ? { ...at, reservations: [own] } : at)), {
            onSuccess: (given) => {
              const paid: Paid = { usage: given.usage, costUsd: given.costUsd }
              return Effect.map(ledger.settle(own, paid), () => {
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

/** Calls the worker. */
export const send = (run: CallRun, timeoutMillis: number | undefined, silence: Silence): Call => {
  const { clock, isCarried, isLimited, runId } = run
  const usual = { clock, timeoutMillis, silence, isLimited }
  return (ask, at) =>
    Effect.suspend(() => {
      const { by, item, step, worker } = ask
      const limits = ask.timeoutMillis === undefined ? usual : { ...usual, timeoutMillis: ask.timeoutMillis }
      at.received.isSent = true
      const received = Effect.map(
        receive(ask, at.received, limits, at),
        (answer): Answered => ({
          ...answer,
          costUsd: cost(worker.pricing, answer.usage),
          cached: false,
          addedMillis: 0
        })
      )
      const asked = within(run, { type: "call", runId, by, step, item, worker: worker.id }, received)
      return isCarried ? Effect.provideService(asked, Caller, callerOf(run, at)) : asked
    })
}

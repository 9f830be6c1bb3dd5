/**
 * The kernel of a call: the request, its stages, and the one place where it is charged.
 *
 * A call is a stack of middleware around `send`. A middleware gets the next function and may change the request, call it
 * more than once, or answer by itself. No feature is named here: `pipeline.ts` states which middleware a run has, and in
 * which order.
 *
 * Two functions cannot be middleware. `meter`: usage is reserved, settled and reported in one tick, which nothing
 * interrupts. `send`: a worker's `generate` is run here and nowhere else.
 */
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { millisSince } from "../Elapsed.ts"
import { placeOf as placeOfStep } from "../events/items.ts"
import type { Emit, Item } from "../events/RunEvent.ts"
import type { StepFailure } from "../events/StepFailure.ts"
import { defined } from "../Fields.ts"
import type { Recorded } from "../journal/RecordedRun.ts"
import type { Ledger, Occurrence, Reservation } from "../run/Budget.ts"
import { Caller } from "../run/Caller.ts"
import { within } from "../run/carried.ts"
import type { Recording, Slot } from "../run/Recording.ts"
import type { Gate } from "../run/Resilience.ts"
import type { Entry, Failure, ResponseCache } from "../run/ResponseCache.ts"
import { isA } from "../Thrown.ts"
import { withThrown } from "../task/thrown.ts"
import { type BudgetExceeded, cost, noUsage, type Paid } from "../task/Usage.ts"
import { type Worker, WorkerError, type WorkerRequest } from "../task/Worker.ts"
import type { ActiveSpans } from "../telemetry/ActiveSpans.ts"
import { type Accounts, boundOn, priced } from "./accounts.ts"
import { usageOf } from "./bounds.ts"
import {
  type AllowanceListener,
  type DeltaListener,
  nothingYet,
  type Received,
  receive,
  type Silence
} from "./receive.ts"

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
  /** Whether an account of the run has a limit, so that a call is held to its worst case. */
  readonly isLimited: () => boolean
  /** Whether the run shares an account, on which its calls need names. */
  readonly isShared: boolean
  /** The number of calls of each place, which names them on accounts. Absent if the journal names them, or no account is shared. */
  readonly counts: Map<string, number> | undefined
  /** The spans of the run, if it has any. */
  readonly spans: ActiveSpans | undefined
  /** The call within which the run was started, if that is paid by an account. */
  readonly caller: Caller | undefined
  /** Whether the runs that its workers start need to know within which call they are. */
  readonly isCarried: boolean
  /** Whether it only reports the record of an earlier process: calls beyond it are interrupted. */
  readonly isReplayed: boolean
}

/** A request to a worker. `sample` distinguishes calls that repeat a request on purpose; it depends on the seed alone. */
export interface Ask {
  readonly worker: Worker
  readonly request: WorkerRequest
  readonly sample: number
  readonly round: number
  /** Absent for calls of the policy and of a critic. */
  readonly step?: number | undefined
  /** The item of the step, if it runs for items. */
  readonly item?: Item | undefined
  /** Whether the call is not made beyond its record, as in {@link CallRun}. */
  readonly isReplayed?: boolean | undefined
  /** The caller. In the call's address it replaces the step if the call belongs to no step. */
  readonly by: "policy" | "step" | "critic" | "check"
  /**
   * The number of the call among those of its step, of the step's checks, or of the round's policy or critic. Failed
   * attempts share it.
   */
  readonly turn: number
  /** Its time limit in milliseconds, instead of the run's. */
  readonly timeoutMillis?: number | undefined
  readonly onDelta?: DeltaListener | undefined
  /** Receives the notices about content left out of the request. */
  readonly onNotice?: ((notice: string) => void) | undefined
  /** Called synchronously when the answer is charged, so that an interruption cannot separate the two. */
  readonly onAnswer: (answered: Answered) => void
}

/** The stage of a call on its way to the worker. Each optional field has one middleware that sets it. */
export interface At {
  /** Counts all attempts; `failures` are those that failed with an error since the last new beginning. */
  readonly attempt: number
  readonly failures: ReadonlyArray<Failure>
  /** The name of the call on accounts. Absent if the run shares no account and has no journal. */
  readonly name?: string
  /** Its address in a journal, and the handle under which the vendor can re-deliver this answer: set by `replay`. */
  readonly slot?: Slot
  readonly handle?: string | undefined
  /** An answer that an earlier process took from the cache, and when it was looked up: set by `replay`, used by `cache`. */
  readonly cached?: { readonly entry: Entry; readonly since: number }
  /** Receives an answer from the cache: set by `replay`, called by `cache`. */
  readonly onCached?: (at: At, entry: Entry) => void
  /** The key of its content, and when its first attempt began: set if a middleware needs an answer with its time. */
  readonly key?: string
  readonly since?: number
  /** The reservations for it, for the runs that its worker starts. Absent if they do not need to know. */
  readonly reservations?: ReadonlyArray<Reservation>
  /** The queue position of the call, and the listener of its limits: set by `gate`. */
  readonly place?: object | undefined
  readonly onAllowance?: AllowanceListener
  /** Stores the handle of an answer: set by `intent`. Nothing more is received until it is done. */
  readonly onHandle?: (handle: string) => Effect.Effect<void>
  /** The state of the current attempt. */
  readonly received: Received
  /**
   * Called in the tick in which an attempt is charged. A middleware that has to act in that tick wraps it; it must not
   * wait.
   */
  readonly settled: (ask: Ask, at: At, end: Settled) => void
}

/** A whole answer, and its charge to the run. */
export interface Answered extends Entry, Paid {
  readonly usage: Paid["usage"]
  /** Whether it was cached and cost nothing. */
  readonly cached: boolean
  /** The extra time of a cached answer that is charged; 0 otherwise. */
  readonly addedMillis: number
}

/** How an attempt ended: with an answer, with an error, or (without either) by an interruption. */
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
  readonly gate: Gate | undefined
  readonly cache: ResponseCache | undefined
}

export type CallError = WorkerError | BudgetExceeded
export type Call = (ask: Ask, at: At) => Effect.Effect<Answered, CallError>
export type CallMiddleware = (next: Call) => Call

/** Puts middleware around a function: the first is the outermost, and absent ones are left out. */
export const compose = <A>(middleware: ReadonlyArray<((next: A) => A) | undefined>, innermost: A): A =>
  middleware.reduceRight<A>((next, one) => (one === undefined ? next : one(next)), innermost)

// -------------------------------------------------------------------------------------------------------------------
// Reports
// -------------------------------------------------------------------------------------------------------------------

/** The payment of a free call. */
export const unpaid: Paid = { usage: noUsage, costUsd: 0 }

/** The detail of the error of a call whose answer was lost with its process, if it is not made again. */
export const lostDetail = "the process that made the call exited before the answer arrived"

/** The name of an attempt on accounts. */
export const attemptName = ({ attempt, name }: Pick<At, "attempt" | "name">): string | undefined =>
  name === undefined ? undefined : `${name}/${attempt}`

/** The caller, as the address of a call has it. */
export const placeName = ({ by, item, step }: Ask): string => {
  const who = step === undefined ? by : placeOfStep(step, item)
  return by === "check" ? `${who} check` : who
}

/** The place of a call that gave no answer, in its events. */
export const placeOf = ({ by, item, round, step, turn, worker }: Ask) => ({
  round,
  step,
  item,
  turn: turn === 0 ? undefined : turn,
  by: by === "check" || by === "critic" ? by : undefined,
  worker: worker.id
})

export const reportFailure = (
  { emit }: CallRun,
  ask: Ask,
  attempt: number,
  { message, reason, retryInMillis, unasked }: Failure,
  paid: Paid,
  chargeId: string | undefined
): void =>
  emit?.({
    ...defined({
      type: "call-failed",
      ...placeOf(ask),
      chargeId,
      attempt,
      reason,
      message,
      retryInMillis,
      unasked
    }),
    ...paid
  })

export const reportInterruption = ({ emit }: CallRun, ask: Ask, paid: Paid, chargeId: string | undefined): void =>
  emit?.({ ...defined({ type: "call-interrupted", ...placeOf(ask), chargeId }), ...paid })

/** Reports the end of an attempt: the caller takes the answer, and everything else is an event. */
const report = (run: CallRun, ask: Ask, at: At, { answered, failure, paid }: Settled): void => {
  if (answered !== undefined) ask.onAnswer(answered)
  else if (failure !== undefined) {
    reportFailure(run, ask, at.failures.length, failure, paid ?? unpaid, attemptName(at))
  } else if (paid !== undefined) reportInterruption(run, ask, paid, attemptName(at))
}

/** The part of an answer that a cache stores: what it used, and not what it cost. */
export const entryOf = ({ addedMillis: _, cached: __, costUsd: ___, ...entry }: Answered): Entry => entry

/** Shows a whole answer as if it were written now. */
export const show = ({ onDelta }: Ask, { reasoning, text }: Entry): void => {
  if (reasoning !== undefined) onDelta?.("reasoning", reasoning)
  onDelta?.("text", text)
}

/**
 * Adds the failure of a call to the failures of its run. Exceeding a limit does not count as a failure of the worker.
 */
export const noteFailure = <A>(
  { failures, runId }: CallContext,
  place: Pick<StepFailure, "by" | "round" | "step"> & { readonly item?: Item | undefined },
  made: Effect.Effect<A, WorkerError | BudgetExceeded>
): Effect.Effect<A, WorkerError | BudgetExceeded> =>
  Effect.tapError(made, (error) =>
    Effect.sync(() => {
      if (error._tag !== "WorkerError") return
      const { message, reason, worker } = error
      failures.push({
        runId,
        ...(defined(place) as Pick<StepFailure, "by" | "round" | "step" | "item">),
        worker,
        reason: reason._tag,
        message
      })
    })
  )

// -------------------------------------------------------------------------------------------------------------------
// The way in
// -------------------------------------------------------------------------------------------------------------------

const noFailures: ReadonlyArray<Failure> = []
const untouched = nothingYet()

/** A new attempt of a call. */
export const attempted = (at: At, settled: At["settled"]): At => ({ ...at, received: nothingYet(), settled })

/** The name of a call of a run without a journal, as a journal would name it. */
const numbered = (runId: string, counts: Map<string, number>, ask: Ask): string => {
  const place = `${runId}/${ask.round}/${placeName(ask)}`
  const count = counts.get(place) ?? 0
  counts.set(place, count + 1)
  return `${place}/${count}`
}

/**
 * Makes the calls of a run through its middleware. Every attempt that is charged to the run has exactly one event, emitted
 * in the tick in which it is charged: `call-failed`, `call-interrupted`, or the caller's own for the answer.
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

/** Continues with the reason why a call failed: `undefined` if it was interrupted. */
export const withErrorOf = <A, E>(
  worker: Worker,
  cause: Cause.Cause<unknown>,
  use: (error: WorkerError | undefined) => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  const failed = cause.reasons.find(Cause.isFailReason)
  if (failed === undefined && Cause.hasInterrupts(cause)) return use(undefined)
  const error = failed === undefined ? cause.reasons.find(Cause.isDieReason)?.defect : failed.error
  if (isA(error, WorkerError)) return use(error)
  return withThrown(({ errorOfThrown }) => use(errorOfThrown(worker.id, error)))
}

/** Returns the usage of an attempt without an answer, or `undefined` if its worker was not called. */
export const paidOf = (
  { isLimited }: CallRun,
  ask: Ask,
  { received }: At,
  error: WorkerError | undefined
): Paid | undefined => {
  if (!received.isSent) return undefined
  const { worker } = ask
  const usage = usageOf(error, ask, received, isLimited())
  return { usage, costUsd: cost(worker.pricing, usage) }
}

/** An answer with its time and the failures before it, if a middleware needs them. */
const timed = ({ clock }: CallRun, { failures, since }: At, answered: Answered): Answered => {
  if (since === undefined) return answered
  const durationMillis = millisSince(clock, since)
  return failures.length === 0 ? { ...answered, durationMillis } : { ...answered, durationMillis, failures }
}

/** How an attempt relates to its name on accounts. */
export const occurrenceOf = ({ handle, slot }: At): Occurrence => {
  if (slot === undefined) return "new"
  return handle === undefined ? "resumed" : "replayed"
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

/**
 * Returns the caller for the runs that the worker starts: without an account and a queue position it is the enclosing
 * call.
 */
const callerOf = ({ caller, isShared }: CallRun, { place, reservations = [] }: At): Caller | undefined =>
  isShared || place !== undefined ? { reservations: isShared ? reservations : [], above: caller, place } : caller

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

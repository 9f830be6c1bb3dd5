/**
 * One metered call of a worker: the only place where a worker's `generate` is run.
 *
 * Response cache, retries, accounts, provider gate and time limit stand here, in this order from the outside in, so
 * that steps, policies and critics are counted, limited and retried alike. A call is charged to the run's own budget
 * and, if there is a payer, to the payer's account: the worst case is reserved on both before the call starts.
 */

import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { notifyLogged, settle } from "../Callback.ts"
import { millisSince, ticks } from "../Elapsed.ts"
import type { Emit } from "../events/RunEvent.ts"
import type { StepFailure } from "../events/StepFailure.ts"
import { defined } from "../Fields.ts"
import type { Recorded } from "../journal/RecordedRun.ts"
import * as Seed from "../Seed.ts"
import { messageOf } from "../Thrown.ts"
import type { ToolCall } from "../task/Message.ts"
import { errorOfThrown } from "../task/thrownError.ts"
import { type BudgetExceeded, checked, cost, noUsage, type Paid, type Usage } from "../task/Usage.ts"
import { CallId, type FinishReason, type Worker, type WorkerError, type WorkerRequest } from "../task/Worker.ts"
import type { ActiveSpans } from "../telemetry/ActiveSpans.ts"
import { boundOn, type Charge, closeAll, isLimited, priced, reserveAtPayer } from "./accounts.ts"
import type { Ledger, Payer, Reservation } from "./Budget.ts"
import { boundsOf, estimateOf, likelyTokens, usageOf } from "./bounds.ts"
import { Caller, placesOf } from "./Caller.ts"
import { within } from "./carried.ts"
import { fitted } from "./fitted.ts"
import type { Recording } from "./Recording.ts"
import { delay, type Gate, type Retry } from "./Resilience.ts"
import type { Failure } from "./ResponseCache.ts"
import * as ResponseCache from "./ResponseCache.ts"
import type { RunSettings } from "./RunSettings.ts"
import { type AllowanceListener, type DeltaListener, nothingYet, receive, type Silence, timeout } from "./receive.ts"
import {
  askedOf,
  attemptName,
  type Beginning,
  inJournal,
  intend,
  type Numbered,
  nameOf,
  note,
  placeOf,
  replay,
  retire,
  unpaid
} from "./replayed.ts"

/** What the calls of one run share. */
export interface CallContext {
  /** The run's own budget. */
  readonly ledger: Ledger
  /** The account that pays for calls that are made, if it is not the run's own. */
  readonly payer: Payer | undefined
  /** Whether an answer from the cache costs the run nothing, or what it cost when it was made. */
  readonly found: "free" | "as-made"
  readonly clock: Clock.Clock
  readonly emit: Emit | undefined
  readonly retry: Retry
  /** Spreads the retries of runs that have no seed. */
  readonly salt: string
  readonly gate: Gate | undefined
  readonly cache: ResponseCache.ResponseCache | undefined
  readonly timeoutMillis: number | undefined
  readonly silence: Silence
  /** What the run has already got, where a transcript tells of it: what the journal has comes first. */
  readonly recorded: Recorded | undefined
  /** The run, as the journal has it. */
  readonly runId: string
  /** Absent without a journal. */
  readonly recording: Recording | undefined
  /** What becomes of a call whose answer was lost with its process. */
  readonly onDoubt: RunSettings["onDoubt"]
  /** The spans of the run, if it has some. */
  readonly spans: ActiveSpans | undefined
  /** The failures of the run and its nested runs so far. */
  readonly failures: Array<StepFailure>
  /** How many calls each place has made, which names them on accounts. Absent if the run shares no account. */
  readonly counts: Map<string, number> | undefined
  /** The call within which the run was started, if that is paid by an account. */
  readonly caller: Caller | undefined
  /** Whether the runs that its workers start are to know within which call they are. */
  readonly isCarried: boolean
}

/**
 * One call. `sample` distinguishes calls that repeat a request on purpose; it is the same in every run with one seed.
 */
export interface Call {
  readonly worker: Worker
  readonly request: WorkerRequest
  readonly sample: number
  readonly round: number
  /** Absent when the call is the policy's own, or a critic's. */
  readonly step?: number | undefined
  /** Who asks. In the call's address it takes the place of a step that there is not. */
  readonly by: "policy" | "step" | "critic" | "check"
  /**
   * The number of the call among those of its step, of the step's checks, or of the round's policy or critic. Failed
   * attempts share it.
   */
  readonly turn: number
  readonly onDelta?: DeltaListener | undefined
  /** Takes what was left out of the request. */
  readonly onNotice?: ((notice: string) => void) | undefined
  /** Takes the answer in the turn in which it is charged: no interruption can come between. */
  readonly onAnswer: (answered: Answered) => void
}

/** A whole answer, and what the run was charged for it. */
export interface Answered extends Paid {
  readonly text: string
  readonly reasoning?: string | undefined
  readonly finishReason: FinishReason
  readonly toolCalls?: ReadonlyArray<ToolCall> | undefined
  readonly echo?: unknown
  readonly model?: string | undefined
  /** Whether it was found and cost nothing. */
  readonly cached: boolean
  /** The extra time of a cached answer that is charged as made; 0 otherwise. */
  readonly addedMillis: number
}

const paidFor = ({ worker }: Call, usage: Usage): Paid => ({ usage, costUsd: cost(worker.pricing, usage) })

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Why a call failed; `undefined` for one that was interrupted. */
const errorOf = (worker: Worker, cause: Cause.Cause<unknown>): WorkerError | undefined => {
  const failed = cause.reasons.find(Cause.isFailReason)
  if (failed !== undefined) return errorOfThrown(worker.id, failed.error)
  if (Cause.hasInterrupts(cause)) return undefined
  return errorOfThrown(worker.id, cause.reasons.find(Cause.isDieReason)?.defect)
}

// -------------------------------------------------------------------------------------------------------------------
// Calls that are made
// -------------------------------------------------------------------------------------------------------------------

/** How an attempt ended: with an answer, with an error, or (without either) by an interruption. */
interface Ended {
  readonly answer?: ResponseCache.Answer | undefined
  readonly error?: WorkerError | undefined
  /** What it was charged; `undefined` when the worker was not asked. */
  readonly paid: Paid | undefined
}

const limitTime = <A>(
  effect: Effect.Effect<A, WorkerError>,
  worker: Worker,
  timeoutMillis: number | undefined
): Effect.Effect<A, WorkerError> =>
  timeoutMillis === undefined
    ? effect
    : Effect.timeoutOrElse(effect, {
        duration: timeoutMillis,
        orElse: () => Effect.fail(timeout(worker, timeoutMillis))
      })

/**
 * Calls the worker once: reserves the worst case, waits at the gate, receives the answer, settles. `onEnd` is called in
 * the turn in which it settles, so that nothing is charged that nobody hears of.
 */
const attempt = (
  context: CallContext,
  call: Call,
  place: Numbered | undefined,
  charge: Charge,
  onEnd: (ended: Ended) => void
): Effect.Effect<ResponseCache.Answer, WorkerError | BudgetExceeded> => {
  const { gate, isCarried, ledger, payer, timeoutMillis } = context
  const { worker } = call
  return Effect.uninterruptibleMask((restore) => {
    const use = (own: Reservation, payers?: Reservation) => {
      const received = nothingYet()
      let started = false
      const send = (onAllowance: AllowanceListener, gatePlace?: object) =>
        Effect.suspend(() => {
          started = true
          const { by, step } = call
          const part = { type: "call", runId: context.runId, by, step, worker: worker.id } as const
          const sent = receive(place === undefined ? call : inJournal(call, place), received, context, onAllowance)
          const asked = within(context, part, sent)
          const named = place === undefined ? asked : Effect.provideService(asked, CallId, nameOf(place))
          return isCarried ? Effect.provideService(named, Caller, callerOf(context, gatePlace, own, payers)) : named
        })
      const open = (onAllowance: AllowanceListener, gatePlace?: object) => {
        const sent = send(onAllowance, gatePlace)
        const isNew = place !== undefined && place.handle === undefined
        return limitTime(isNew ? Effect.andThen(intend(place, call), sent) : sent, worker, timeoutMillis)
      }
      const entered =
        gate === undefined
          ? open(ignoreAllowance)
          : settle(() => gate.enter(worker, likelyTokens(call), open, placesOf(context.caller)))
      return Effect.onExit(restore(entered), (exit) =>
        Effect.suspend(() => {
          const answer = Exit.isSuccess(exit) ? exit.value : undefined
          const isBroken = context.recording?.broken() !== undefined
          const error = Exit.isSuccess(exit) || (isBroken && !started) ? undefined : errorOf(worker, exit.cause)
          const paid = started
            ? paidFor(call, answer?.usage ?? usageOf(error, call, received, isLimited(context)))
            : undefined
          return Effect.map(closeAll(context, own, payers, paid), () => onEnd({ answer, error, paid }))
        })
      )
    }
    return Effect.flatMap(
      priced(ledger.reserve(boundOn(ledger, call), charge.name, charge.occurrence), worker),
      (own) => {
        if (payer === undefined) return use(own)
        // Waiting here cannot deadlock: it waits only for calls under way, which hold all that they need.
        const waitsHere: Caller = { reservations: [own], above: context.caller, isWaiting: true }
        const reserved = Effect.onError(reserveAtPayer(payer, call, charge, waitsHere), () => ledger.release(own))
        return Effect.flatMap(reserved, (payers) => use(own, payers))
      }
    )
  })
}

/** A call of a run, for the runs that its worker starts: without an account and a place at a gate it is the one around it. */
const callerOf = (
  { caller, counts }: CallContext,
  place: object | undefined,
  own: Reservation,
  payers: Reservation | undefined
): Caller | undefined => {
  if (counts === undefined && place === undefined) return caller
  const reservations = counts === undefined ? [] : payers === undefined ? [own] : [own, payers]
  return { reservations, above: caller, place }
}

const ignoreAllowance: AllowanceListener = () => {}

const tellFailure = (
  context: CallContext,
  call: Call,
  attempt: number,
  failure: Failure,
  paid: Paid,
  chargeId: string | undefined
) =>
  context.emit?.({
    ...defined({
      type: "call-failed",
      ...placeOf(call),
      chargeId,
      attempt,
      reason: failure.reason,
      message: failure.message,
      retryInMillis: failure.retryInMillis,
      unasked: failure.unasked
    }),
    ...paid
  })

const tellInterruption = ({ emit }: CallContext, call: Call, paid: Paid, chargeId: string | undefined) =>
  emit?.({ ...defined({ type: "call-interrupted", ...placeOf(call), chargeId }), ...paid })

const fromTheStart: Beginning = { attempt: 0, failures: [] }

/**
 * Calls a worker until it answers or no retry can help. The payer's `onPaid` is called for every attempt that was paid
 * for, and with the answer before anybody gets it.
 */
const make = (
  context: CallContext,
  call: Call,
  key: string | undefined,
  { attempt: first, failures: before, handle, name, slot }: Beginning = fromTheStart
): Effect.Effect<ResponseCache.Entry, WorkerError | BudgetExceeded> => {
  const { clock, payer } = context
  const since = key === undefined ? 0 : ticks(clock)

  const tryFrom = (
    number: number,
    failures: ReadonlyArray<Failure>
  ): Effect.Effect<ResponseCache.Entry, WorkerError | BudgetExceeded> => {
    const at = slot && { ...slot, attempt: number, handle: number === first ? handle : undefined }
    const charge: Charge = {
      name: attemptName(name, number),
      occurrence: at === undefined ? "new" : at.handle === undefined ? "resumed" : "replayed"
    }
    let entry: ResponseCache.Entry | undefined
    let failed: { readonly error: WorkerError; readonly failure: Failure } | undefined

    const onEnd = (ended: Ended) => {
      const { answer, error, paid } = ended
      const known = error && failureOf(context, call, failures.length, error, paid)
      // Whose answer cannot be asked for again is asked anew.
      const failure = known && at?.handle !== undefined ? { ...known, retryInMillis: known.retryInMillis ?? 0 } : known
      if (at !== undefined) note(at, ended, failure, paid !== undefined)
      if (answer !== undefined) {
        entry = key === undefined ? answer : entryOf(answer, millisSince(clock, since), failures)
        giveAnswer(context, call, key, entry, paid!)
        return
      }
      if (paid !== undefined) notifyLogged("onPaid", () => payer?.onPaid?.(paid))
      if (failure !== undefined) tellFailure(context, call, failures.length, failure, paid ?? unpaid, charge.name)
      else if (paid !== undefined) tellInterruption(context, call, paid, charge.name)
      if (failure !== undefined) failed = { error: error!, failure }
    }

    return Effect.matchCauseEffect(attempt(context, call, at, charge, onEnd), {
      onSuccess: (answer) => Effect.succeed(entry ?? answer),
      onFailure: (cause) => {
        if (failed === undefined || Cause.hasInterrupts(cause)) return Effect.failCause(cause)
        const { error, failure } = failed
        return failure.retryInMillis === undefined
          ? Effect.fail(error)
          : Effect.andThen(Effect.sleep(failure.retryInMillis), tryFrom(number + 1, [...failures, failure]))
      }
    })
  }
  return tryFrom(first, before)
}

const entryOf = (
  answer: ResponseCache.Answer,
  durationMillis: number,
  failures: ReadonlyArray<Failure>
): ResponseCache.Entry => ({ ...answer, durationMillis, failures: failures.length === 0 ? undefined : failures })

/** Gives an answer to the payer, and then to the caller, even where the payer's function throws. */
const giveAnswer = (
  { payer }: CallContext,
  call: Call,
  key: string | undefined,
  entry: ResponseCache.Entry,
  paid: Paid
) => {
  notifyLogged("onPaid", () => payer?.onPaid?.(key === undefined ? paid : { ...paid, answered: { key, entry } }))
  call.onAnswer(answered(entry, paid.costUsd, false, 0))
}

const failureOf = (
  context: CallContext,
  call: Call,
  attempt: number,
  { message, reason }: WorkerError,
  paid: Paid | undefined
): Failure => ({
  reason,
  message,
  usage: paid?.usage ?? noUsage,
  retryInMillis: delay(context.retry, { attempt, reason, seed: Seed.derive(call.sample, context.salt) }),
  unasked: paid === undefined ? true : undefined
})

// -------------------------------------------------------------------------------------------------------------------
// Answers that are found
// -------------------------------------------------------------------------------------------------------------------

/**
 * Charges only the run, as if the call were made now, and tells it in the same turn. By its name an account that outlives
 * its process charges it once, however often the run is gone on with.
 */
const charge = (
  { ledger }: CallContext,
  call: Call,
  name: string | undefined,
  usage: Usage,
  tell: (paid: Paid) => void
): Effect.Effect<void, BudgetExceeded> =>
  Effect.uninterruptible(
    Effect.flatMap(ledger.reserve(boundOn(ledger, call), name), (reservation) => {
      const paid = paidFor(call, usage)
      return Effect.map(ledger.settle(reservation, paid), () => tell(paid))
    })
  )

/** Shows a whole answer as if it were written now. */
const show = ({ onDelta }: Call, { reasoning, text }: ResponseCache.Entry) => {
  if (reasoning !== undefined) onDelta?.("reasoning", reasoning)
  onDelta?.("text", text)
}

/** A cached answer for the run: free, or charged as if it were made now, with its time and the failures before it. */
const take = (
  context: CallContext,
  call: Call,
  entry: ResponseCache.Entry,
  { attempt, name }: Pick<Beginning, "attempt" | "name">,
  since: number
): Effect.Effect<void, BudgetExceeded> => {
  const { clock, found } = context
  const { durationMillis, failures = [], text } = entry
  if (found === "free") {
    return Effect.sync(() => {
      show(call, entry)
      call.onAnswer(answered({ ...entry, usage: noUsage }, 0, true, 0))
    })
  }
  // What a cache holds was written by others, or long ago: its usage is checked like that of a new answer.
  const bounds = boundsOf(call, isLimited(context), text)
  const credible = (usage: Usage) => checked(usage, () => estimateOf(call, text), { ...bounds, isSome: false })
  // Named as if the calls were made now: a transcript does not say that they were not.
  const again = Effect.forEach(
    failures,
    (failure, number) => {
      const charged = attemptName(name, attempt + number)
      return failure.unasked === true
        ? Effect.sync(() => tellFailure(context, call, number, failure, unpaid, charged))
        : charge(context, call, charged, credible(failure.usage), (paid) =>
            tellFailure(context, call, number, failure, paid, charged)
          )
    },
    { discard: true }
  )
  const usage = credible(entry.usage)
  const answer = charge(context, call, attemptName(name, attempt + failures.length), usage, ({ costUsd }) => {
    show(call, entry)
    const addedMillis = durationMillis === undefined ? 0 : durationMillis - millisSince(clock, since)
    call.onAnswer(answered({ ...entry, usage }, costUsd, false, addedMillis))
  })
  return Effect.andThen(again, answer)
}

/** Gives an answer that the run has paid for before, with the time that it took. */
const giveAgain = (
  { clock }: CallContext,
  call: Call,
  entry: ResponseCache.Entry,
  costUsd: number | undefined,
  since: number
) => {
  const { durationMillis } = entry
  show(call, entry)
  const addedMillis = durationMillis === undefined ? 0 : durationMillis - millisSince(clock, since)
  call.onAnswer(answered(entry, costUsd, false, addedMillis))
}

// -------------------------------------------------------------------------------------------------------------------
// Call
// -------------------------------------------------------------------------------------------------------------------

/**
 * Gets a worker's answer: from the cache, or by calling it until it answers or no retry can help. Every attempt that is
 * charged to the run has exactly one event, emitted in the turn in which it is charged: `call-failed`,
 * `call-interrupted`, or the caller's own for the answer, which `onAnswer` emits.
 */
export const call = (context: CallContext, asked: Call): Effect.Effect<unknown, WorkerError | BudgetExceeded> => {
  const { counts, recorded, recording } = context
  const call = fitted(asked, context)
  if (recorded === undefined && recording === undefined && counts === undefined)
    return look(context, call, fromTheStart)
  return Effect.suspend(() => {
    const { by, round, step, turn, worker } = call
    const slot = recording?.slot(context.runId, round, placeName(call), askedOf(call, asked.request))
    const name = slot?.call ?? numbered(context, call)
    const written = slot?.past ?? []
    const address = { by, round, step, turn, worker: worker.id }
    // A journal knows more than the transcript that is made of it: which attempts are made again.
    const before = slot?.isWhole === true ? undefined : recorded
    const past =
      written.length === 0 ? (before?.attempts(address, slot === undefined ? name : undefined) ?? []) : written
    const retired = slot?.isWhole === true ? slot.retired : (before?.retired(address) ?? [])
    if (past.length === 0 && retired.length === 0) return look(context, call, { slot, name, attempt: 0, failures: [] })
    const since = ticks(context.clock)
    const replayed = replay(context, call, past, slot, name, {
      make: (beginning) => look(context, call, beginning),
      take: (entry, attempt) => take(context, call, entry, { name, attempt }, since),
      answer: (entry, costUsd) => giveAgain(context, call, entry, costUsd, since),
      tellFailure: (number, failure, paid, chargeId) => tellFailure(context, call, number, failure, paid, chargeId),
      tellInterruption: (paid, chargeId) => tellInterruption(context, call, paid, chargeId)
    })
    return retired.length === 0 ? replayed : Effect.andThen(retire(context, retired), replayed)
  })
}

/** Names a call of a run without a journal as a journal would. */
const numbered = ({ counts, runId }: CallContext, call: Call): string | undefined => {
  if (counts === undefined) return undefined
  const place = `${runId}/${call.round}/${placeName(call)}`
  const count = counts.get(place) ?? 0
  counts.set(place, count + 1)
  return `${place}/${count}`
}

/** Who asks, as the address of a call has it. */
const placeName = ({ by, step }: Call): string => (by === "check" ? `${step} check` : `${step ?? by}`)

/** Looks a call up; a cache of a user that fails by itself has no answer. */
const looked = <E>(
  cache: ResponseCache.ResponseCache,
  key: string,
  compute: Effect.Effect<ResponseCache.Entry, E>
): Effect.Effect<ResponseCache.Found, E> => {
  let isComputed = false
  const once = Effect.suspend(() => {
    isComputed = true
    return compute
  })
  return Effect.catchCause(
    settle<ResponseCache.Found, E>(() => cache.lookup(key, once)),
    (cause) =>
      isComputed || Cause.hasInterrupts(cause)
        ? Effect.failCause(cause)
        : Effect.andThen(
            Effect.logWarning(`The response cache failed, and the call is made: ${messageOf(Cause.squash(cause))}`),
            Effect.map(compute, (value) => ({ value, cached: false }))
          )
  )
}

/** Looks a call up in the response cache, or makes it. */
const look = (
  context: CallContext,
  call: Call,
  beginning: Beginning
): Effect.Effect<unknown, WorkerError | BudgetExceeded> => {
  const { clock, payer } = context
  const isKept = call.worker.isCacheable !== false
  const cache = isKept ? context.cache : undefined
  const key =
    isKept && (cache !== undefined || payer?.onPaid !== undefined)
      ? ResponseCache.key(call.worker, call.request, call.sample)
      : undefined
  if (cache === undefined || key === undefined) return make(context, call, key, beginning)
  const since = ticks(clock)
  const compute = Effect.suspend(() => make(context, call, key, beginning))
  return Effect.flatMap(looked(cache, key, compute), ({ cached, value }) => {
    if (!cached) return Effect.void
    const { attempt, slot } = beginning
    if (slot !== undefined) {
      const { call: id, hash, recording } = slot
      recording.note({ type: "found", call: id, attempt, hash, answer: value })
    }
    return take(context, call, value, beginning, since)
  })
}

const answered = (
  { echo, finishReason, model, reasoning, text, toolCalls, usage }: ResponseCache.Entry,
  costUsd: number | undefined,
  cached: boolean,
  addedMillis: number
): Answered => ({ text, reasoning, finishReason, toolCalls, echo, model, usage, costUsd, cached, addedMillis })

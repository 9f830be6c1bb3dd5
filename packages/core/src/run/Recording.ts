/**
 * Writes a run's entries to its journal and replays them when the run is resumed.
 *
 * Calls are looked up by their position in the run, and events by their subject. Recorded events are emitted unchanged;
 * new events are written to the journal. An intent is durable before its call is sent. All earlier entries are durable
 * before the next intent, so an answer is stored before any call that depends on it is sent.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { called, settle, settleUnsafe } from "../Callback.ts"
import { inPlace, placeOf as stepPlace } from "../events/items.ts"
import { type Ending, isTransient, isWithoutCall, type Listener, type Of, type RunEvent } from "../events/RunEvent.ts"
import { fromEvents, type Transcript } from "../events/Transcript.ts"
import { defined } from "../Fields.ts"
import { heading } from "../journal/HeadRecorder.ts"
import * as Journal from "../journal/Journal.ts"
import type { Known, Outcome } from "../journal/RecordedRun.ts"
import { type CallEvent, placeOf, type Retired, type Superseded, supersededIn } from "../journal/Superseded.ts"
import { messageOf } from "../Thrown.ts"
import type { Paid } from "../task/Usage.ts"
import * as Warning from "../Warning.ts"
import { FreeNumbers } from "./FreeNumbers.ts"
import { fingerprint } from "./fingerprint.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A call's position in the journal, with the recorded attempts for that call. */
export interface Slot {
  readonly recording: Recording
  readonly call: string
  readonly hash: string
  readonly past: ReadonlyArray<Known>
  /** Failed attempts recorded for this position. They are charged and reported before the call is retried. */
  readonly retired: ReadonlyArray<Retired>
  /**
   * Whether the journal contained the run before this process opened it. If so, it takes precedence over any
   * transcript.
   */
  readonly isWhole: boolean
}

/** The error that prevents a run from continuing with its journal. */
export type Broken = Journal.JournalError | Journal.JournalMismatch

/** Limits on plans. A recorded plan may use them in full, so a resumed run needs them again. */
export type PlanLimits = Pick<Journal.Begun, "maxItems" | "maxSteps">

/** Gives a run in progress access to its journal. */
export interface Recording {
  /** Names of the tools that the run was started with. They stay visible to the policy after each resume. */
  readonly tools: ReadonlyArray<string>
  /** Limits on plans that the run was started with. */
  readonly limits: PlanLimits
  /**
   * Returns the slot for a caller's next call in a round. The caller is a step, the policy or a critic. A slot contains
   * the first unused recorded call with the same request, regardless of order. If no request matches and the call is
   * not new, the slot contains the next recorded call, so that changed requests are detected.
   */
  readonly slot: (run: string, round: number, by: string, asked: string, isNew: boolean) => Slot
  /** Returns a caller's recorded calls in a round. Undefined for a new run. */
  readonly recalled: ((run: string, round: number, by: string) => RecalledCalls) | undefined
  /** Writes an intent when it is called, and waits until it is durable. If the journal fails, calls `halt` and dies. */
  readonly intend: (
    entry: Extract<Journal.CallEntry, { readonly type: "intent" }>,
    halt: () => void
  ) => Effect.Effect<void>
  /** Waits until all entries written up to now are durable. Dies if the journal fails. */
  readonly saved: Effect.Effect<void>
  /** Writes an entry without waiting. It becomes durable before any later intent. */
  readonly note: (entry: Journal.CallEntry) => void
  /** Aborts the run because its requests differ from those recorded. */
  readonly mismatch: (call: string, detail: string) => Effect.Effect<never>
  /** Receives the events of the run and its nested runs. */
  readonly listener: Listener
  /** Returns the number of steps of a round reported since the run was resumed, or `undefined` for any other round. */
  readonly stepsOf: (run: string, round: number) => number | undefined
  /**
   * Returns failed attempts of retried calls at positions that the run never reached. Each failure is returned once.
   */
  readonly unreported: () => ReadonlyArray<Retired>
  /** Returns the recorded attempts that were paid for and that the run has not charged since it was resumed. */
  readonly uncharged: () => ReadonlyArray<Uncharged>
  /** Marks a recorded attempt as charged. Attempts without an answer are marked by the event that reports them. */
  readonly markCharged: (name: string) => void
  /** Payments recorded before the run was resumed. If the actual cost of a call is unknown, its worst case is used. */
  readonly paid: ReadonlyArray<Paid>
  /** Returns the error that prevents the run from continuing, if any. */
  readonly broken: () => Broken | undefined
  /**
   * Flushes pending entries, reports the end to the journal, and releases the run. A run that finished is never
   * restarted; a run that was stopped, or whose journal failed, can be resumed.
   */
  readonly end: Effect.Effect<void>
}

/** A caller's recorded calls. */
export interface RecalledCalls {
  readonly count: number
  /**
   * Whether a recorded call that has not been repeated yet has this request. `isNext`: whether the next call's recorded
   * request may be unknown.
   */
  readonly has: (asked: string, isNext: boolean) => boolean
}

/** A recorded attempt that the resumed run did not reach, with the event that reports its payment. */
export interface Uncharged extends Retired {
  readonly call: string
  readonly attempt: number
  /** Undefined if the attempt was in flight when its process ended. */
  readonly outcome: Outcome["type"] | undefined
}

/** The state of a run found in its journal. */
export type Opened =
  | { readonly _tag: "Going"; readonly recording: Recording; readonly before: Transcript | undefined }
  /** The run has already finished. */
  | { readonly _tag: "Ended"; readonly events: ReadonlyArray<RunEvent> }

// -------------------------------------------------------------------------------------------------------------------
// Recorded state
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the subject of an event. Events with the same subject are replayed in the order in which they were written.
 */
const nameOf = (event: RunEvent): string => {
  const { by, index, item, round, step, turn } = event as object as Readonly<Record<string, unknown>>
  // A step that has received some of its tool results waits only for the rest, so the pending calls are part of the
  // subject.
  const waiting = event.type === "step-waiting" ? event.calls.map(({ id }) => id) : []
  // An edited plan that could not be parsed is requested again, together with the problem.
  if (event.type === "plan-waiting") waiting.push(event.call.call.arguments)
  if (isCallEvent(event) && event.chargeId !== undefined) return `${event.type} ${event.chargeId}`
  if (event.type === "step-finished" && event.isUnchecked === true)
    return `unchecked ${event.runId} ${round} ${step} ${item}`
  // Concurrent calls by a policy or a critic may be answered in a different order.
  if (event.type === "completion-finished") return `${event.type} ${event.runId} ${round} ${event.attempt}`
  if (event.type === "critic-answered") return `${event.type} ${event.runId} ${round} ${event.worker} ${event.text}`
  return [event.type, event.runId, round, step, item, turn, by, index, ...waiting].join(" ")
}

/** Whether the event ends the run permanently. Runs that were stopped or suspended can be resumed. */
const isEnd = ({ ending }: Of<"run-finished">): boolean => ending !== "interrupted" && ending !== "suspended"

interface Past {
  readonly calls: Map<string, Array<Known>>
  /** Recorded events by subject, in reverse order, so that the last element is the next event to emit. */
  readonly events: Map<string, Array<RunEvent>>
  readonly begun: Journal.Begun | undefined
  /** Retired attempts by position (`run/round/step`). */
  readonly retired: Map<string, Array<Retired>>
}

const learn = (known: Array<Known>, entry: Journal.CallEntry) => {
  const { attempt } = entry
  if (entry.type === "intent") known[attempt] = { hash: entry.hash, worst: entry.worst, worker: entry.worker }
  else if (entry.type === "handle") known[attempt] = { ...known[attempt], handle: entry.handle }
  else if (entry.type === "withdrawn") known.length = Math.min(known.length, attempt)
  else {
    known[attempt] ??= { hash: entry.type === "found" ? entry.hash : undefined }
    known[attempt].outcome ??= entry
  }
}

const callEvents: ReadonlySet<string> = new Set(["call-failed", "call-interrupted", "call-lost"])

const isCallEvent = (event: RunEvent): event is CallEvent => callEvents.has(event.type)

/** Key for attempts without a position. They are reported along with the next call. */
const nextCall = ""

/** An attempt without an answer. */
type Failure = Extract<Journal.CallEntry, { readonly type: "failed" | "interrupted" | "lost" }>

interface Unreported {
  readonly entry: Failure
  readonly worker: string | undefined
}

const nameOfAttempt = ({ attempt, call }: Failure): string => `${call}/${attempt}`

/** Returns the event that reports an attempt along with another call. */
const eventOf = ({ entry, worker = "" }: Unreported): CallEvent => {
  const { costUsd, usage } = entry
  const all = { runId: "", at: 0, round: 0, worker, costUsd, usage }
  if (entry.type === "lost") return { type: "call-lost", ...all }
  if (entry.type === "interrupted") return { type: "call-interrupted", ...all }
  const { attempt, message, reason, retryInMillis, unasked } = entry
  return { type: "call-failed", ...all, attempt, message, reason, ...defined({ retryInMillis, unasked }) }
}

/** Collects the events that report retired attempts. Each event follows its attempt's entry in the journal. */
const retiring = () => {
  const retired = new Map<string, Array<Retired>>()
  const unreported = new Map<string, Unreported>()
  const add = (place: string, one: Retired) => {
    const known = retired.get(place)
    if (known === undefined) retired.set(place, [one])
    else known.push(one)
  }
  return {
    retired,
    /** Adds an unanswered attempt whose call is retried. */
    take: (entry: Failure, worker: string | undefined) => void unreported.set(nameOfAttempt(entry), { entry, worker }),
    /** Adds the event for an attempt. If the attempt's round is restarted, it is reported along with the next call. */
    report: (event: CallEvent, isBegunAgain: boolean) => {
      const { chargeId: name = "" } = event
      const found = unreported.get(name)
      if (found === undefined) return
      unreported.delete(name)
      add(isBegunAgain ? nextCall : placeOf(found.entry.call), { name, event })
    },
    /** Schedules attempts without an event for reporting along with the next call. */
    rest: () => {
      for (const [name, one] of unreported) add(nextCall, { name, event: eventOf(one) })
    }
  }
}

const pastOf = (entries: ReadonlyArray<Journal.Entry>, superseded: Superseded): Past => {
  const calls = new Map<string, Array<Known>>()
  const events = new Map<string, Array<RunEvent>>()
  let begun: Journal.Begun | undefined
  let ending: Ending | undefined
  const { report, rest, retired, take } = retiring()
  for (const [at, entry] of entries.entries()) {
    if (entry.type === "begun") begun = entry
    if (entry.type === "event" && entry.event.type === "run-finished") ending = entry.event.ending
    if (entry.type === "resumed" && ending === "budget") {
      for (const known of calls.values()) for (const one of known) one.isReopened = true
    }
    if (entry.type === "begun" || entry.type === "resumed") continue
    if (entry.type === "event") {
      const isSuperseded = superseded.events.has(at)
      if (superseded.attempts.size > 0 && isCallEvent(entry.event)) report(entry.event, isSuperseded)
      if (isSuperseded) continue
      const name = nameOf(entry.event)
      const named = events.get(name)
      if (named === undefined) events.set(name, [entry.event])
      else named.unshift(entry.event)
    } else {
      const known = calls.get(entry.call) ?? []
      calls.set(entry.call, known)
      learn(known, entry)
      if (superseded.attempts.size === 0) continue
      const isRetired = superseded.attempts.has(at)
      if (!isRetired) continue
      known[entry.attempt]!.isRetired = true
      if (entry.type === "failed" || entry.type === "interrupted" || entry.type === "lost")
        take(entry, known[entry.attempt]?.worker)
    }
  }
  rest()
  return { calls, events, retired, begun }
}

/** Assigns numbers to the calls at each position. A call whose request matches a recorded one reuses its number. */
const claims = (calls: Past["calls"]) => {
  const next = new Map<string, number>()
  const hashOf = (call: string): string | undefined => calls.get(call)?.find(({ hash }) => hash !== undefined)?.hash
  /** The next unused number for each position. A call may have been stopped before any of its entries were written. */
  const counts = new Map<string, number>()
  for (const call of calls.keys()) {
    const end = call.lastIndexOf("/")
    const place = call.slice(0, end)
    counts.set(place, Math.max(counts.get(place) ?? 0, Number(call.slice(end + 1)) + 1))
  }
  const count = (place: string): number => counts.get(place) ?? 0
  /** Unclaimed numbers of each recorded request by position, in order, and the numbers that are free. */
  const unclaimed = new Map<string, { byHash: Map<string | undefined, Set<number>>; free: FreeNumbers }>()
  const at = (place: string) => {
    const known = unclaimed.get(place)
    if (known !== undefined) return known
    const byHash = new Map<string | undefined, Set<number>>()
    for (let number = 0; number < count(place); number++) {
      const hash = hashOf(`${place}/${number}`)
      const same = byHash.get(hash)
      if (same === undefined) byHash.set(hash, new Set([number]))
      else same.add(number)
    }
    const made = { byHash, free: new FreeNumbers() }
    unclaimed.set(place, made)
    return made
  }
  const found = (place: string, hash: string): number | undefined => at(place).byHash.get(hash)?.values().next().value
  return {
    count,
    has: (place: string, hash: string, isNext: boolean): boolean => {
      if (found(place, hash) !== undefined) return true
      const call = `${place}/${at(place).free.from(0)}`
      return isNext && calls.has(call) && hashOf(call) === undefined
    },
    claim: (place: string, hash: string, isNew: boolean): number => {
      if (calls.size === 0) {
        const number = next.get(place) ?? 0
        next.set(place, number + 1)
        return number
      }
      const { byHash, free } = at(place)
      const number = found(place, hash) ?? free.from(isNew ? count(place) : 0)
      free.use(number)
      byHash.get(hashOf(`${place}/${number}`))?.delete(number)
      return number
    }
  }
}

/** Whether the call is sent now, because it has no record, or because its recorded attempts failed and are retried. */
const isMadeNow = (known: ReadonlyArray<Known>): boolean =>
  known.length === 0 || known.some(({ isRetired }) => isRetired === true)

/** Whether the event belongs to a call at the given position. */
const isOfPlace = (event: CallEvent, runId: string, round: number, by: string): boolean => {
  if (event.runId !== runId || event.round !== round) return false
  const { item, step } = event
  return step === undefined ? !/^\d/.test(by) : stepPlace(step, item) === by.split(" ", 1)[0]
}

/** Returns the payment for an attempt, or `undefined` if no worker was called or the answer came from the cache. */
const paidFor = ({ outcome, worst }: Known): Paid | undefined => {
  if (outcome === undefined) return worst
  if (outcome.type === "found" || (outcome.type === "failed" && outcome.unasked === true)) return undefined
  return outcome
}

/** The address of a call, without its number: `run/round/by`, where the run id may contain slashes. */
const addressOf = (call: string): Pick<CallEvent, "runId" | "round" | "step" | "item" | "by"> => {
  const [, who = "", round] = call.split("/").reverse()
  const [asker = "", check] = who.split(" ")
  const { item, step } = inPlace(asker)
  const place = Number.isNaN(step) ? {} : defined({ step, item })
  const by = check === "check" ? { by: check } : who === "critic" ? { by: who } : {}
  return {
    runId: call.split("/").slice(0, -3).join("/"),
    round: Number(round),
    ...place,
    ...(by as Pick<CallEvent, "by">)
  }
}

/** Returns the event that reports an uncharged attempt. An answer is reported as an interrupted call. */
const reportOf = (call: string, attempt: number, { outcome, worker }: Known, paid: Paid): CallEvent => {
  const { costUsd, usage } = paid
  const at = { call, attempt }
  const entry: Failure =
    outcome === undefined
      ? { ...at, type: "lost", costUsd, usage }
      : outcome.type === "failed" || outcome.type === "lost"
        ? { ...at, ...outcome }
        : { ...at, type: "interrupted", costUsd, usage }
  return { ...eventOf({ entry, worker }), ...addressOf(call) }
}

/** Returns the place of an answer and its payment, or `undefined` if the event reports no answer that was paid for. */
const answerIn = (event: RunEvent): string | undefined => {
  if (!("usage" in event) || isCallEvent(event) || isWithoutCall(event)) return undefined
  const { round, runId } = event
  const who =
    event.type === "completion-finished"
      ? "policy"
      : event.type === "critic-answered"
        ? "critic"
        : `${stepPlace(event.step, event.item)}${event.type === "check-answered" ? " check" : ""}`
  return answerName(`${runId}/${round}/${who}`, event)
}

const answerName = (place: string, { costUsd, usage: { inputTokens, outputTokens } }: Paid): string =>
  `${place} ${costUsd} ${inputTokens} ${outputTokens}`

/**
 * Returns the attempts that were paid for and that the run has not charged. If the journal reports an answer by an event
 * that was not repeated, this event is registered as the report of the answer, so that it is not reported twice.
 */
const unchargedIn = ({ calls, events }: Past, isCharged: (name: string) => boolean): ReadonlyArray<Uncharged> => {
  const answers = new Map<string, Array<RunEvent>>()
  for (const event of [...events.values()].flat()) {
    const name = answerIn(event)
    if (name !== undefined) answers.set(name, [...(answers.get(name) ?? []), event])
  }
  return [...calls].flatMap(([call, attempts]) =>
    attempts.flatMap((known, attempt) => {
      const paid = paidFor(known)
      const name = `${call}/${attempt}`
      if (paid === undefined || known.isRetired === true || isCharged(name)) return []
      const event = reportOf(call, attempt, known, paid)
      const answer = known.outcome?.type === "answered" && answers.get(answerName(placeOf(call), paid))?.pop()
      if (answer) events.set(nameOf({ ...event, chargeId: name }), [answer])
      return [{ call, attempt, name, event, outcome: known.outcome?.type }]
    })
  )
}

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

/**
 * Converts the cause of a rejected batch to a `JournalError`. Exceptions thrown by the journal also count as failures.
 */
const errorOf = (journal: Journal.Journal, cause: Cause.Cause<Journal.JournalError>): Journal.JournalError => {
  const error = Cause.squash(cause)
  if (error instanceof Journal.JournalError) return error
  return new Journal.JournalError({ journal: journal.name, reason: { _tag: "Unwritable", detail: messageOf(error) } })
}

const isOfCall = (entry: Journal.Entry): boolean => "attempt" in entry

/**
 * Writes a run's entries to the journal in consecutive batches. The first caller writes on behalf of all: entries added
 * before the write starts join the batch, and entries added during the write form the next one.
 */
const writing = (
  journal: Journal.Journal,
  run: string,
  claim: Journal.Claim,
  heads: ReturnType<typeof heading>,
  { context, currentDispatcher }: Fiber.Fiber<unknown, unknown>
) => {
  let waiting: Array<Journal.Entry> = []
  let taken = claim.length
  let written = claim.length
  let current: Deferred.Deferred<void> | undefined
  let isNoted = false
  let broken: Broken | undefined
  /** The batch that could not be written. */
  let failed: Journal.Batch | undefined

  const writeNotes = () => {
    if (isNoted && current === undefined && broken === undefined) {
      Effect.runForkWith(context)(Effect.suspend(() => flush(() => Effect.void)))
    }
  }

  /** Appends all entries pending at this moment as one batch. */
  const append = (done: Deferred.Deferred<void>): Effect.Effect<void> => {
    const entries = waiting
    const batch: Journal.Batch = { run, epoch: claim.epoch, seq: taken, entries, head: heads.head() }
    waiting = []
    isNoted = false
    taken += entries.length
    return Effect.map(Effect.exit(settleUnsafe(() => journal.append(batch))), (exit) => {
      current = undefined
      if (Exit.isSuccess(exit)) written = taken
      else {
        failed = batch
        broken ??= errorOf(journal, exit.cause)
      }
      Deferred.doneUnsafe(done, Exit.void)
      writeNotes()
    })
  }

  const write: Effect.Effect<void> = Effect.uninterruptible(
    Effect.suspend(() => {
      if (current !== undefined) return Effect.void
      const done = Deferred.makeUnsafe<void>()
      current = done
      // Steps started in the same tick write their intents one after another. Yielding once puts them all in one batch.
      return Effect.flatMap(Effect.yieldNow, () => append(done))
    })
  )

  /** Waits until the given number of entries has been written or the journal has failed, and then continues. */
  const reach = (length: number, next: () => Effect.Effect<void>): Effect.Effect<void> =>
    broken !== undefined || written >= length
      ? next()
      : Effect.flatMap(current === undefined ? write : Deferred.await(current), () => reach(length, next))

  /** Writes all entries that are pending when it is called, and then continues. */
  const flush = (next: () => Effect.Effect<void>): Effect.Effect<void> => reach(taken + waiting.length, next)

  /** Schedules a write for entries that no fiber is waiting for. The current fiber may write them earlier. */
  const soon = () => {
    if (isNoted) return
    isNoted = true
    currentDispatcher.scheduleTask(writeNotes, 1)
  }

  const add = (entry: Journal.Entry) => {
    // After a journal failure, the run's results are no longer recorded, except for the outcomes of its calls, which
    // the resuming process needs.
    if (broken !== undefined && !isOfCall(entry)) return
    heads.take(entry, run)
    waiting.push(entry)
  }

  /** Returns what a failed journal lacks. Events are emitted again when the run is resumed. */
  const unwritten = (): ReadonlyArray<Journal.Batch> => {
    if (!(broken instanceof Journal.JournalError) || broken.reason._tag === "Fenced") return []
    const entries = waiting.filter(isOfCall)
    const rest: Journal.Batch = { run, epoch: claim.epoch, seq: taken, entries, head: heads.head() }
    return [...(failed === undefined ? [] : [failed]), ...(entries.length === 0 ? [] : [rest])]
  }

  return {
    add,
    soon,
    flush,
    unwritten,
    broken: () => broken,
    breakOff: (error: Broken) => {
      broken ??= error
    }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Reads a run's entries from a journal. The journal may be a user-supplied implementation. */
export const readFrom = (
  journal: Journal.Journal,
  run: string
): Effect.Effect<ReadonlyArray<Journal.Entry>, Journal.JournalError> =>
  Effect.catchCause(
    settle(() => journal.read(run)),
    (cause) => (Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.fail(errorOf(journal, cause)))
  )

/** Releases a run. If this fails, a warning is logged and the claim eventually expires. */
const release = (
  journal: Journal.Journal,
  run: string,
  epoch: number,
  unwritten: ReadonlyArray<Journal.Batch> = []
): Effect.Effect<void> =>
  Effect.catchCause(
    called("release of the journal", () => journal.release(run, epoch, unwritten)),
    (cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.interrupt
        : Warning.log(
            `${messageOf(Cause.squash(cause))}. The run ${run} is stored, but other processes cannot resume it for a while.`
          )
  )

/** Interprets recorded entries. Entries that no version of this package could have written are reported as damage. */
export const understood = <A>(
  journal: Journal.Journal,
  run: string,
  interpret: () => A
): Effect.Effect<A, Journal.JournalError> =>
  Effect.try({
    try: interpret,
    catch: (error) => {
      const detail = `the record of run ${run} cannot be interpreted: ${messageOf(error)}`
      return new Journal.JournalError({ journal: journal.name, reason: { _tag: "Damaged", detail } })
    }
  })

/** Prepares the recorded state of a run that continues at the given time. */
const recordOf = (run: string, written: ReadonlyArray<Journal.Entry>, at: number) => {
  const ending = Journal.endingOf(run, written)
  if (ending !== undefined && Journal.isFinal(ending)) {
    return { _tag: "Ended" as const, events: Journal.eventsOf(written) }
  }
  const resumed = ending === undefined ? undefined : ({ type: "resumed", at } as const)
  const entries = resumed === undefined ? written : [...written, resumed]
  const past = pastOf(entries, supersededIn(entries))
  const heads = heading()
  for (const entry of written) heads.take(entry, run)
  const before = fromEvents(Journal.eventsOf(entries))
  return { _tag: "Going" as const, entries, past, claiming: claims(past.calls), heads, resumed, before }
}

/** Opens a run in a journal: claims the run and reads its recorded entries. */
export const open = Effect.fnUntraced(function* (
  journal: Journal.Journal,
  run: string,
  options: {
    readonly seed: number | undefined
    readonly tools: ReadonlyArray<string>
    readonly limits: PlanLimits
    readonly listener: Listener | undefined
  }
): Effect.fn.Return<Opened, Journal.JournalError> {
  const claim = yield* Effect.catchCause(
    settle(() => journal.claim(run)),
    (cause) => (Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.fail(errorOf(journal, cause)))
  )
  const fiber = yield* Effect.withFiberSucceed((fiber) => fiber)
  const at = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
  const record =
    claim.length === 0
      ? recordOf(run, [], at)
      : yield* Effect.onError(
          Effect.flatMap(readFrom(journal, run), (written) =>
            understood(journal, run, () => recordOf(run, written, at))
          ),
          () => release(journal, run, claim.epoch)
        )
  if (record._tag === "Ended") {
    yield* release(journal, run, claim.epoch)
    return record
  }
  const { before, claiming, entries, heads, past, resumed } = record
  const writer = writing(journal, run, claim, heads, fiber)
  if (entries.length === 0) writer.add({ type: "begun", seed: options.seed, tools: options.tools, ...options.limits })
  else if (resumed !== undefined) writer.add(resumed)
  const { admit, confirm } = journal
  /** Runs a journal hook and waits for it. If the hook fails, the journal counts as failed. */
  const passed = (hook: () => Effect.Effect<void>): Effect.Effect<void> =>
    Effect.catchCause(settle(hook), (cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.sync(() => writer.breakOff(errorOf(journal, cause)))
    )
  /** Names of the recorded attempts that were charged since the resume. */
  const charged = new Set<string>()
  /** Rounds reported since the resume, with their numbers of steps. Not needed for a new run. */
  const rounds = new Map<string, number>()
  const isNew = entries.length === 0
  let finished: RunEvent | undefined

  /** Returns the failures to report before a call at this position. */
  const takeRetired = (runId: string, round: number, by: string): ReadonlyArray<Retired> => {
    const place = `${runId}/${round}/${by}`
    const moved = ({ event, name }: Retired): Retired => {
      const { by: _, item: __, step: ___, turn: ____, ...rest } = event
      const step = Number.parseInt(by, 10)
      return { name, event: Number.isNaN(step) ? { ...rest, round } : { ...rest, round, step } }
    }
    // An earlier process may have reported a failure at this position along with another call.
    const own = (past.retired.get(place) ?? []).map((one) =>
      isOfPlace(one.event, runId, round, by) ? one : moved(one)
    )
    const others = (past.retired.get(nextCall) ?? []).map(moved)
    for (const name of [place, nextCall]) past.retired.delete(name)
    return [...own, ...others]
  }

  /** Returns the recorded event if there is one. Otherwise, writes the event to the journal and returns it. */
  const hear = (event: RunEvent): RunEvent => {
    const before = past.events.size === 0 ? undefined : past.events.get(nameOf(event))?.pop()
    if (before === undefined) {
      writer.add({ type: "event", event })
      // A first call may wait for minutes, for example for a rate limit, and the run can be found meanwhile.
      if (event.type === "run-started" && event.runId === run) writer.soon()
      return event
    }
    // A failure's charge, and the call that it is reported with, depend on the current order and limits, so only the
    // recorded time is reused.
    return isCallEvent(event) ? { ...event, at: before.at } : before
  }

  /**
   * Returns a report of an earlier call. If the nested run or the step was not started since the resume, the report
   * refers to the run as a whole.
   */
  const inSight = <A extends Retired>(one: A): A => {
    const { event } = one
    const steps = rounds.get(`${event.runId} ${event.round}`)
    if (steps !== undefined && (event.step ?? -1) < steps) return one
    const { by: _, item: __, step: ___, turn: ____, ...whole } = event
    return { ...one, event: { ...whole, runId: run, round: 0 } }
  }

  const tellEnd = (event: Of<"run-finished">) => {
    const error = writer.broken()
    if (error === undefined) return options.listener?.(event)
    const { answer: _, ...rest } = event
    return options.listener?.({ ...rest, ending: "failed", detail: error.message })
  }

  const unbroken = (halt?: () => void) => {
    const error = writer.broken()
    if (error === undefined) return Effect.void
    halt?.()
    return Effect.die(error)
  }

  const recording: Recording = {
    tools: past.begun?.tools ?? options.tools,
    limits: past.begun ?? options.limits,
    slot: (runId, round, by, asked, isNewCall) => {
      const place = `${runId}/${round}/${by}`
      const hash = fingerprint(asked)
      const call = `${place}/${claiming.claim(place, hash, isNewCall)}`
      const known = past.calls.get(call) ?? []
      const retired = isNew || !isMadeNow(known) ? [] : takeRetired(runId, round, by)
      return { recording, call, hash, past: known, retired, isWhole: !isNew }
    },
    recalled: isNew
      ? undefined
      : (runId, round, by) => {
          const place = `${runId}/${round}/${by}`
          return {
            count: claiming.count(place),
            has: (asked, isNext) => claiming.has(place, fingerprint(asked), isNext)
          }
        },
    intend: (entry, halt) => {
      const checked = () => unbroken(halt)
      const add = () => {
        writer.add(entry)
        return writer.flush(checked)
      }
      const written =
        admit === undefined
          ? add()
          : Effect.flatMap(
              passed(() => admit(run)),
              add
            )
      if (confirm === undefined) return written
      const { attempt, call } = entry
      const confirmed = () => passed(() => confirm(run, `${call}/${attempt}`))
      return Effect.flatMap(Effect.flatMap(written, confirmed), checked)
    },
    saved: Effect.suspend(() => writer.flush(unbroken)),
    note: (entry) => {
      writer.add(entry)
      writer.soon()
    },
    mismatch: (call, detail) =>
      Effect.suspend(() => {
        const error = new Journal.JournalMismatch({ run, call, detail })
        writer.breakOff(error)
        return Effect.die(error)
      }),
    listener: (event) => {
      if (isTransient(event)) return options.listener?.(event)
      if (!isNew && isCallEvent(event) && event.chargeId !== undefined) charged.add(event.chargeId)
      if (!isNew && event.type === "round-started") rounds.set(`${event.runId} ${event.round}`, 0)
      if (!isNew && event.type === "workflow-proposed") {
        rounds.set(`${event.runId} ${event.round}`, event.workflow.steps.length)
      }
      if (event.type !== "run-finished" || event.runId !== run) {
        const told = event.type !== "run-finished" || isEnd(event) ? hear(event) : event
        return options.listener?.(told)
      }
      if (isEnd(event) && writer.broken() === undefined) writer.add({ type: "event", event })
      finished = event
    },
    stepsOf: (run, round) => rounds.get(`${run} ${round}`),
    unreported: () => {
      const rest = [...past.retired.values()].flat()
      past.retired.clear()
      return rest.map(inSight)
    },
    uncharged: () => unchargedIn(past, (name) => charged.has(name)).map(inSight),
    markCharged: (name) => void charged.add(name),
    paid: [...past.calls.values()].flatMap((attempts) => attempts.flatMap((known) => paidFor(known) ?? [])),
    broken: writer.broken,
    end: Effect.suspend(() => {
      const released = () => {
        if (finished?.type === "run-finished") tellEnd(finished)
        return release(journal, run, claim.epoch, writer.unwritten())
      }
      return writer.flush(released)
    })
  }
  return { _tag: "Going", recording, before }
})

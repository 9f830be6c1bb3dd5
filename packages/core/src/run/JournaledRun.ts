/** Starts, joins and ends runs that are stored in a journal. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type { Listener, RunEvent } from "../events/RunEvent.ts"
import { failuresOf } from "../events/StepFailure.ts"
import { fromEvents, pendingCalls, type Transcript } from "../events/Transcript.ts"
import * as Journal from "../journal/Journal.ts"
import { respondable } from "../journal/RecordedRun.ts"
import { OptionsError } from "../Options.ts"
import type { Task } from "../task/Task.ts"
import { noSpend } from "../task/Usage.ts"
import type { Fork, Past, Resumption, RunResult } from "./Conductor.ts"
import * as Cuts from "./Fork.ts"
import * as Recording from "./Recording.ts"
import { unusable, wrongId } from "./UnusableRun.ts"

export { recordedOf } from "../journal/RecordedRun.ts"
export { policyOf as forkPolicyOf, recordedIn as forkedPlans } from "./Fork.ts"

/** A run with its journal. */
export type Begun =
  /** The run is not started: it has already ended, is running elsewhere in this process, or its journal is unusable. */
  | { readonly _tag: "Over"; readonly result: RunResult }
  | {
      readonly _tag: "Going"
      readonly recording: Recording.Recording
      /** The transcript so far. */
      readonly before: Transcript | undefined
      /** Ends the run. Data that could not be written to the journal is removed from the result. */
      readonly end: (result: RunResult) => Effect.Effect<RunResult>
    }

/** The runs in progress in this process, by their journal. */
const going = new WeakMap<Journal.Journal, Map<string, Deferred.Deferred<RunResult>>>()

const goingIn = (journal: Journal.Journal): Map<string, Deferred.Deferred<RunResult>> => {
  const known = going.get(journal)
  if (known !== undefined) return known
  const runs = new Map<string, Deferred.Deferred<RunResult>>()
  going.set(journal, runs)
  return runs
}

/** Returns the result of an ended run from its events. */
const resultOf = (runId: string, events: ReadonlyArray<RunEvent>): RunResult => {
  const transcript = fromEvents(events)
  const {
    answer,
    detail,
    partial,
    durationMillis = 0,
    ending = "failed",
    rounds = [],
    spend = noSpend
  } = transcript ?? {}
  return {
    runId,
    ending,
    answer,
    ...(ending === "budget" && answer !== undefined ? { isPartial: true as const } : {}),
    partial,
    detail,
    error: undefined,
    failures: transcript === undefined ? [] : failuresOf(transcript),
    spend,
    durationMillis,
    waitingFor: [],
    value: undefined,
    rounds: rounds.flatMap(({ answer, confirmed, grade, isLast, isOwn, workflow }) => {
      if (workflow === undefined) return []
      const draft = isLast === false ? { isDraft: true } : {}
      const own = isOwn === true ? { isOwn } : {}
      return [{ workflow, answer, failed: [], confirmed, ...own, ...draft, grade: grade?.grade }]
    })
  }
}

/**
 * Removes from a result everything that is not in the journal: the answer, and the calls that the run would wait for.
 */
const heldTo = (recording: Recording.Recording, result: RunResult): RunResult => {
  const error = recording.broken()
  if (error === undefined) return result
  const { durationMillis, failures, rounds, runId, spend } = result
  return { ...unusable(runId, error), failures, spend, durationMillis, rounds }
}

/** A run to start or resume. */
interface Started {
  readonly runId: string
  readonly seed: number | undefined
  /** The names of its tools. */
  readonly tools: ReadonlyArray<string>
  readonly listener: Listener | undefined
  readonly task: Task
  /** The results of its pending calls. */
  readonly results: Past["results"]
}

/** Whether a run has a different question, so that its answer does not apply. */
const isOther = ({ messages }: Task, runId: string, events: ReadonlyArray<RunEvent>): boolean =>
  events.some(
    (event) =>
      event.type === "run-started" &&
      event.runId === runId &&
      JSON.stringify(event.task.messages) !== JSON.stringify(messages)
  )

/** Returns why the result of a run with these events does not apply; `undefined` if it does. */
const refusalBy = (
  { results, runId, task }: Started,
  events: ReadonlyArray<RunEvent>,
  transcript: Transcript | undefined
): Journal.JournalMismatch | OptionsError | undefined =>
  isOther(task, runId, events)
    ? new Journal.JournalMismatch({ run: runId, call: runId, detail: Journal.otherQuestion })
    : transcript && refusalOf(transcript, results)

/** Returns the transcript to compare the given results with; `undefined` without results, as for most runs. */
const comparedWith = ({ results }: Started, events: ReadonlyArray<RunEvent>): Transcript | undefined =>
  Object.keys(results).length === 0 ? undefined : fromEvents(events)

/**
 * Waits for the same run elsewhere in this process, and replays its events. Returns `undefined` if the run still waits
 * for one of the given results.
 */
const join = (
  journal: Journal.Journal,
  running: Deferred.Deferred<RunResult>,
  run: Started
): Effect.Effect<Begun | undefined> =>
  Effect.gen(function* () {
    const { listener, results, runId } = run
    const result = yield* Effect.interruptible(Deferred.await(running))
    // The events are those of another process, which is still writing them.
    if (result.error instanceof Journal.JournalError) return { _tag: "Over", result }
    const entries = yield* Effect.orElseSucceed(Recording.readFrom(journal, runId), () => [])
    const events = Journal.eventsOf(entries)
    const transcript = comparedWith(run, events)
    const refused = refusalBy(run, events, transcript)
    if (refused !== undefined) return { _tag: "Over", result: unusable(runId, refused) }
    if (transcript !== undefined && pendingCalls(transcript).some(({ id }) => id in results)) return undefined
    for (const event of events) listener?.(event)
    return { _tag: "Over", result }
  })

/** Starts or resumes a run. */
export const begin: (journal: Journal.Journal, run: Started) => Effect.Effect<Begun> = Effect.fnUntraced(function* (
  journal: Journal.Journal,
  run: Started
): Effect.fn.Return<Begun> {
  const { listener, results, runId } = run
  const runs = goingIn(journal)
  const running = runs.get(runId)
  if (running !== undefined) return (yield* join(journal, running, run)) ?? (yield* begin(journal, run))
  const done = Deferred.makeUnsafe<RunResult>()
  runs.set(runId, done)
  const finish = <A extends RunResult>(result: A) => {
    runs.delete(runId)
    Deferred.doneUnsafe(done, Exit.succeed(result))
    return result
  }
  const opened = yield* Effect.onError(Effect.result(Recording.open(journal, runId, run)), (cause) =>
    // Those that wait for the run would wait forever.
    Effect.sync(() => {
      runs.delete(runId)
      Deferred.doneUnsafe(done, Exit.failCause(cause))
    })
  )
  if (Result.isFailure(opened)) return { _tag: "Over", result: finish(unusable(runId, opened.failure)) }
  if (opened.success._tag === "Ended") {
    const { events } = opened.success
    const refused = refusalBy(run, events, comparedWith(run, events))
    if (refused !== undefined) return { _tag: "Over", result: finish(unusable(runId, refused)) }
    for (const event of events) listener?.(event)
    return { _tag: "Over", result: finish(resultOf(runId, events)) }
  }
  const { before, recording } = opened.success
  const refused = before && refusalOf(before, results)
  if (refused !== undefined) {
    yield* recording.end
    return { _tag: "Over", result: finish(unusable(runId, refused)) }
  }
  const end = (result: RunResult) => Effect.map(recording.end, () => finish(heldTo(recording, result)))
  return { _tag: "Going", recording, before, end }
})

/** A run to resume. */
export interface Resumed {
  readonly runId: string
  readonly past: Past
  /** The seed of a journaled run; `undefined` in it means that none was given. Absent for a run without a journal. */
  readonly begun: { readonly seed: number | undefined } | undefined
}

/** Loads the data that a run is resumed with. */
export const resumed = Effect.fnUntraced(function* (
  { results = {}, runId, transcript }: Resumption,
  given: Journal.Journal | undefined
): Effect.fn.Return<Resumed, Journal.JournalError | OptionsError> {
  if (transcript !== undefined) {
    yield* knownTo(transcript, results)
    return { runId: transcript.runId, past: { transcript, results }, begun: undefined }
  }
  const wrong = wrongId(runId)
  if (wrong !== undefined) return yield* wrong
  const journal = given ?? (yield* Journal.Journal)
  const entries = journal === undefined ? [] : yield* Recording.readFrom(journal, runId)
  const known = journal && (yield* Recording.understood(journal, runId, () => fromEvents(Journal.eventsOf(entries))))
  if (known === undefined) {
    const reason = { _tag: "Missing", run: runId } as const
    return yield* new Journal.JournalError({ journal: journal?.name ?? "(none)", reason })
  }
  yield* knownTo(known, results)
  const seed = entries.find((entry) => entry.type === "begun")?.seed
  return { runId, past: { transcript: known, results }, begun: { seed } }
})

/** Loads the original run of a fork, and cuts its transcript. */
export const forked = Effect.fnUntraced(function* (
  { runId, transcript, ...cut }: Fork,
  ids: ReadonlyArray<string>,
  newId: string,
  given: Journal.Journal | undefined
): Effect.fn.Return<
  { readonly transcript: Transcript; readonly seed: number | undefined },
  Journal.JournalError | OptionsError
> {
  const { begun, past } = yield* resumed(transcript === undefined ? { runId: runId! } : { transcript }, given)
  if (past.transcript.runId === newId)
    return yield* new OptionsError({ what: "fork", detail: `The fork needs a new run id, not "${newId}".` })
  return { transcript: yield* Effect.fromResult(Cuts.cut(past.transcript, cut, ids, newId)), seed: begun?.seed }
})

/**
 * Rejects results for unknown calls, and results that differ from recorded ones because another caller has responded.
 */
const knownTo = (transcript: Transcript, results: Past["results"]): Effect.Effect<void, OptionsError> => {
  const error = refusalOf(transcript, results)
  return error === undefined ? Effect.void : Effect.fail(error)
}

const refusalOf = (transcript: Transcript, results: Past["results"]): OptionsError | undefined => {
  const calls = new Map(Array.from(respondable(transcript), (call) => [call.id, call]))
  const refuse = (detail: string) => new OptionsError({ what: "resume", detail })
  for (const [id, given] of Object.entries(results)) {
    const call = calls.get(id)
    if (call === undefined) {
      const names = pendingCalls(transcript).map(({ call, id }) => `"${id}" (${call.name})`)
      return refuse(`This run has no pending call "${id}". Pending calls: ${names.join(", ") || "none"}.`)
    }
    if (call.isSame?.(given) === false) return refuse(`Call "${id}" already has another result.`)
  }
  return undefined
}

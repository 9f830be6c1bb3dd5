/** Runs that are stored in a journal: how they begin, are joined, and end. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type { Listener, RunEvent } from "../events/RunEvent.ts"
import { failuresOf } from "../events/StepFailure.ts"
import { fromEvents, type Transcript } from "../events/Transcript.ts"
import * as Journal from "../journal/Journal.ts"
import { toolCallIds } from "../journal/RecordedRun.ts"
import * as RunId from "../journal/RunId.ts"
import { lostDetail } from "../loop/call.ts"
import { OptionsError } from "../Options.ts"
import type { Policy } from "../policy/Policy.ts"
import type { Task } from "../task/Task.ts"
import { noSpend } from "../task/Usage.ts"
import type { Past, Resumption, RunOptions, RunResult } from "./Conductor.ts"
import * as Recording from "./Recording.ts"
import * as Resilience from "./Resilience.ts"
import type { RunSettings } from "./RunSettings.ts"

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

/** The result of a run that has ended, as its events tell it. */
const resultOf = (runId: string, events: ReadonlyArray<RunEvent>): RunResult => {
  const transcript = fromEvents(events)
  const { answer, detail, durationMillis = 0, ending = "failed", rounds = [], spend = noSpend } = transcript ?? {}
  return {
    runId,
    ending,
    answer,
    detail,
    error: undefined,
    failures: transcript === undefined ? [] : failuresOf(transcript),
    spend,
    durationMillis,
    waitingFor: [],
    value: undefined,
    rounds: rounds.flatMap(({ answer, confirmed, grade, workflow }) =>
      workflow === undefined ? [] : [{ workflow, answer, failed: [], confirmed, grade: grade?.grade }]
    )
  }
}

/** Returns the result of a run that cannot be resumed because of its journal or its options. */
export const unusable = (runId: string, error: Recording.Broken | OptionsError): RunResult<never> => ({
  runId,
  ending: "failed",
  answer: undefined,
  detail: error.message,
  error,
  failures: [],
  spend: noSpend,
  durationMillis: 0,
  rounds: [],
  waitingFor: [],
  value: undefined
})

/**
 * A result that is not in the journal did not happen: neither an answer nor the calls that the run would have waited
 * for.
 */
const heldTo = (recording: Recording.Recording, result: RunResult): RunResult => {
  const error = recording.broken()
  if (error === undefined) return result
  const { durationMillis, failures, rounds, runId, spend } = result
  return { ...unusable(runId, error), failures, spend, durationMillis, rounds }
}

/** Waits for the same run elsewhere in this process, and replays its events. */
const join = (
  journal: Journal.Journal,
  runId: string,
  running: Deferred.Deferred<RunResult>,
  listener: Listener | undefined
): Effect.Effect<Begun> =>
  Effect.gen(function* () {
    const result = yield* Effect.interruptible(Deferred.await(running))
    const entries = yield* Effect.orElseSucceed(Recording.readFrom(journal, runId), () => [])
    for (const event of Journal.eventsOf(entries)) listener?.(event)
    return { _tag: "Over", result }
  })

/** Whether a finished run was asked another question, so that its answer does not apply. */
const isOther = ({ messages }: Task, runId: string, events: ReadonlyArray<RunEvent>): boolean =>
  events.some(
    (event) =>
      event.type === "run-started" &&
      event.runId === runId &&
      JSON.stringify(event.task.messages) !== JSON.stringify(messages)
  )

/** Begins or resumes a run, if there is a journal. */
export const begin = Effect.fnUntraced(function* (
  { journal: own }: RunOptions,
  run: {
    readonly runId: string
    readonly seed: number | undefined
    /** The names of its tools. */
    readonly tools: ReadonlyArray<string>
    readonly listener: Listener | undefined
    readonly task: Task
  }
): Effect.fn.Return<Begun | undefined> {
  const journal = own ?? (yield* Journal.Journal)
  if (journal === undefined) return undefined
  const { listener, runId } = run
  const runs = goingIn(journal)
  const running = runs.get(runId)
  if (running !== undefined) return yield* join(journal, runId, running, listener)
  const done = Deferred.makeUnsafe<RunResult>()
  runs.set(runId, done)
  const finish = <A extends RunResult>(result: A) => {
    runs.delete(runId)
    Deferred.doneUnsafe(done, Exit.succeed(result))
    return result
  }
  const opened = yield* Effect.result(Recording.open(journal, runId, run))
  if (Result.isFailure(opened)) return { _tag: "Over", result: finish(unusable(runId, opened.failure)) }
  if (opened.success._tag === "Ended") {
    const { events } = opened.success
    if (isOther(run.task, runId, events)) {
      const error = new Journal.JournalMismatch({ run: runId, call: runId, detail: "has a different question" })
      return { _tag: "Over", result: finish(unusable(runId, error)) }
    }
    for (const event of events) listener?.(event)
    return { _tag: "Over", result: finish(resultOf(runId, events)) }
  }
  const { before, recording } = opened.success
  const end = (result: RunResult) => Effect.map(recording.end, () => finish(heldTo(recording, result)))
  return { _tag: "Going", recording, before, end }
})

/** A run to resume. */
export interface Resumed {
  readonly runId: string
  readonly past: Past
  /** The seed of a run in a journal, which also knows that none was given. Absent for a run without a journal. */
  readonly begun: { readonly seed: number | undefined } | undefined
}

/** An error for an id that not every journal can store. */
export const wrongId = (runId: unknown): OptionsError | undefined =>
  RunId.isRunId(runId) ? undefined : new OptionsError({ what: "the run", detail: `"runId" must be ${RunId.rule}.` })

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
  const known = fromEvents(Journal.eventsOf(entries))
  if (known === undefined) {
    const reason = { _tag: "Missing", run: runId } as const
    return yield* new Journal.JournalError({ journal: journal?.name ?? "(none)", reason })
  }
  yield* knownTo(known, results)
  const seed = entries.find((entry) => entry.type === "begun")?.seed
  return { runId, past: { transcript: known, results }, begun: { seed } }
})

/** A result that nothing waits for is a mistake, which would leave the run waiting. */
const knownTo = (transcript: Transcript, results: Past["results"]): Effect.Effect<void, OptionsError> => {
  const ids = new Set(toolCallIds(transcript))
  const stranger = Object.keys(results).find((id) => !ids.has(id))
  if (stranger === undefined) return Effect.void
  const waiting = transcript.rounds.flatMap(({ steps }) => steps.flatMap(({ waitingFor = [] }) => waitingFor))
  const names = waiting.map(({ call, id }) => `"${id}" (${call.name})`).join(", ")
  return Effect.fail(
    new OptionsError({
      what: "resume",
      detail: `This run has no pending call "${stranger}". Pending calls: ${names || "none"}.`
    })
  )
}

/** A run that its journal has stopped before its first request. */
export const stopped = (recording: Recording.Recording | undefined): Effect.Effect<void> => {
  const error = recording?.broken()
  return error === undefined ? Effect.void : Effect.die(error)
}

const isLost = ({ error: { reason } }: Resilience.Failure): boolean =>
  reason._tag === "Timeout" && reason.detail === lostDetail

/**
 * The rule of a run by which the steps of failed workers go to others. With `onUnconfirmedCall: "reassign"`, a step whose call was
 * lost goes to the next worker, and with `"fail"` to none, unless `reassign` says otherwise.
 */
export const reassignOf = ({
  onUnconfirmedCall,
  policy,
  reassign
}: RunSettings & { readonly policy?: Policy | undefined }): Resilience.Reassign => {
  const rule = reassign ?? (policy?.failover === false ? "never" : "next")
  if (onUnconfirmedCall === "reassign" && rule === "never") {
    return (failure) => (isLost(failure) ? Resilience.next(failure) : undefined)
  }
  if (onUnconfirmedCall === "fail" && reassign === undefined && rule === "next") {
    return (failure) => (isLost(failure) ? undefined : Resilience.next(failure))
  }
  return rule
}

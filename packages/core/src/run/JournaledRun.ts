/** Starts, resumes and joins runs that are stored in a journal. */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import { withItems } from "../events/items.ts"
import type { Listener, RunEvent } from "../events/RunEvent.ts"
import { failuresOf } from "../events/StepFailure.ts"
import { fromEvents, pendingCalls, type Transcript } from "../events/Transcript.ts"
import { isObject, isRecord } from "../Fields.ts"
import * as Journal from "../journal/Journal.ts"
import { respondable } from "../journal/RecordedRun.ts"
import type { State } from "../loop/round.ts"
import { onDemand } from "../OnDemand.ts"
import * as Options from "../Options.ts"
import type { Task } from "../task/Task.ts"
import { noSpend } from "../task/Usage.ts"
import type { Fork, Past, Resumption, RunResult } from "./Conductor.ts"
import * as Cuts from "./Fork.ts"
import * as Recording from "./Recording.ts"
import { checkResults } from "./Results.ts"
import { unusable, wrongId } from "./UnusableRun.ts"

export { recordedOf } from "../journal/RecordedRun.ts"
export { forkingOf, policyOf as forkPolicyOf, recordedIn as forkedPlans } from "./Fork.ts"

/** The outcome of starting a run with a journal. */
export type Begun =
  /**
   * The run was not started: it has already finished, another fiber in this process executed it, or its journal is
   * unusable.
   */
  | { readonly _tag: "Over"; readonly result: RunResult }
  | {
      readonly _tag: "Going"
      readonly recording: Recording.Recording
      /** The recorded transcript, if the run is resumed. */
      readonly before: Transcript | undefined
      /** Ends the run. Removes from the result whatever could not be written to the journal. */
      readonly end: (result: RunResult) => Effect.Effect<RunResult>
    }

/** Runs in progress in this process, grouped by journal. */
const going = new WeakMap<Journal.Journal, Map<string, Deferred.Deferred<RunResult>>>()

const goingIn = (journal: Journal.Journal): Map<string, Deferred.Deferred<RunResult>> => {
  const known = going.get(journal)
  if (known !== undefined) return known
  const runs = new Map<string, Deferred.Deferred<RunResult>>()
  going.set(journal, runs)
  return runs
}

/** Rebuilds the result of a finished run from its events. */
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
 * If the journal failed, replaces the result with a failure: an unrecorded answer or pending call must not be reported.
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
  /** Names of the run's tools. */
  readonly tools: ReadonlyArray<string>
  readonly limits: Recording.PlanLimits
  readonly listener: Listener | undefined
  readonly task: Task
  /** Results for the run's pending calls. */
  readonly results: Past["results"]
}

/** Whether the recorded run answers a different question. */
const isOther = ({ messages }: Task, runId: string, events: ReadonlyArray<RunEvent>): boolean =>
  events.some(
    (event) =>
      event.type === "run-started" &&
      event.runId === runId &&
      JSON.stringify(event.task.messages) !== JSON.stringify(messages)
  )

/** Returns the error if a recorded run cannot be used for this request, or `undefined` if it can. */
const refusalBy = (
  { results, runId, task }: Started,
  events: ReadonlyArray<RunEvent>,
  transcript: Transcript | undefined
): Journal.JournalMismatch | Options.OptionsError | undefined =>
  isOther(task, runId, events)
    ? new Journal.JournalMismatch({ run: runId, call: runId, detail: Journal.otherQuestion })
    : transcript && refusalOf(transcript, results)

/**
 * Returns the transcript to validate the given results against. `undefined` if there are no results, as for most runs.
 */
const comparedWith = ({ results }: Started, events: ReadonlyArray<RunEvent>): Transcript | undefined =>
  Object.keys(results).length === 0 ? undefined : fromEvents(events)

/**
 * Waits for the same run to finish elsewhere in this process, and re-emits its events. Returns `undefined` if the run
 * is still waiting for one of the given results.
 */
const join = (
  journal: Journal.Journal,
  running: Deferred.Deferred<RunResult>,
  run: Started
): Effect.Effect<Begun | undefined> =>
  Effect.gen(function* () {
    const { listener, results, runId } = run
    const result = yield* Effect.interruptible(Deferred.await(running))
    // The journal's events were written by another process, which still owns the run.
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
  const opened = yield* Effect.exit(Recording.open(journal, runId, run))
  if (Exit.isFailure(opened)) {
    const error = Cause.findError(opened.cause)
    if (Result.isSuccess(error)) return { _tag: "Over", result: finish(unusable(runId, error.success)) }
    // Fibers that joined the run would otherwise wait forever.
    runs.delete(runId)
    Deferred.doneUnsafe(done, Exit.failCause(error.failure))
    return yield* Effect.failCause(error.failure)
  }
  if (opened.value._tag === "Ended") {
    const { events } = opened.value
    const refused = refusalBy(run, events, comparedWith(run, events))
    if (refused !== undefined) return { _tag: "Over", result: finish(unusable(runId, refused)) }
    for (const event of events) listener?.(event)
    return { _tag: "Over", result: finish(resultOf(runId, events)) }
  }
  const { before, recording } = opened.value
  const refused = before && refusalOf(before, results)
  if (refused !== undefined) {
    yield* recording.end
    return { _tag: "Over", result: finish(unusable(runId, refused)) }
  }
  const end = (result: RunResult) => Effect.map(recording.end, () => finish(heldTo(recording, result)))
  return { _tag: "Going", recording, before, end }
})

/** Loads the schemas on first use. Runs that are resumed from a journal do not need them. */
const withWire = onDemand(() => import("../events/Wire.ts"))

/** Reads a transcript that a caller passed. An object may be one that the caller parsed, so it is read as its JSON. */
const read = (what: string, given: unknown): Effect.Effect<Transcript, Options.OptionsError> =>
  withWire(({ decodeTranscript }) => {
    const refuse = (detail: string) => Effect.fail(new Options.OptionsError({ what, detail }))
    const remedy = "Pass the transcript of a result, or its JSON text."
    if (isRecord(given) && "transcript" in given)
      return refuse('"transcript" is the result of a run. Pass its transcript: result.transcript.')
    if (typeof given !== "string" && !(isRecord(given) && "rounds" in given))
      return refuse(`"transcript" must be a transcript, not ${Options.kindOf(given)}. ${remedy}`)
    const text = typeof given === "string" ? given : JSON.stringify(given)
    return Effect.catch(Effect.fromResult(decodeTranscript(text)), ({ message }) => refuse(`${message} ${remedy}`))
  })

/** A run to resume. */
export interface Resumed {
  readonly runId: string
  readonly past: Past
  /**
   * The recorded seed; its `seed` is `undefined` if the run was started without one. Undefined if the record is a
   * transcript with the seed 0, which may also mean that the run had no seed.
   */
  readonly begun: { readonly seed: number | undefined } | undefined
}

const resumptionTable = Options.table({
  runId: Options.anything,
  transcript: Options.anything,
  results: Options.anything
} satisfies Options.ShapeOf<Resumption>)

/** Loads the recorded state of a run to resume. */
export const resumed = Effect.fnUntraced(function* (
  resumption: Resumption,
  ownJournal: Journal.Journal | undefined,
  what = "resume"
): Effect.fn.Return<Resumed, Journal.JournalError | Options.OptionsError> {
  yield* Options.checked(what, resumption, resumptionTable)
  const { results = {}, runId, transcript: given } = resumption
  yield* Effect.try({ try: () => checkResults(results), catch: (error) => error as Options.OptionsError })
  if (given !== undefined) {
    const transcript = yield* read(what, given)
    const { runId, seed } = transcript
    yield* knownTo(transcript, results)
    return { runId, past: { transcript, results }, begun: seed === 0 ? undefined : { seed } }
  }
  const wrong = wrongId(runId)
  if (wrong !== undefined) return yield* wrong
  const journal = ownJournal ?? (yield* Journal.Journal)
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

/** Validates the position of the step to fork at. `nested` leads into the run that was started by that step. */
const placeTable: Options.Table = Options.table(
  {
    round: Options.whole(0),
    step: Options.whole(0),
    item: Options.expects('the name of an item, such as "3"', (value) => typeof value === "string"),
    get nested() {
      return placeTable
    }
  } satisfies Options.ShapeOf<Fork["at"]>,
  { required: ["round", "step"] }
)

const forkTable = Options.table(
  {
    runId: Options.anything,
    transcript: Options.anything,
    at: placeTable,
    answer: Options.text,
    change: Options.expects("an object with the fields of a step to change", isRecord),
    plan: Options.expects(
      "a plan, { steps }, or the text of one",
      (value) => typeof value === "string" || isRecord(value)
    )
  } satisfies Options.ShapeOf<Fork>,
  { required: ["at"] }
)

/** Loads the original run of a fork, and truncates its transcript. */
export const forked = Effect.fnUntraced(function* (
  fork: Fork,
  forking: Cuts.Forking,
  newId: string,
  given: Journal.Journal | undefined
): Effect.fn.Return<
  { readonly transcript: Transcript; readonly seed: number | undefined },
  Journal.JournalError | Options.OptionsError
> {
  const refuse = (detail: string) => new Options.OptionsError({ what: "fork", detail })
  const { at, runId, transcript, ...cut } = fork
  if (!isObject(at)) return yield* refuse(`"at" must be the step to fork at, { round, step }.`)
  yield* Options.checked("fork", fork, forkTable)
  const { begun, past } = yield* resumed(transcript === undefined ? { runId: runId! } : { transcript }, given, "fork")
  const id = past.transcript.runId
  if (runId !== undefined && runId !== id)
    return yield* refuse(`"runId" is "${runId}", but the transcript is of run "${id}". Pass one of them.`)
  if (id === newId) return yield* refuse(`The fork needs a new run id, not "${newId}".`)
  const whole = yield* Effect.fromResult(Cuts.cut(past.transcript, { at, ...cut }, forking, newId))
  return { transcript: whole, seed: begun?.seed }
})

/** Stops a resumed run because it differs from its journal, or from its transcript if there is no journal. */
export const diverged = (
  recording: Recording.Recording | undefined,
  run: string,
  call: string,
  detail: string
): Effect.Effect<never> =>
  recording?.mismatch(call, detail) ?? Effect.die(new Journal.JournalMismatch({ run, call, detail }))

/** Returns the properties of a run that must not change when it is resumed. */
const beginningOf = ({
  policy,
  pool,
  seed,
  task
}: Pick<Transcript, "policy" | "seed" | "task"> & { readonly pool: ReadonlyArray<{ readonly id: string }> }) => ({
  question: JSON.stringify(task.messages),
  policy,
  pool: pool.map(({ id }) => id).join(", "),
  seed: `${seed}`
})

/**
 * Returns an effect that stops a resumed run because it differs from its record, which is a journal or a transcript, or
 * `undefined` if it does not differ.
 */
export const mismatchOf = (
  before: Transcript,
  { context: { recording }, policy, pool, runId, seed, task }: State
): Effect.Effect<never> | undefined => {
  const then = beginningOf(before)
  const now = beginningOf({ policy: policy.name, pool: pool.workers, seed, task })
  const name = (["question", "policy", "pool", "seed"] as const).find((name) => then[name] !== now[name])
  if (name === undefined) return undefined
  const detail = name === "question" ? Journal.otherQuestion : `has the ${name} ${now[name]} instead of ${then[name]}`
  return diverged(recording, runId, runId, detail)
}

/** Returns the names of the tools that a run has called. Calls that failed before they started may name no tool. */
export const toolNamesIn = ({ rounds }: Transcript): ReadonlyArray<string> =>
  rounds.flatMap(({ steps }) =>
    withItems(steps).flatMap(({ nested, turns = [] }) => [
      ...turns.flatMap(({ tools }) =>
        tools.flatMap(({ call, isError, startedAt }) =>
          isError === true && startedAt === undefined ? [] : [call.name]
        )
      ),
      ...(nested === undefined ? [] : toolNamesIn(nested))
    ])
  )

/**
 * Fails if a result is given for an unknown call, or differs from a result that another caller has already provided.
 */
const knownTo = (transcript: Transcript, results: Past["results"]): Effect.Effect<void, Options.OptionsError> => {
  const error = refusalOf(transcript, results)
  return error === undefined ? Effect.void : Effect.fail(error)
}

const refusalOf = (transcript: Transcript, results: Past["results"]): Options.OptionsError | undefined => {
  const calls = new Map(Array.from(respondable(transcript), (call) => [call.id, call]))
  const refuse = (detail: string) => new Options.OptionsError({ what: "resume", detail })
  for (const [id, given] of Object.entries(results)) {
    const call = calls.get(id)
    if (call === undefined) {
      const names = pendingCalls(transcript).map(({ call, id }) => `"${id}" (${call.name})`)
      return refuse(`This run has no pending call "${id}". Pending calls: ${names.join(", ") || "none"}.`)
    }
    if (call.isSame?.(given) === false) return refuse(`Call "${id}" already has a different result.`)
  }
  return undefined
}

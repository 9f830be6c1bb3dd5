/**
 * Recordings: the answers of policies to tasks, and their scores. Baselines and profiles are learned from them.
 *
 * A recording is made by the same Conductor as everything else, so what learning costs is counted like anything else.
 */

import { Budget, Grader, ResponseCache, type RunEvent, StepFailure, Options as Tables, Transcript } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import { type Policy, PolicyError } from "@divisi/core/Policy"
import type { Task } from "@divisi/core/Task"
import * as Effect from "effect/Effect"

/** One answer of a policy to a task. */
export interface Sample {
  readonly task: Task
  readonly policy: string
  /** Absent when the run gave no answer. */
  readonly answer?: string | undefined
  /** 0 to 1; absent when the infrastructure failed, which says nothing about the policy. */
  readonly score?: number | undefined
  /** The cost of the run in USD. */
  readonly costUsd: number
  readonly durationMillis: number
}

/** Runs policies over tasks that may be learned from: one sample, or more, for each policy and task. */
export type Record<E> = (policies: ReadonlyArray<Policy>) => Effect.Effect<ReadonlyArray<Sample>, E>

/** Tasks, graders and workers of a recording. */
export interface Options extends Omit<Conductor.Options, "policy"> {
  /** Tasks to learn from; never those on which the policies are then measured. */
  readonly tasks: ReadonlyArray<Task>
  readonly grader: Grader.Grader
  /** Runs at once; 4 by default. */
  readonly concurrency?: number | undefined
  /** An account for all that is really paid. */
  readonly ledger?: Budget.Ledger | undefined
  /**
   * The store of answers. A cached answer is not paid again, but counts at its full cost for learning, so that the same
   * answers give the same result.
   */
  readonly store?: ResponseCache.Store | undefined
  /** Whether no call is made, and whatever the store has not is lost; false by default. */
  readonly isOffline?: boolean | undefined
}

const table = Tables.table(
  {
    ...Conductor.settingsTable,
    pool: Tables.expects("a WorkerPool", (value) => typeof value === "object" && value !== null && "workers" in value),
    tasks: Tables.expects("a list of tasks", Array.isArray),
    grader: Tables.madeBy("a grader", "grade"),
    concurrency: Tables.whole(1),
    ledger: Tables.madeBy("a ledger", "reserve"),
    store: Tables.anObject,
    isOffline: Tables.flag
  } satisfies Tables.ShapeOf<Options>,
  { required: ["tasks", "grader", "pool"] }
)

/**
 * A run without an answer says nothing about its policy, unless that wrote no workflow, or asked who declined. Nor does a
 * run that an outage has cut short.
 */
const isLost = (
  { answer, ending, error }: Conductor.RunResult,
  transcript: Transcript.Transcript | undefined
): boolean =>
  (answer === undefined && ending !== "refused" && !(error instanceof PolicyError)) ||
  (transcript !== undefined && StepFailure.outagesOf(transcript).length > 0)

/** Carries out a run. */
type Run = (task: Task, policy: Policy, listener: RunEvent.Listener) => Effect.Effect<Conductor.RunResult>

/** The Conductor of a policy. */
const conductorOf = (
  {
    concurrency: _,
    grader: _grader,
    isOffline: _isOffline,
    ledger: _ledger,
    store: _store,
    tasks: _tasks,
    ...run
  }: Options,
  policy: Policy
) => Conductor.make({ reassign: "never", ...run, policy })

/** Runs that are paid as they are made. */
const plainly =
  (options: Options): Run =>
  (task, policy, listener) =>
    conductorOf(options, policy).run(task, { ledger: options.ledger, listener })

/** Runs with a store of answers. Each run has its own account, where cached answers count at their original cost. */
const withStore = (options: Options, store: ResponseCache.Store): Run => {
  const cache = ResponseCache.make(store)
  const account = options.isOffline === true ? Budget.make({ calls: 0 }) : (options.ledger ?? Budget.make())
  return Effect.fnUntraced(function* (task: Task, policy: Policy, listener: RunEvent.Listener) {
    const ledger = Budget.make()
    let isRefused = false
    const payer: Budget.Payer = {
      account,
      onRefused: () => {
        isRefused = true
      }
    }
    const result = yield* conductorOf(options, policy)
      .run(task, { ledger, payer, listener, cachedAnswers: "charged" })
      .pipe(Effect.provideService(ResponseCache.ResponseCache, cache))
    return { ...result, ...(isRefused ? { answer: undefined, error: undefined } : {}), spend: ledger.spent() }
  })
}

const sampleOf = Effect.fnUntraced(function* (task: Task, policy: Policy, grader: Grader.Grader, run: Run) {
  const recorder = Transcript.recorder()
  const result = yield* run(task, policy, recorder.listener)
  const { answer, durationMillis, spend } = result
  const ran = { task, policy: policy.name, costUsd: spend.costUsd, durationMillis }
  if (isLost(result, recorder.transcript())) return ran
  const { score } = yield* Grader.ask(grader, task, answer ?? "")
  return { ...ran, score, answer }
})

/**
 * Records by running: each policy on each task once.
 *
 * **Example**
 *
 * ```ts
 * import { Baselines, Grader } from "@divisi/core"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as Task from "@divisi/core/Task"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import { Recording } from "@divisi/evals"
 * import * as Effect from "effect/Effect"
 *
 * const record = Recording.make({
 *   tasks: [Task.make({ question: "6 times 7?", reference: "42" })],
 *   grader: Grader.exact,
 *   pool: WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: ["42"] })])
 * })
 * const samples = await Effect.runPromise(record([Baselines.single("a")]))
 * samples[0]?.score // => 1
 * ```
 */
export const make = (options: Options): Record<Grader.GraderError> => {
  Tables.check("Recording.make", options, table)
  const { concurrency = 4, grader, store, tasks } = options
  const run = store === undefined ? plainly(options) : withStore(options, store)
  return (policies) =>
    Effect.forEach(
      policies.flatMap((policy) => tasks.map((task) => ({ task, policy }))),
      ({ policy, task }) => sampleOf(task, policy, grader, run),
      { concurrency }
    )
}

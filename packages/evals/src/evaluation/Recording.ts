/**
 * Recordings are scored answers from policies to training tasks. Baselines and profiles learn from them.
 *
 * They are made by an ordinary Conductor, so the cost of learning is accounted for like any other cost.
 */

import { Budget, Grader, ResponseCache, type RunEvent, StepFailure, Options as Tables, Transcript } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import { type Policy, PolicyError } from "@divisi/core/Policy"
import type { Task } from "@divisi/core/Task"
import * as Effect from "effect/Effect"

/** One answer from a policy to a task. */
export interface Sample {
  readonly task: Task
  readonly policy: string
  /** Omitted if the run produced no answer. */
  readonly answer?: string | undefined
  /** Score from 0 to 1. Omitted if the infrastructure failed, since that says nothing about the policy. */
  readonly score?: number | undefined
  /** The cost of the run in USD. */
  readonly costUsd: number
  readonly durationMillis: number
}

/** Function that runs policies on training tasks and returns at least one sample per policy and task. */
export type Record<E> = (policies: ReadonlyArray<Policy>) => Effect.Effect<ReadonlyArray<Sample>, E>

/** Options for creating a recorder. */
export interface Options extends Omit<Conductor.Options, "policy" | "reassign"> {
  /** Another worker never takes over, because the sample would then belong to that worker. */
  readonly reassign?: "never" | undefined
  /** Training tasks. Do not use the same tasks to evaluate the policies. */
  readonly tasks: ReadonlyArray<Task>
  readonly grader: Grader.Grader
  /** The number of concurrent runs. Default: 4. */
  readonly concurrency?: number | undefined
  /** Account that is charged for the actual spend. */
  readonly ledger?: Budget.Ledger | undefined
  /**
   * Store for answers. A cached answer is not paid for again, but its sample still reports the full cost, so that
   * learning produces the same result with and without the cache.
   */
  readonly store?: ResponseCache.Store | undefined
  /** Whether to run without network calls. Answers that are not in the store are then missing. Default: `false`. */
  readonly isOffline?: boolean | undefined
}

const table = Tables.table(
  {
    ...Conductor.settingsTable,
    reassign: Tables.oneOf("never"),
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
 * Whether a run provides no evidence about its policy: an outage cut it short, or it has no answer although the policy
 * wrote a workflow and no worker declined.
 */
const isLost = (
  { answer, ending, error }: Conductor.RunResult,
  transcript: Transcript.Transcript | undefined
): boolean =>
  (answer === undefined && ending !== "refused" && !(error instanceof PolicyError)) ||
  (transcript !== undefined && StepFailure.outagesOf(transcript).length > 0)

/** Runs a policy on a task. */
type Run = (task: Task, policy: Policy, listener: RunEvent.Listener) => Effect.Effect<Conductor.RunResult>

/** Creates the Conductor that runs a policy. */
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
) => Conductor.make({ ...run, policy, reassign: "never" })

/** Runs without a store, where every call is paid for. */
const plainly =
  (options: Options): Run =>
  (task, policy, listener) =>
    conductorOf(options, policy).run(task, { ledger: options.ledger, listener })

/** Runs with a store of answers. Each run has its own account, in which cached answers count at their original cost. */
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
 * Creates a recorder that runs each policy once on each task.
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

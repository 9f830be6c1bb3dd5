/**
 * Evaluations compare policies on the same tasks under the same conditions, and write a report.
 *
 * Each sample is one Conductor run. All samples have the same budget, and the seed is derived from the task and the
 * epoch, so it is the same for every policy. Answers are stored as they arrive. To resume an evaluation that was killed
 * or that reached its cost limit, run it again in the same folder; no answer is paid for twice.
 */

import path from "node:path"
import { type Budget, Callback, Elapsed, ResponseCache, Options as Tables, type Transcript } from "@divisi/core"
import { settingsRules, settingsTable } from "@divisi/core/Conductor"
import type { Policy } from "@divisi/core/Policy"
import type { MeasuredSettings } from "@divisi/core/RunSettings"
import type { Task } from "@divisi/core/Task"
import type * as Usage from "@divisi/core/Usage"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import { DiskCache } from "@divisi/files"
import { FileError } from "@divisi/files/FileError"
import type { Verdict } from "@divisi/graders"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Graded, Loaded } from "../benchmarks/Benchmark.ts"
import * as Selection from "../benchmarks/Selection.ts"
import * as Report from "../report/Report.ts"
import * as ReportFile from "../report/ReportFile.ts"
import * as Job from "./job.ts"
import * as Journal from "./journal.ts"
import * as Shared from "./machines.ts"
import { accountOf, remembering } from "./paying.ts"
import * as Plan from "./plan.ts"
import { type Progress, progressOf } from "./progress.ts"
import * as Refused from "./refused.ts"
import * as Runs from "./runs.ts"
import { usd } from "./sampling.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A set of tasks with the grader and the provenance of the data. */
export interface Suite {
  readonly record: Report.BenchmarkRecord
  readonly tasks: ReadonlyArray<Task>
  readonly grader: Verdict.AnswerGrader
}

/** A policy to evaluate. */
export interface Entry {
  readonly policy: Policy
  /** Whether the policy is a baseline. */
  readonly isBaseline?: boolean | undefined
  /**
   * Digest of the policy's source code. An evaluation is not resumed in a folder with samples from different source
   * code.
   */
  readonly digest?: string | undefined
  /** The output token limit per call, as a multiple of the other policies' limit. Default: 1. */
  readonly outputTokensFactor?: number | undefined
}

/** Settings that apply to every policy in an evaluation. */
export interface Terms {
  /** Number of answers to collect per policy and task. Default: 1. */
  readonly epochs?: number | undefined
  /**
   * Settings for each run. The budget applies to one question. All sample seeds are derived from `seed` (default: 0).
   * Without `maxOutputTokens`, each call is limited by the worker's own setting. If it has none, the limit is the
   * model's maximum, at most 8,192 tokens, or 4,096 tokens if the maximum is unknown. A `critic` that can read the
   * reference answers may leak them to the policy. `reassign` can only be `"never"`; otherwise, another worker's answer
   * would be measured.
   */
  readonly run?: MeasuredSettings | undefined
  /** The confidence level of the intervals. Default: 0.95. */
  readonly confidence?: number | undefined
}

/** Options of an evaluation. */
export interface Options extends Terms {
  readonly suites: ReadonlyArray<Suite>
  /** The policies to compare. The first one is the reference for all comparisons. */
  readonly policies: ReadonlyArray<Entry>
  readonly pool: WorkerPool
  /** Output folder, created if it does not exist. For its files, see `ReportFile`. */
  readonly folder: string
  /** Hard limit on the total cost of this evaluation, in USD. Default: no limit. */
  readonly maxCostUsd?: number | undefined
  /** Maximum number of concurrent runs. Default: 8. */
  readonly concurrency?: number | undefined
  /** USD already spent on this evaluation, for example on training baselines. It counts towards `maxCostUsd`. */
  readonly paidElsewhereUsd?: number | undefined
  /** Whether to retry samples that are missing because of an infrastructure failure. Default: `false`. */
  readonly retryMissing?: boolean | undefined
  /** The store of answers. Default: `answers.sqlite` in the folder. Sharing a store between evaluations saves calls. */
  readonly store?: ResponseCache.Store | undefined
  /**
   * Whether to run without network calls. A sample is then missing if the store lacks one of its answers. Default:
   * `false`.
   */
  readonly isOffline?: boolean | undefined
  /**
   * Shared stores for running the evaluation on several machines, which must all use the same options. `store`,
   * `onTranscript` and `paidElsewhereUsd` are then ignored. With `retryMissing`, a machine that joins reruns the
   * samples that are missing at that time.
   */
  readonly machines?: Shared.Machines | undefined
  /** Returns the seed of a sample. Default: derived from the seed of `run`, the task and the epoch. */
  readonly sampleSeed?: ((sample: Pick<Report.Sample, "benchmark" | "task" | "epoch">) => number) | undefined
  /** Versions of packages and models to include in the report. */
  readonly versions?: Readonly<Record<string, string>> | undefined
  /** Called at the start and after each sample. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /**
   * Called with the transcript of each run. If it throws, the sample is discarded and no further samples are started.
   */
  readonly onTranscript?:
    | ((
        transcript: Transcript.Transcript,
        sample: Report.Sample
      ) => void | PromiseLike<void> | Effect.Effect<void, FileError>)
    | undefined
}

/** The result of an evaluation. */
export interface Evaluated {
  readonly report: Report.Report
  /** The samples, with the text of confidential benchmarks removed (see `ReportFile`). */
  readonly samples: ReadonlyArray<Report.Sample>
  /** Set if the cost limit stopped the evaluation. */
  readonly stoppedBy?: Usage.BudgetExceeded | undefined
}

export { type Machines, MachinesError, type SharedSamples } from "./machines.ts"
export { EvaluationError } from "./plan.ts"

export type { Progress }

// -------------------------------------------------------------------------------------------------------------------
// Suites
// -------------------------------------------------------------------------------------------------------------------

/** Creates a suite from a loaded benchmark. */
export const suite = (benchmark: Graded, { provenance, tasks }: Loaded): Suite => ({
  record: {
    ...provenance,
    title: benchmark.title,
    isConfidential: benchmark.isConfidential === true,
    grader: benchmark.grader.name,
    stratum: benchmark.stratum
  },
  tasks,
  grader: benchmark.grader
})

/** Creates a suite from generated tasks. `prompt` names the prompt format in the report. */
export const madeSuite = (options: {
  readonly id: string
  readonly title: string
  readonly prompt: string
  readonly licence: string
  readonly tasks: ReadonlyArray<Task>
  readonly grader: Verdict.AnswerGrader
  readonly seed: number
  /** Name of the task metadata field by which samples are stratified. */
  readonly stratum?: string | undefined
}): Suite => ({
  record: {
    benchmark: options.id,
    title: options.title,
    prompt: options.prompt,
    licence: options.licence,
    isConfidential: false,
    grader: options.grader.name,
    stratum: options.stratum,
    files: [],
    available: options.tasks.length,
    selected: options.tasks.length,
    seed: options.seed,
    idsSha256: Selection.hash(options.tasks)
  },
  tasks: options.tasks,
  grader: options.grader
})

// -------------------------------------------------------------------------------------------------------------------
// Samples
// -------------------------------------------------------------------------------------------------------------------

/** State of a running evaluation. */
interface State extends Job.Shared {
  readonly plan: Report.Plan
  readonly journal: Journal.Journal
  readonly samples: Map<string, Report.Sample>
  /** Set once the cost limit has rejected a call. No samples are started after that. */
  halted: Usage.BudgetExceeded | undefined
  /** Set once a run or its transcript could not be stored. No samples are started after that. */
  broken: Journal.JournalError | undefined
  /** Whether an earlier write failed. */
  isTroubled: boolean
  readonly refused: Refused.Refused
}

/** Returns the error that prevents further samples from starting, because their results could not be stored. */
const obstacle = ({ broken, journal }: State) => broken ?? journal.waiting()

const keepTranscript = Effect.fnUntraced(function* (state: State, { sample, transcript }: Job.Made) {
  const { onTranscript } = state.options
  if (onTranscript === undefined) return true
  const kept = yield* Effect.result(
    Callback.called<void, FileError>(
      "onTranscript",
      () => onTranscript(transcript, sample),
      (error) => error instanceof FileError
    )
  )
  if (kept._tag === "Success") return true
  const { failure } = kept
  state.broken =
    failure instanceof FileError
      ? Journal.unwritable(state.samples.size)(failure)
      : new Journal.JournalError({
          file: path.join(state.options.folder, ReportFile.names.journal),
          reason: "unwritable",
          detail: failure.message
        })
  state.isTroubled = true
  return false
})

/** Number of samples after which the journals of their runs are removed. */
const sweepSize = 64

const make = Effect.fnUntraced(function* (state: State, job: Job.Job) {
  if (state.halted !== undefined || obstacle(state) !== undefined) return false
  const refusal = state.refused.find(job.entry)
  if (refusal !== undefined) {
    const { run, sample } = yield* Job.skipped(state.options, job, refusal)
    state.journal.sample(sample, state.runs.end(run))
    state.samples.set(Job.keyOf(job), sample)
    return true
  }
  const made = yield* Effect.catch(Job.run(state, job), (error) => {
    state.broken = Runs.unusable(error)
    state.isTroubled = true
    return Effect.undefined
  })
  if (made === undefined) return false
  // A failure while calls are refused may be caused by the cost limit. The sample is made again from the stored
  // answers.
  if (state.halted !== undefined && Job.isImpaired(made.sample)) {
    state.drop(made.run)
    return false
  }
  if (!(yield* keepTranscript(state, made))) return false
  state.refused.note(job.entry, made.sample)
  state.journal.sample(made.sample, state.runs.end(made.run))
  state.samples.set(Job.keyOf(job), made.sample)
  if (state.runs.ended() >= sweepSize && state.journal.flush() === undefined) yield* state.runs.sweep
  // Without this, workers that answer immediately would block signals and timers.
  yield* Effect.yieldNow
  return true
})

// -------------------------------------------------------------------------------------------------------------------
// Running
// -------------------------------------------------------------------------------------------------------------------

const reportOf = ({ options, payer, plan, samples }: State, jobs: ReadonlyArray<Job.Job>) => {
  const found = jobs.flatMap((job) => samples.get(Job.keyOf(job)) ?? [])
  const { maxCostUsd } = options
  const report = Report.make(plan, found, {
    status: found.length === jobs.length ? "complete" : "stopped",
    samples: found.length,
    planned: jobs.length,
    paidUsd: usd(payer.account.spent().costUsd),
    maxCostUsd
  })
  return { report, samples: ReportFile.shareable(report, found) }
}

const follow = (state: State, jobs: ReadonlyArray<Job.Job>, resumed: number) => {
  const { maxCostUsd, onProgress } = state.options
  let done = resumed
  let missing = jobs.filter((job) => state.samples.get(Job.keyOf(job))?.missing !== undefined).length
  return (job: Job.Job | undefined, elapsedMillis: number): void => {
    if (job !== undefined) done += 1
    if (job !== undefined && state.samples.get(Job.keyOf(job))?.missing !== undefined) missing += 1
    const paidUsd = usd(state.payer.account.spent().costUsd)
    const planned = jobs.length
    const progress = progressOf({ done, planned, resumed, missing, elapsedMillis, paidUsd, maxCostUsd })
    Callback.notifyLogged("onProgress", () => onProgress?.(progress))
  }
}

/** Runs the samples. Samples that failed because the disk was full are retried once there is space again. */
const untilDone = Effect.fnUntraced(function* (
  state: State,
  jobs: ReadonlyArray<Job.Job>,
  makeAll: (jobs: ReadonlyArray<Job.Job>) => Effect.Effect<void>
): Effect.fn.Return<void, Journal.JournalError> {
  for (let todo = jobs; todo.length > 0; ) {
    yield* makeAll(todo)
    const left = todo.filter((job) => !state.samples.has(Job.keyOf(job)))
    const failure = state.journal.flush() ?? (left.length === todo.length ? state.broken : undefined)
    if (failure !== undefined) return yield* failure
    if (state.halted !== undefined || left.length === todo.length) return
    state.broken = undefined
    todo = left
  }
})

const open = Effect.fnUntraced(function* (options: Options) {
  yield* Plan.check(options)
  const plan = Plan.planOf(options)
  const { journal, before } = yield* Journal.open(
    path.join(options.folder, ReportFile.names.journal),
    plan,
    Plan.checkSame(plan)
  )
  const store =
    options.store ??
    (yield* DiskCache.store({
      file: path.join(options.folder, ReportFile.names.answers),
      maxBytes: Number.MAX_SAFE_INTEGER
    }))
  const runs = yield* Runs.open(path.join(options.folder, ReportFile.names.runs), before?.ended ?? new Set())
  const { calls, costUsd } = runs.inDoubt
  if (calls > 0) {
    yield* Effect.logWarning(
      `${calls} ${calls === 1 ? "call was" : "calls were"} in flight when this evaluation was killed. Because the outcome is unknown, the maximum cost is charged: $${usd(costUsd)}.`
    )
  }
  const { paidElsewhereUsd = 0 } = options
  if (paidElsewhereUsd > 0) journal.paid({ paidUsd: paidElsewhereUsd })
  const { remember, store: remembered } = remembering(store, () => state.isTroubled || journal.waiting() !== undefined)
  const payer: Budget.Payer = {
    account: yield* accountOf(options, (before?.paidUsd ?? 0) + runs.paidUsd + paidElsewhereUsd, journal),
    chargesUnconfirmedCalls: true,
    onPaid: remember,
    onRefused: ({ error }) => {
      if (options.isOffline !== true && obstacle(state) === undefined) state.halted ??= error
    }
  }
  const kept = [...(before?.samples ?? [])].filter(
    ([, sample]) => options.retryMissing !== true || sample.missing === undefined
  )
  const state: State = {
    options,
    plan,
    cache: ResponseCache.make(remembered),
    payer,
    runs,
    drop: (run) => journal.paid(runs.end(run)),
    conductors: new Map(options.policies.map((entry) => [entry, Job.conductorOf(options, entry)])),
    journal,
    samples: new Map(kept),
    halted: undefined,
    broken: undefined,
    isTroubled: false,
    refused: Refused.make(options.policies)
  }
  return state
})

/** Errors that occur before the first sample, and disk errors. */
export type RunError =
  | Tables.OptionsError
  | Plan.EvaluationError
  | Journal.JournalError
  | DiskCache.DiskCacheError
  | ReportFile.ReportError
  | Shared.MachinesError

/** The names, types and ranges of {@link Options}, for their validation. */
const table = Tables.table(
  {
    suites: Tables.expects("a list of suites", Array.isArray),
    policies: Tables.expects("a list of policies", Array.isArray),
    pool: Tables.expects("a WorkerPool", (value) => typeof value === "object" && value !== null && "workers" in value),
    folder: Tables.name,
    maxCostUsd: Tables.limit,
    concurrency: Tables.whole(1),
    paidElsewhereUsd: Tables.number(0),
    retryMissing: Tables.flag,
    store: Tables.anObject,
    isOffline: Tables.flag,
    machines: Tables.anObject,
    sampleSeed: Tables.aFunction,
    versions: Tables.recordOf(Tables.text),
    onProgress: Tables.aFunction,
    onTranscript: Tables.aFunction,
    epochs: Tables.whole(1),
    run: Tables.table({ ...settingsTable, reassign: Tables.oneOf("never") }, { rules: settingsRules }),
    confidence: Tables.number(0.5, 0.9999)
  } satisfies Tables.ShapeOf<Options>,
  { required: ["suites", "policies", "pool", "folder"] }
)

/**
 * Evaluates policies and writes `results.json` and `samples.jsonl` to the folder.
 *
 * **Details**
 *
 * Calling `run` again with the same folder resumes the evaluation, including runs that were in progress. You can then
 * add policies, benchmarks and epochs, and raise the cost limit. Apart from measured times, the report is the same as
 * if the evaluation had not been interrupted. If the evaluation is interrupted or reaches its cost limit, the report
 * covers the samples completed by then.
 *
 * **Gotchas**
 *
 * A call that is in flight when the process is killed is repeated. The lost call counts towards the cost limit at its
 * maximum cost, but not towards the policy's cost. Workers must be stateless: answers must not depend on earlier
 * requests.
 *
 * **Example**
 *
 * ```ts
 * import fs from "node:fs"
 * import os from "node:os"
 * import path from "node:path"
 * import { Baselines } from "@divisi/core"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as Task from "@divisi/core/Task"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import { Evaluation } from "@divisi/evals"
 * import { IntegerGrader } from "@divisi/graders/math"
 * import * as Effect from "effect/Effect"
 *
 * const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-"))
 * const products = Evaluation.madeSuite({
 *   id: "products",
 *   title: "Products",
 *   prompt: "products/1",
 *   licence: "MIT",
 *   tasks: [Task.make({ question: "6 times 7?", reference: "42" })],
 *   grader: IntegerGrader.integer,
 *   seed: 0
 * })
 * const { report } = await Effect.runPromise(
 *   Evaluation.run({
 *     suites: [products],
 *     policies: [{ policy: Baselines.single("a") }],
 *     pool: WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: ["It is 42."] })]),
 *     folder
 *   })
 * )
 * report.cells[0]?.score.mean // => 1
 * ```
 */
export const run = (options: Options): Effect.Effect<Evaluated, RunError> =>
  Effect.scoped(
    Effect.gen(function* () {
      yield* Tables.checked("Evaluation.run", options, table)
      if (options.machines !== undefined) return yield* Shared.run(options, options.machines)
      const state = yield* open(options)
      const jobs = Job.jobsOf(options)
      const todo = jobs.filter((job) => !state.samples.has(Job.keyOf(job)))
      const clock = yield* Clock.Clock
      const started = Elapsed.ticks(clock)
      const elapsedMillis = () => Elapsed.millisSince(clock, started)
      const tell = follow(state, jobs, jobs.length - todo.length)
      tell(undefined, 0)
      const write = Effect.gen(function* () {
        state.journal.sum()
        const failure = state.journal.flush()
        if (failure !== undefined) return yield* failure
        yield* state.runs.sweep
        const { report, samples } = reportOf(state, jobs)
        yield* ReportFile.write(options.folder, report, samples)
        return { report, samples }
      })
      const makeAll = (todo: ReadonlyArray<Job.Job>) =>
        Effect.forEach(
          todo,
          (job) =>
            Effect.map(make(state, job), (isMade) => {
              if (isMade) tell(job, elapsedMillis())
            }),
          { concurrency: options.concurrency ?? 8, discard: true }
        )
      yield* Effect.onInterrupt(untilDone(state, todo, makeAll), () => Effect.ignore(write))
      const evaluated = yield* write
      return state.halted === undefined ? evaluated : { ...evaluated, stoppedBy: state.halted }
    })
  )

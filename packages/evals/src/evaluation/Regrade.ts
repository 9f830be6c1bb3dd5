/**
 * Regrades the stored answers of an evaluation without calling workers, for example after a grader was fixed.
 *
 * The report is the same as if the new grader had been used from the start. Samples without an answer are unchanged.
 */
import fs from "node:fs"
import path from "node:path"
import { Grader, Options as Tables } from "@divisi/core"
import type { Task } from "@divisi/core/Task"
import * as Effect from "effect/Effect"
import { sha256 } from "../internal/digest.ts"
import * as Report from "../report/Report.ts"
import * as ReportFile from "../report/ReportFile.ts"
import { EvaluationError, type Suite } from "./Evaluation.ts"
import * as Journal from "./journal.ts"
import { regraded, usd } from "./sampling.ts"

/** The evaluation to regrade, and the graders to use. */
export interface Options {
  /** The folder of the evaluation. */
  readonly folder: string
  /** All benchmarks of the evaluation, with the graders to use. */
  readonly suites: ReadonlyArray<Suite>
  /** Maximum number of answers to grade concurrently. Default: 4. */
  readonly concurrency?: number | undefined
}

/** A sample whose verdict changed. */
export interface Change {
  readonly before: Report.Sample
  readonly after: Report.Sample
}

/** The new report, and the changes. */
interface Regraded {
  readonly report: Report.Report
  /** The samples, with the text of confidential benchmarks removed. */
  readonly samples: ReadonlyArray<Report.Sample>
  /** Number of answers that were regraded. */
  readonly graded: number
  readonly changes: ReadonlyArray<Change>
}

const noEvaluation = (folder: string) =>
  new ReportFile.ReportError({
    file: folder,
    reason: "not-found",
    detail: `it has no ${ReportFile.names.journal}`
  })

/**
 * Finds the task of a sample. Returns `undefined` if the task's prompt has changed or the benchmark no longer contains
 * it.
 */
const taskOf = (suites: ReadonlyArray<Suite>) => {
  const tasks = new Map(
    suites.flatMap(({ grader, record, tasks }) =>
      tasks.map((task) => [JSON.stringify([record.benchmark, task.id]), { grader, task }] as const)
    )
  )
  return (sample: Report.Sample) => tasks.get(JSON.stringify([sample.benchmark, sample.task]))
}

const isAsked = (sample: Report.Sample, task: Task): boolean =>
  sha256(JSON.stringify(task.messages)) === sample.promptSha256

/** Whether a sample has an answer that was not cut short by an outage. */
const isGradable = ({ answer, missing }: Report.Sample): boolean => answer !== undefined && missing?.cause !== "worker"

const gradeAgain = (find: ReturnType<typeof taskOf>) =>
  Effect.fnUntraced(function* (sample: Report.Sample) {
    const { answer } = sample
    if (answer === undefined || !isGradable(sample)) return sample
    const found = find(sample)
    if (found === undefined || !isAsked(sample, found.task)) {
      return yield* new EvaluationError({ reason: "changed", detail: `task ${sample.task} of ${sample.benchmark}` })
    }
    return regraded(sample, yield* Effect.catch(Grader.ask(found.grader, found.task, answer), Effect.succeed))
  })

const isSame = (before: Report.Sample, after: Report.Sample): boolean =>
  before.score === after.score && before.rung === after.rung && before.extracted === after.extracted

/** Whether a sample belongs to the current plan; the file may also contain samples from an earlier one. */
const isPlanned = ({ benchmarks, config }: Report.Plan) => {
  const policies = new Set(config.policies.map(({ name }) => name))
  const names = new Set(benchmarks.map(({ benchmark }) => benchmark))
  return ({ benchmark, epoch, policy }: Report.Sample) =>
    names.has(benchmark) && policies.has(policy) && epoch < config.epochs
}

const planWith = (plan: Report.Plan, suites: ReadonlyArray<Suite>): Report.Plan => {
  const graders = new Map(
    suites.map(({ grader, record: { benchmark, graderDigest } }) => [benchmark, { grader: grader.name, graderDigest }])
  )
  return { ...plan, benchmarks: plan.benchmarks.map((one) => ({ ...one, ...graders.get(one.benchmark) })) }
}

const table = Tables.table(
  {
    folder: Tables.name,
    suites: Tables.expects("a list of suites", Array.isArray),
    concurrency: Tables.whole(1)
  } satisfies Tables.ShapeOf<Options>,
  { required: ["folder", "suites"] }
)

/** Regrades all answers of an evaluation and rewrites its report. The files are replaced together at the end. */
export const regrade = (options: Options) =>
  Effect.scoped(
    Effect.gen(function* () {
      yield* Tables.checked("Regrade.regrade", options, table)
      const { concurrency = 4, folder, suites } = options
      const file = path.join(folder, ReportFile.names.journal)
      if (!fs.existsSync(file)) return yield* noEvaluation(folder)
      yield* Journal.lock(file)
      const found = yield* Journal.read(file)
      if (found === undefined) return yield* noEvaluation(folder)
      const { damaged } = found
      if (found.plan === undefined || damaged.length > 0) {
        const detail = `line ${damaged.join(", ")} cannot be read`
        return yield* new Journal.JournalError({ file, reason: "damaged", detail })
      }
      const plan = planWith(found.plan, suites)
      const before = [...found.samples.values()].filter(isPlanned(plan))
      const samples = yield* Effect.forEach(before, gradeAgain(taskOf(suites)), { concurrency })
      const planned =
        plan.benchmarks.reduce((sum, { selected }) => sum + selected, 0) *
        plan.config.policies.length *
        plan.config.epochs
      const report = Report.make(plan, samples, {
        status: samples.length === planned ? "complete" : "stopped",
        samples: samples.length,
        planned,
        paidUsd: usd(found.paidUsd)
      })
      yield* ReportFile.write(folder, report, samples)
      const kept = [...found.samples.values()].filter((sample) => !isPlanned(plan)(sample))
      yield* Journal.replace(file, { plan, paidUsd: found.paidUsd, samples: [...kept, ...samples] })
      return {
        report,
        samples: ReportFile.shareable(report, samples),
        graded: samples.filter(isGradable).length,
        changes: samples.flatMap((after, index): ReadonlyArray<Change> => {
          const one = before[index]!
          return isSame(one, after) ? [] : [{ before: one, after }]
        })
      } satisfies Regraded
    })
  )

/**
 * Reports: what an evaluation found, as plain JSON values with a version.
 *
 * A report holds the data for every table and picture. Its samples, one line each, hold the data to compute the report
 * again: {@link make} is a function of them. An unknown value is `null`, never 0. A report quotes nothing of a
 * confidential benchmark.
 */
import type { Budget, RunEvent, Topology, Workflow } from "@divisi/core"
import type { Pricing } from "@divisi/core/Usage"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import type { Provenance } from "../benchmarks/Benchmark.ts"
import { short } from "../internal/digest.ts"
import { comparisonsOf } from "./compared.ts"
import { equalBudgetOf } from "./equalBudget.ts"
import { cellOf, overallOf } from "./summary.ts"

/** The version of reports and samples on disk. */
export const version = 1

/** A number, or `null` if it is undefined, e.g. the mean of no values or an unknown price. */
export type Figure = number | null

// -------------------------------------------------------------------------------------------------------------------
// Samples
// -------------------------------------------------------------------------------------------------------------------

/** The outcome of one step of a run. */
export interface Step {
  /** From 0. */
  readonly round: number
  readonly step: number
  /** The id of who answered it. */
  readonly worker: string
  readonly state: "answered" | "failed" | "skipped"
  readonly access: Workflow.Access
  /** The subtask sent to the worker; absent for a confidential benchmark, empty if it was only the question. */
  readonly subtask?: string | undefined
  /** Calls of it that failed, each tried again or given up. */
  readonly failedCalls: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: Figure
  readonly millis: Figure
}

/** Why a sample has no score: for a reason that says nothing about the policy. */
export interface Missing {
  /** `worker`: calls failed for a reason that says nothing about the answer. `grader`: it reached no verdict. */
  readonly cause: "worker" | "grader" | "harness"
  /** For a worker, which reason. */
  readonly reason?: WorkerErrorReason["_tag"] | undefined
  readonly message: string
}

/** One answer of one policy to one task. Its policy, benchmark, task and epoch name it. */
export interface Sample {
  readonly version: typeof version
  readonly benchmark: string
  readonly task: string
  /** The stratum of the task, such as its subject. */
  readonly stratum?: string | undefined
  /** From 0. */
  readonly epoch: number
  readonly policy: string
  /** The seed of the run, which is the same for every policy. */
  readonly seed: number
  /** The SHA-256 of the task's messages. */
  readonly promptSha256: string
  readonly ending: RunEvent.Ending
  /** The whole final answer; absent if the run gave no answer, and for a confidential benchmark. */
  readonly answer?: string | undefined
  readonly answerSha256?: string | undefined
  /** The answer as the grader read it; absent under the same conditions as `answer`. */
  readonly extracted?: string | undefined
  /** These four are absent when the sample is missing. */
  readonly score?: number | undefined
  readonly correct?: boolean | undefined
  /** The rung that decided; `unparsed` if the text contains no answer, `no-answer` if the run returned none. */
  readonly rung?: string | undefined
  /** Whether no answer could be read, which counts as wrong. */
  readonly isUnparsed?: boolean | undefined
  /** Present when the infrastructure lost the sample, which is then in no mean. */
  readonly missing?: Missing | undefined
  /** Why the run ended without an answer, or before its end; such a sample may still be scored. */
  readonly failure?: string | undefined
  /** The cost of the run if every call is paid for, including those that another policy had paid for before. */
  readonly costUsd: number
  /** The number of calls with unknown price, which are missing from `costUsd`. */
  readonly unpricedCalls: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** An impossible value that a vendor reported, e.g. `outputTokens: -90`. An estimate is used instead. */
  readonly misreported?: string | undefined
  /** Calls of workers and policies, failed ones included. */
  readonly calls: number
  readonly failedCalls: number
  /** The wall time that the run takes when no call is found in a store: its completions and its critical path. */
  readonly millis: number
  readonly rounds: number
  readonly steps: ReadonlyArray<Step>
  /** The shape of the last workflow that had steps; `empty` when none had any. */
  readonly shape: Topology.Shape
  /** The indices in `steps` that decided how long that workflow took, and how long it took. */
  readonly criticalPath: { readonly steps: ReadonlyArray<number>; readonly millis: number }
}

// -------------------------------------------------------------------------------------------------------------------
// Configuration
// -------------------------------------------------------------------------------------------------------------------

/** Everything that was chosen: the same configuration, tasks and answers give the same report. */
export interface Config {
  /** The policies in their order; the first is the one that the others are compared with. */
  readonly policies: ReadonlyArray<PolicyChoice>
  /** Answers of every policy to every task. */
  readonly epochs: number
  readonly seed: number
  /** The budget of one question, the same for every policy. */
  readonly perQuestion: Budget.Limits
  readonly maxSteps: number
  readonly recursion: number
  /** The most output tokens of a call; when absent, what each worker's own setting says, or 8,192 at most. */
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  /** Other settings of the Conductor, by name: reasoning, a critic, the Conductor as its own worker. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined
  readonly confidence: number
}

/** A policy as it was asked for. */
export interface PolicyChoice {
  readonly name: string
  readonly isBaseline: boolean
  /** A digest of its source, such as its module, if known. */
  readonly digest?: string | undefined
}

/** A benchmark as it was loaded. */
export interface BenchmarkRecord extends Provenance {
  readonly title: string
  /**
   * The benchmark as requested, if that shows the source of its records: a name, or a path on the machine it ran on.
   */
  readonly requested?: string | undefined
  /** The grader that was asked for, of a file of the user's: a name, or the path of a module. */
  readonly requestedGrader?: string | undefined
  /** The requested part of the benchmark, if it is not the default for evaluation. */
  readonly split?: string | undefined
  readonly isConfidential: boolean
  readonly grader: string
  /** A digest of the source of the grader, such as its module, if known. */
  readonly graderDigest?: string | undefined
  /** The field of a task's metadata that is each sample's `stratum`. */
  readonly stratum?: string | undefined
}

/** A worker of the pool. */
export interface WorkerRecord {
  readonly id: string
  readonly description?: string | undefined
  readonly provider?: string | undefined
  readonly pricing?: Pricing | undefined
}

/** Facts about an evaluation that are known before it starts. */
export interface Plan {
  readonly config: Config
  readonly benchmarks: ReadonlyArray<BenchmarkRecord>
  readonly pool: ReadonlyArray<WorkerRecord>
  /** Packages and the runtime, by name. */
  readonly versions: Readonly<Record<string, string>>
}

// -------------------------------------------------------------------------------------------------------------------
// Results
// -------------------------------------------------------------------------------------------------------------------

/** The mean score, and how sure it is: see `Statistics.Score`. */
export interface Score {
  readonly mean: Figure
  /** Clustered by question. */
  readonly standardError: Figure
  readonly low: Figure
  readonly high: Figure
  readonly method: "wilson" | "student" | "bootstrap"
  readonly confidence: number
  readonly questions: number
  /** Scored ones, those without a readable answer included. */
  readonly samples: number
  readonly correct: number
  readonly unparsed: number
  /** Scored as wrong, as the run gave no answer at all. */
  readonly unanswered: number
  /** Lost by the infrastructure, and in no mean. */
  readonly missing: number
  /** The number of missing samples for each reason. */
  readonly missingBy: Readonly<Record<string, number>>
  /** The smallest detectable difference from another policy with this number of samples. */
  readonly minimumDetectable: Figure
}

/** A distribution of something measured for each sample. */
export interface Spread {
  readonly total: number
  readonly mean: Figure
  readonly median: Figure
  readonly p90: Figure
  readonly p99: Figure
}

/** A count, and the total. */
export interface Share {
  readonly name: string
  readonly count: number
  /** 0 to 1. */
  readonly share: number
}

/** The results of a policy on a benchmark. All values except the score are over all samples, including missing ones. */
export interface Cell {
  readonly policy: string
  readonly benchmark: string
  readonly score: Score
  /** The chance that of `k` answers one is right, and that all are; for `k` from 1 to the number of epochs. */
  readonly passAt: ReadonlyArray<{ readonly k: number; readonly any: Figure; readonly all: Figure }>
  readonly costUsd: Spread
  readonly unpricedCalls: number
  readonly inputTokens: Spread
  readonly outputTokens: Spread
  /** In how many runs a vendor reported usage that cannot be, and what it said in the first; absent where none did. */
  readonly misreported?: { readonly runs: number; readonly first: string } | undefined
  readonly millis: Spread
  readonly calls: Spread
  readonly failedCalls: number
  /** Steps of a run that were carried out. */
  readonly steps: Spread
  /** The number of runs by their number of steps, which is the name. In ascending order. */
  readonly stepCounts: ReadonlyArray<Share>
  /** The workers that carried out the steps, by the number of steps. */
  readonly workers: ReadonlyArray<Share>
  readonly shapes: ReadonlyArray<Share>
  /** The rungs that decided the verdicts. */
  readonly rungs: ReadonlyArray<Share>
  readonly strata: ReadonlyArray<{
    readonly stratum: string
    readonly questions: number
    readonly samples: number
    readonly mean: Figure
    readonly standardError: Figure
  }>
}

/** The results of a policy over all benchmarks, each with the same weight, as in the tables of the paper. */
export interface Overall {
  readonly policy: string
  /** Not known while a benchmark has no score. */
  readonly mean: Figure
  readonly standardError: Figure
  readonly low: Figure
  readonly high: Figure
  /** The cost of one question, even if it is a mean over benchmarks. */
  readonly costUsd: Figure
  readonly tokens: Figure
  readonly millis: Figure
  readonly steps: Figure
  readonly samples: number
  readonly missing: number
}

/** A policy against another, question by question: see `Statistics.Difference`. */
export interface Comparison {
  readonly benchmark: string
  readonly policy: string
  readonly against: string
  /** The mean of `policy` minus that of `against`. */
  readonly mean: Figure
  readonly standardError: Figure
  readonly low: Figure
  readonly high: Figure
  readonly confidence: number
  readonly correlation: Figure
  readonly p: Figure
  /** By Holm, over all comparisons of the report. */
  readonly pAdjusted: Figure
  readonly test: "mcnemar" | "sign-flip"
  /** Questions that both have a score for. */
  readonly questions: number
  /** On how many of these the first does better, worse or the same. */
  readonly better: number
  readonly worse: number
  readonly same: number
  readonly minimumDetectable: Figure
}

/**
 * A policy against self-consistency of the best single worker at equal generated tokens: the most frequent of as many
 * answers per question as the output tokens of the policy pay for.
 */
export interface EqualBudget {
  readonly benchmark: string
  readonly policy: string
  /** The worker with the best single answers in this evaluation. */
  readonly worker: string
  /** Mean output tokens of the policy per question, those of its own model included. */
  readonly tokens: Figure
  /** Mean output tokens of one answer of the worker. */
  readonly workerTokens: Figure
  /** The answers per question that the tokens of the policy pay for, to two decimals; at least 1. */
  readonly paid: number
  /**
   * The answers per question that were compared: fewer than `paid` if the evaluation has no more. A number that is not
   * whole is interpolated.
   */
  readonly votes: number
  /** The mean score of these votes. */
  readonly score: Figure
  /** The mean score of the policy minus that of the votes, over the same questions, with its interval. */
  readonly mean: Figure
  readonly low: Figure
  readonly high: Figure
  readonly confidence: number
  /** By Holm, over all verdicts of the report. */
  readonly pAdjusted: Figure
  readonly questions: number
  readonly minimumDetectable: Figure
  /** A policy whose interval is below this difference in score is not worth it; absent in reports of older versions. */
  readonly margin?: number | undefined
  readonly verdict: "worth-it" | "not-worth-it" | "undecided"
}

/** The extent to which an evaluation was completed. */
export interface Extent {
  /** `stopped`: by its cost limit, or by a person. */
  readonly status: "complete" | "stopped"
  /** Samples that there are, of those that were planned. */
  readonly samples: number
  readonly planned: number
  /** USD paid in total, with each call counted once; it may be less than the sum of the samples' costs. */
  readonly paidUsd: number
  /** The limit of it, when there was one. */
  readonly maxCostUsd?: number | undefined
}

/** All that an evaluation found. */
export interface Report extends Plan {
  readonly version: typeof version
  readonly extent: Extent
  /** By benchmark, and then by policy. */
  readonly cells: ReadonlyArray<Cell>
  readonly overall: ReadonlyArray<Overall>
  readonly comparisons: ReadonlyArray<Comparison>
  /** Absent in reports of older versions; empty if no worker was measured alone. */
  readonly equalBudget?: ReadonlyArray<EqualBudget> | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * The report of samples. The order of the samples does not matter; the same samples give the same report.
 *
 * **Details**
 *
 * Every policy is compared with the first, on each benchmark.
 */
export const make = (plan: Plan, samples: ReadonlyArray<Sample>, extent: Extent): Report => {
  const { config } = plan
  const ordered = sorted(samples)
  const cells = plan.benchmarks.flatMap(({ benchmark }) =>
    config.policies.map(({ name }) =>
      cellOf(
        { policy: name, benchmark },
        ordered.filter((sample) => sample.benchmark === benchmark && sample.policy === name),
        config
      )
    )
  )
  return {
    version,
    ...plan,
    extent,
    cells,
    overall: config.policies.map(({ name }) =>
      overallOf(
        name,
        cells.filter(({ policy }) => policy === name),
        config.confidence
      )
    ),
    comparisons: comparisonsOf(plan, ordered),
    equalBudget: equalBudgetOf(plan, ordered)
  }
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** Samples in the one order that files hold them in: by benchmark, task, epoch and policy. */
export const sorted = (samples: ReadonlyArray<Sample>): ReadonlyArray<Sample> =>
  [...samples].sort(
    (a, b) =>
      compare(a.benchmark, b.benchmark) || compare(a.task, b.task) || a.epoch - b.epoch || compare(a.policy, b.policy)
  )

/** Returns the key of a sample within an evaluation. */
export const key = (sample: Pick<Sample, "benchmark" | "task" | "epoch" | "policy">): string =>
  JSON.stringify([sample.benchmark, sample.task, sample.epoch, sample.policy])

/** Returns the id of a sample's run, as in its transcript. */
export const runId = (sample: Pick<Sample, "benchmark" | "task" | "epoch" | "policy" | "seed">): string =>
  short(String(sample.seed), key(sample))

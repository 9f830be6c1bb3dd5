/**
 * Reports: the results of an evaluation as plain, versioned JSON.
 *
 * A report contains the data for all tables and charts. It can be recomputed from its samples with {@link make}. An
 * unknown value is `null`, never 0. For a confidential benchmark, a report contains no text.
 */
import type { Budget, RunEvent, Topology, Workflow } from "@divisi/core"
import type { Pricing } from "@divisi/core/Usage"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import type { Provenance } from "../benchmarks/Benchmark.ts"
import { short } from "../internal/digest.ts"
import { comparisonsOf } from "./compared.ts"
import { equalBudgetOf } from "./equalBudget.ts"
import { cellOf, overallOf } from "./summary.ts"

/** Version of the format for reports and samples on disk. */
export const version = 1

/** A number, or `null` if it is undefined, such as a mean without values or an unknown price. */
export type Figure = number | null

// -------------------------------------------------------------------------------------------------------------------
// Samples
// -------------------------------------------------------------------------------------------------------------------

/** The result of one step of a run. */
export interface Step {
  /** The index of the round, from 0. */
  readonly round: number
  readonly step: number
  /** The id of the worker that answered. */
  readonly worker: string
  readonly state: "answered" | "failed" | "skipped"
  readonly access: Workflow.Access
  /**
   * The subtask sent to the worker. Empty if it received the question unchanged; omitted for a confidential benchmark.
   */
  readonly subtask?: string | undefined
  /** The number of failed calls, retried or not. */
  readonly failedCalls: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: Figure
  readonly millis: Figure
}

/** The reason why a sample has no score. It never counts against the policy. */
export interface Missing {
  /**
   * `worker`: calls failed for a reason unrelated to the answer. `grader`: the grader failed. `harness`: the evaluation
   * itself failed.
   */
  readonly cause: "worker" | "grader" | "harness"
  /** The class of the worker's error. */
  readonly reason?: WorkerErrorReason["_tag"] | undefined
  readonly message: string
}

/** One answer of one policy to one task. It is identified by policy, benchmark, task and epoch. */
export interface Sample {
  readonly version: typeof version
  readonly benchmark: string
  readonly task: string
  /** The stratum of the task, such as its subject. */
  readonly stratum?: string | undefined
  /** Index of the epoch, from 0. */
  readonly epoch: number
  readonly policy: string
  /** The seed of the run, which is the same for every policy. */
  readonly seed: number
  /** The SHA-256 of the task's messages. */
  readonly promptSha256: string
  readonly ending: RunEvent.Ending
  /** The full final answer. Omitted if the run has no answer, or for a confidential benchmark. */
  readonly answer?: string | undefined
  readonly answerSha256?: string | undefined
  /** The answer as extracted by the grader. Omitted under the same conditions as `answer`. */
  readonly extracted?: string | undefined
  /** The score. This and the next three fields are omitted if the sample is missing. */
  readonly score?: number | undefined
  readonly correct?: boolean | undefined
  /**
   * The grading rule that decided the verdict; `unparsed` if the text does not contain an answer, `no-answer` if the
   * run has no answer.
   */
  readonly rung?: string | undefined
  /** Whether no answer could be extracted, which counts as wrong. */
  readonly isUnparsed?: boolean | undefined
  /** Set if the sample was lost to an infrastructure failure. Such samples are excluded from means. */
  readonly missing?: Missing | undefined
  /** Why the run ended without an answer or was cut short. Such a sample may still have a score. */
  readonly failure?: string | undefined
  /** Cost of all calls of the run in USD, including calls already paid for by another policy. */
  readonly costUsd: number
  /** The number of calls without a known price, which `costUsd` does not include. */
  readonly unpricedCalls: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** An impossible value that a vendor reported, e.g. `outputTokens: -90`. An estimate is used instead. */
  readonly misreported?: string | undefined
  /** The number of calls of workers and policies, including failed ones. */
  readonly calls: number
  readonly failedCalls: number
  /** The duration of the run without cached calls: its completions and its critical path. */
  readonly millis: number
  readonly rounds: number
  readonly steps: ReadonlyArray<Step>
  /** The shape of the last workflow with steps; `empty` if no workflow had steps. */
  readonly shape: Topology.Shape
  /** The critical path of that workflow, as indices in `steps`, and its duration. */
  readonly criticalPath: { readonly steps: ReadonlyArray<number>; readonly millis: number }
}

// -------------------------------------------------------------------------------------------------------------------
// Configuration
// -------------------------------------------------------------------------------------------------------------------

/** Configuration of the evaluation. The same configuration, tasks and answers produce the same report. */
export interface Config {
  /** Policies in order. All others are compared with the first. */
  readonly policies: ReadonlyArray<PolicyChoice>
  /** The number of answers per policy and task. */
  readonly epochs: number
  readonly seed: number
  /** The budget of one question, the same for every policy. */
  readonly perQuestion: Budget.Limits
  readonly maxSteps: number
  readonly recursion: number
  /** Output token limit per call. If omitted, each worker's own setting applies, or 8,192 for a worker without one. */
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  /** Other Conductor settings by name, such as reasoning, a critic, or the Conductor as its own worker. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined
  readonly confidence: number
}

/** A policy of the evaluation. */
export interface PolicyChoice {
  readonly name: string
  readonly isBaseline: boolean
  /** Digest of the policy's source code, if known. */
  readonly digest?: string | undefined
}

/** A loaded benchmark. */
export interface BenchmarkRecord extends Provenance {
  readonly title: string
  /** The benchmark as requested, if it identifies the source: a name, or a path on the machine of the evaluation. */
  readonly requested?: string | undefined
  /** The requested grader for a user's file: a name, or the path of a module. */
  readonly requestedGrader?: string | undefined
  /** The requested split of the benchmark, if it is not the default. */
  readonly split?: string | undefined
  readonly isConfidential: boolean
  readonly grader: string
  /** Digest of the grader's source code, if known. */
  readonly graderDigest?: string | undefined
  /** Name of the metadata field from which each sample's `stratum` is taken. */
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
  /** The versions of packages and the runtime, by name. */
  readonly versions: Readonly<Record<string, string>>
}

// -------------------------------------------------------------------------------------------------------------------
// Results
// -------------------------------------------------------------------------------------------------------------------

/** The mean score and its uncertainty (see `Statistics.Score`). */
export interface Score {
  readonly mean: Figure
  /** Standard error, clustered by question. */
  readonly standardError: Figure
  readonly low: Figure
  readonly high: Figure
  readonly method: "wilson" | "student" | "bootstrap"
  readonly confidence: number
  readonly questions: number
  /** The number of scored samples, including those without a readable answer. */
  readonly samples: number
  readonly correct: number
  readonly unparsed: number
  /** The number of samples scored as wrong because the run has no answer. */
  readonly unanswered: number
  /** Number of samples lost to infrastructure failures. They are excluded from means. */
  readonly missing: number
  /** The number of missing samples for each class of failure. */
  readonly missingBy: Readonly<Record<string, number>>
  /** The most frequent reasons for samples without an answer. Not present in reports written by older versions. */
  readonly unansweredReasons?: ReadonlyArray<Reason> | undefined
  /** The most frequent reasons for missing samples. Not present in reports written by older versions. */
  readonly missingReasons?: ReadonlyArray<Reason> | undefined
  /** Smallest difference from another policy that this number of samples can detect. */
  readonly minimumDetectable: Figure
}

/** A reason, and the number of samples that have it. */
export interface Reason {
  /** The error message, of at most 200 characters. Hidden for confidential benchmarks. */
  readonly reason: string
  readonly samples: number
}

/** The distribution of a measured value over samples. */
export interface Spread {
  readonly total: number
  readonly mean: Figure
  readonly median: Figure
  readonly p90: Figure
  readonly p99: Figure
}

/** A count and its share of the total. */
export interface Share {
  readonly name: string
  readonly count: number
  /** Share of the total, from 0 to 1. */
  readonly share: number
}

/** Results of a policy on a benchmark. All values except the score cover all samples, including missing ones. */
export interface Cell {
  readonly policy: string
  readonly benchmark: string
  readonly score: Score
  /**
   * The probability that at least one of `k` answers is correct, and that all are, for `k` from 1 to the number of
   * epochs.
   */
  readonly passAt: ReadonlyArray<{ readonly k: number; readonly any: Figure; readonly all: Figure }>
  readonly costUsd: Spread
  readonly unpricedCalls: number
  readonly inputTokens: Spread
  readonly outputTokens: Spread
  /**
   * Number of runs with an impossible usage report, and the first such report. Omitted if all reports were plausible.
   */
  readonly misreported?: { readonly runs: number; readonly first: string } | undefined
  readonly millis: Spread
  readonly calls: Spread
  readonly failedCalls: number
  /** The number of executed steps per run. */
  readonly steps: Spread
  /** The number of runs by number of steps, in ascending order. `name` is the number of steps. */
  readonly stepCounts: ReadonlyArray<Share>
  /** Number of executed steps per worker. */
  readonly workers: ReadonlyArray<Share>
  readonly shapes: ReadonlyArray<Share>
  /** How often each grading rule decided a verdict. */
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
  /** Mean score. `null` if a benchmark has no score. */
  readonly mean: Figure
  readonly standardError: Figure
  readonly low: Figure
  readonly high: Figure
  /** The mean cost of one question. */
  readonly costUsd: Figure
  readonly tokens: Figure
  readonly millis: Figure
  readonly steps: Figure
  readonly samples: number
  readonly missing: number
}

/** A paired comparison of two policies (see `Statistics.Difference`). */
export interface Comparison {
  readonly benchmark: string
  readonly policy: string
  readonly against: string
  /** Mean of `policy` minus mean of `against`. */
  readonly mean: Figure
  readonly standardError: Figure
  readonly low: Figure
  readonly high: Figure
  readonly confidence: number
  readonly correlation: Figure
  readonly p: Figure
  /** The p-value, adjusted with Holm's method across all comparisons in the report. */
  readonly pAdjusted: Figure
  readonly test: "mcnemar" | "sign-flip"
  /** The number of questions for which both have a score. */
  readonly questions: number
  /** The number of these questions on which the first is better, worse or equal. */
  readonly better: number
  readonly worse: number
  readonly same: number
  readonly minimumDetectable: Figure
}

/**
 * A comparison of a policy with majority voting by the best single worker, where the worker may generate as many output
 * tokens as the policy used.
 */
export interface EqualBudget {
  readonly benchmark: string
  readonly policy: string
  /** The worker with the best single answers in this evaluation. */
  readonly worker: string
  /** Mean output tokens of the policy per question, including those of the policy's own model. */
  readonly tokens: Figure
  /** Mean output tokens of one answer of the worker. */
  readonly workerTokens: Figure
  /**
   * Number of answers per question that the worker can give with the policy's tokens, rounded to two decimals; can be
   * below 1.
   */
  readonly paid: number
  /**
   * Number of answers per question that were compared. Lower than `paid` if the evaluation contains fewer. Fractions
   * are interpolated.
   */
  readonly votes: number
  /** The mean score of the majority votes. */
  readonly score: Figure
  /** The difference between the mean scores of the policy and the votes, over the same questions, with its interval. */
  readonly mean: Figure
  readonly low: Figure
  readonly high: Figure
  readonly confidence: number
  /** The p-value, adjusted with Holm's method across all verdicts in the report. */
  readonly pAdjusted: Figure
  readonly questions: number
  readonly minimumDetectable: Figure
  /**
   * If the whole interval is below this difference in score, the policy is not worth it. Not present in reports written
   * by older versions.
   */
  readonly margin?: number | undefined
  readonly verdict: "worth-it" | "not-worth-it" | "undecided"
}

/** How much of an evaluation was completed. */
export interface Extent {
  /** `stopped` means that it reached its cost limit or that a user stopped it. */
  readonly status: "complete" | "stopped"
  /** Number of samples that exist, out of `planned`. */
  readonly samples: number
  readonly planned: number
  /** USD paid in total, with each call counted once; it may be less than the sum of the samples' costs. */
  readonly paidUsd: number
  /** The cost limit, if any. */
  readonly maxCostUsd?: number | undefined
}

/** The complete results of an evaluation. */
export interface Report extends Plan {
  readonly version: typeof version
  readonly extent: Extent
  /** Results in order of benchmark and policy. */
  readonly cells: ReadonlyArray<Cell>
  readonly overall: ReadonlyArray<Overall>
  readonly comparisons: ReadonlyArray<Comparison>
  /** Not present in reports written by older versions. Empty if no worker was measured alone. */
  readonly equalBudget?: ReadonlyArray<EqualBudget> | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Builds a report from samples. The order of the samples does not matter.
 *
 * **Details**
 *
 * On each benchmark, all other policies are compared with the first one.
 */
export const make = (plan: Plan, samples: ReadonlyArray<Sample>, extent: Extent): Report => {
  const { config } = plan
  const ordered = sorted(samples)
  const cells = plan.benchmarks.flatMap(({ benchmark, isConfidential }) =>
    config.policies.map(({ name }) =>
      cellOf(
        { policy: name, benchmark },
        ordered.filter((sample) => sample.benchmark === benchmark && sample.policy === name),
        { ...config, isConfidential }
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

/** Returns the samples in the order of `samples.jsonl`: by benchmark, task, epoch and policy. */
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

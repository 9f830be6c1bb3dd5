/**
 * The data of an evaluation's tables, as plain values. `Report` of `@divisi/evals` is such a value, and so is any other
 * value with these fields.
 */
import type { Budget } from "@divisi/core"
import type { Figure } from "../page/Numbers.ts"

/** A named fraction of a whole. */
export interface Share {
  readonly name: string
  /** Fraction from 0 to 1. */
  readonly share: number
}

/** A reason, and the number of samples that have it. */
export interface Reason {
  readonly reason: string
  readonly samples: number
}

/** A mean score from 0 to 1, with its uncertainty. */
export interface Score {
  readonly mean: number | null
  readonly standardError: number | null
  readonly low: number | null
  readonly high: number | null
  readonly confidence: number
  readonly questions: number
  readonly samples: number
  readonly correct: number
  readonly unparsed: number
  readonly missing: number
  /** Number of runs without an answer, which count as wrong. */
  readonly unanswered?: number | undefined
  /** The most frequent reasons for runs without an answer. */
  readonly unansweredReasons?: ReadonlyArray<Reason> | undefined
  /** The most frequent reasons for missing samples. */
  readonly missingReasons?: ReadonlyArray<Reason> | undefined
  /** The smallest difference from another policy that can be detected. */
  readonly minimumDetectable: Figure
}

/** The results of a policy on a benchmark. Durations are in milliseconds. */
export interface Cell {
  readonly policy: string
  readonly benchmark: string
  readonly score: Score
  /** The probabilities that at least one of `k` answers is correct, and that all of them are. */
  readonly passAt: ReadonlyArray<{ readonly k: number; readonly any: Figure; readonly all: Figure }>
  readonly costUsd: { readonly mean: Figure; readonly total: number }
  readonly unpricedCalls: number
  readonly inputTokens: { readonly mean: Figure }
  readonly outputTokens: { readonly mean: Figure }
  /**
   * Number of runs for which a vendor reported impossible usage, and the first such report. Omitted if all reports were
   * plausible.
   */
  readonly misreported?: { readonly runs: number; readonly first: string } | undefined
  readonly millis: { readonly median: Figure; readonly p99: Figure }
  readonly calls: { readonly mean: Figure }
  readonly failedCalls: number
  readonly steps: { readonly mean: Figure }
  /** Distribution of the number of steps per run. The name is the number of steps. */
  readonly stepCounts: ReadonlyArray<Share>
  readonly workers: ReadonlyArray<Share>
  readonly shapes: ReadonlyArray<Share>
}

/** The results of a policy over all benchmarks. */
export interface Overall {
  readonly policy: string
  readonly mean: number | null
  readonly standardError: number | null
  /** Mean cost per question, in USD. The following three fields are also per question. */
  readonly costUsd: number | null
  readonly tokens: Figure
  readonly millis: Figure
  readonly steps: Figure
  readonly missing: number
}

/** A comparison of two policies, question by question. */
export interface Comparison {
  readonly benchmark: string
  readonly policy: string
  readonly against: string
  /** Mean score of `policy` minus that of `against`. */
  readonly mean: Figure
  readonly low: number | null
  readonly high: Figure
  readonly p: Figure
  readonly pAdjusted: number | null
  readonly better: number
  readonly same: number
  readonly worse: number
  readonly minimumDetectable: Figure
}

/** A comparison with the best single worker, which gives as many answers as the policy's tokens allow. */
export interface EqualBudget {
  readonly benchmark: string
  readonly policy: string
  readonly worker: string
  readonly tokens: Figure
  readonly workerTokens: Figure
  readonly paid: number
  readonly votes: number
  readonly mean: Figure
  readonly low: Figure
  readonly high: Figure
  readonly questions: number
  readonly minimumDetectable: Figure
  readonly margin?: number | undefined
  readonly verdict: "worth-it" | "not-worth-it" | "undecided"
}

/** The metadata of a benchmark as it was loaded. */
export interface BenchmarkRecord {
  readonly benchmark: string
  readonly title: string
  readonly isConfidential: boolean
  readonly grader: string
  readonly prompt: string
  readonly licence: string
  readonly terms?: string | undefined
  readonly available: number
  readonly selected: number
  readonly idsSha256: string
}

/** The complete results of an evaluation. All policies are compared with the first one. */
export interface Evaluation {
  readonly config: {
    readonly policies: ReadonlyArray<{ readonly name: string }>
    readonly epochs: number
    readonly seed: number
    readonly perQuestion: Budget.Limits
    readonly maxSteps: number
    readonly recursion: number
    readonly maxOutputTokens?: number | undefined
    readonly temperature?: number | undefined
    readonly confidence: number
  }
  readonly benchmarks: ReadonlyArray<BenchmarkRecord>
  readonly pool: ReadonlyArray<{
    readonly id: string
    readonly pricing?:
      | { readonly inputPerMillion: number; readonly outputPerMillion: number; readonly isPlay?: boolean | undefined }
      | undefined
  }>
  readonly versions: Readonly<Record<string, string>>
  readonly extent: {
    readonly status: "complete" | "stopped"
    readonly samples: number
    readonly planned: number
    readonly paidUsd: number
  }
  readonly cells: ReadonlyArray<Cell>
  readonly overall: ReadonlyArray<Overall>
  readonly comparisons: ReadonlyArray<Comparison>
  /** Comparisons with self-consistency of the best single worker, at an equal number of generated tokens. */
  readonly equalBudget?: ReadonlyArray<EqualBudget> | undefined
}

/** Whether there are workers and all of them are priced in play money, as in the offline gym. */
export const isPlay = ({ pool }: Pick<Evaluation, "pool">): boolean =>
  pool.length > 0 && pool.every(({ pricing }) => pricing?.isPlay === true)

/** Returns a notice if every worker is priced in play money. */
export const playMoney = (evaluation: Pick<Evaluation, "pool">): string | undefined =>
  isPlay(evaluation) ? "The workers' prices are play money; you pay nothing." : undefined

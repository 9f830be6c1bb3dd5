/**
 * The data of a training's page, as plain values. `TrainingConfig`, `Metrics` and `RolloutRecord` of `@divisi/trainer`,
 * which the folder of a run contains, are such values.
 */

import type { Workflow } from "@divisi/core"
import type { Message } from "@divisi/core/Message"

/** The configuration of a run. Other fields are shown unchanged. */
export interface Config {
  readonly name: string
  readonly seed: number
  readonly engine: { readonly name: string; readonly model: string }
  /** By ordinal. */
  readonly pool: ReadonlyArray<{
    readonly id: string
    readonly description?: string | undefined
    /** Whether the worker's price is play money, as in the offline gym. */
    readonly isPlay?: boolean | undefined
  }>
}

/** The fields of all metrics. */
interface Base {
  /** Counts from 0 over all phases of the run. */
  readonly iteration: number
  readonly phase: string
  readonly learningRate: number
  readonly gradientNorm?: number | undefined
  /** USD that the run has cost so far. */
  readonly costUsd: number
  readonly seconds: { readonly total: number }
  /** The results of the held-out evaluation, if there was one. */
  readonly evaluation?: Readonly<Record<string, number>> | undefined
}

/** A step of supervised learning. Losses are mean negative log-probabilities of a token, in nats. */
export interface WarmStartMetrics extends Base {
  readonly type: "warm-start"
  readonly weightedLoss: number
  readonly tokenLoss: number
}

/** The results of the rollouts of one kind of task. */
export interface KindMetrics {
  readonly rollouts: number
  /** The share of right answers. */
  readonly correct: number
  /** Mean steps of the workflows that could be read. */
  readonly steps: number
  /** Workflows that could be read, by their number of steps. */
  readonly stepCounts: Readonly<Record<string, number>>
  /** Steps given to each worker, by id. */
  readonly workers: Readonly<Record<string, number>>
}

/** An iteration of reinforcement learning. Shares are from 0 to 1. */
export interface GrpoMetrics extends Base {
  readonly type: "grpo"
  readonly groups: number
  readonly rollouts: number
  readonly rewardMean: number
  readonly parsed: number
  readonly correct: number
  readonly steps: number
  readonly rounds: ReadonlyArray<{ readonly round: number; readonly correct: number }>
  readonly kinds: Readonly<Record<string, KindMetrics>>
  /** Nats per token. */
  readonly entropy?: number | undefined
  readonly surprisal: number
  /** Groups all of whose rewards were equal. */
  readonly zeroVariance: number
  readonly clipped: number
  readonly completionTokens: number
  readonly calls: { readonly total: number }
}

/** The results of an iteration. */
export type Metrics = WarmStartMetrics | GrpoMetrics

/** A question of an iteration. It comes before its completions. */
export interface GroupRecord {
  readonly type: "group"
  readonly iteration: number
  readonly group: number
  readonly messages: ReadonlyArray<Message>
  readonly reference?: string | undefined
}

/** One completion, what it led to and what it was worth. */
export interface CompletionRecord {
  readonly type: "completion"
  readonly iteration: number
  readonly group: number
  readonly rollout: number
  /** 0 for the first round. */
  readonly round: number
  readonly kind: string
  readonly completion: string
  readonly result: "unreadable" | "wrong" | "correct"
  /** Absent when the rollout was dropped. */
  readonly reward?: number | undefined
  /** Why it was dropped, or why it could not be read. */
  readonly detail?: string | undefined
  readonly workflow?: Workflow.Workflow | undefined
  /** The ids of the workers of the steps. */
  readonly workers?: ReadonlyArray<string> | undefined
  readonly answer?: string | undefined
}

/** A line of the rollouts of a run. */
export type RolloutRecord = GroupRecord | CompletionRecord

/** A training run, possibly still in progress. */
export interface Training {
  readonly config: Config
  /** In the order of their iterations, one at least. */
  readonly metrics: ReadonlyArray<Metrics>
  /** The rollouts of some iterations: see `TrainingPage.sampled`. Without them, the page shows no texts. */
  readonly rollouts?: ReadonlyArray<RolloutRecord> | undefined
}

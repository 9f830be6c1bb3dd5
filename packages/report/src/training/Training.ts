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
  /** The workers by index. */
  readonly pool: ReadonlyArray<{
    readonly id: string
    readonly description?: string | undefined
    /** Whether the worker's price is play money, as in the offline gym. */
    readonly isPlay?: boolean | undefined
  }>
}

/** The fields of all metrics. */
interface Base {
  /** The index over all phases of the run, from 0. */
  readonly iteration: number
  readonly phase: string
  readonly learningRate: number
  readonly gradientNorm?: number | undefined
  /** The cost of the run so far, in USD. */
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
  /** The share of correct answers. */
  readonly correct: number
  /** The mean number of steps of valid workflows. */
  readonly steps: number
  /** The number of valid workflows by number of steps. */
  readonly stepCounts: Readonly<Record<string, number>>
  /** The number of steps of each worker, by id. */
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
  /** The entropy in nats per token. */
  readonly entropy?: number | undefined
  readonly surprisal: number
  /** The number of groups with equal rewards. */
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

/** A completion with its result and reward. */
export interface CompletionRecord {
  readonly type: "completion"
  readonly iteration: number
  readonly group: number
  readonly rollout: number
  /** The index of the round, from 0. */
  readonly round: number
  readonly kind: string
  readonly completion: string
  readonly result: "unreadable" | "wrong" | "correct"
  /** The reward; absent if the rollout was dropped. */
  readonly reward?: number | undefined
  /** Why it was dropped, or why it could not be parsed. */
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
  /** The metrics of at least one iteration, in order. */
  readonly metrics: ReadonlyArray<Metrics>
  /** The rollouts of some iterations: see `TrainingPage.sampled`. Without them, the page shows no texts. */
  readonly rollouts?: ReadonlyArray<RolloutRecord> | undefined
}

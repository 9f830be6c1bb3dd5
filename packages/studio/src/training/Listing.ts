/** Training runs in the format used by the studio: list entries, metrics, and the rollouts of an iteration. */

import { type Message, Transcript, type Workflow } from "@divisi/core"
import * as Format from "../run/Format.ts"

/** Fields shared by all metrics. */
interface Base {
  /** Iteration index over all phases of the run, from 0. */
  readonly iteration: number
  readonly phase: string
  readonly learningRate: number
  readonly gradientNorm?: number | undefined
  /** Cost of the run up to this iteration, in USD. */
  readonly costUsd: number
  readonly seconds: { readonly total: number }
  /** Results of the held-out evaluation, if one ran after this iteration. */
  readonly evaluation?: Readonly<Record<string, number>> | undefined
}

/** A supervised learning step. Losses are mean negative log-probabilities per token, in nats. */
export interface WarmStartMetrics extends Base {
  readonly type: "warm-start"
  readonly weightedLoss: number
  readonly tokenLoss: number
}

/** Results of the rollouts for one kind of task. */
export interface KindMetrics {
  readonly rollouts: number
  /** Share of correct answers. */
  readonly correct: number
  /** Mean number of steps in valid workflows. */
  readonly steps: number
  /** Number of valid workflows, keyed by number of steps. */
  readonly stepCounts: Readonly<Record<string, number>>
  /** Number of steps assigned to each worker, keyed by worker id. */
  readonly workers: Readonly<Record<string, number>>
}

/** A reinforcement learning iteration. Shares are from 0 to 1. */
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
  /** Entropy in nats per token. */
  readonly entropy?: number | undefined
  readonly surprisal: number
  /** Number of groups with equal rewards. */
  readonly zeroVariance: number
  readonly clipped: number
  readonly completionTokens: number
  readonly calls: { readonly total: number }
  readonly rewardStd?: number
  /** Diversity of plan shapes. `most` is the most frequent shape, and `share` its share. */
  readonly shapes?: { readonly entropy: number; readonly most: string; readonly share: number } | undefined
}

/** A line in `metrics.jsonl`: the metrics for one iteration. */
export type Metrics = WarmStartMetrics | GrpoMetrics

/** A training run as listed. */
export interface Line {
  readonly id: string
  readonly name: string
  /** The reason why the training run cannot be read. If set, the entry has no figures. */
  readonly damaged?: string
  readonly engine: string
  readonly iterations: number
  readonly planned: number
  /** Mean reward in the last iteration of reinforcement learning. */
  readonly reward: number | null
  readonly correct: number | null
  readonly cost_usd: number
  readonly is_play: boolean
  /** Time of the last change, in milliseconds since 1970. */
  readonly changed_at: number
}

/** Configuration of a training run, stored as `config.json`. Other fields are displayed unchanged. */
export interface Config {
  readonly name: string
  readonly seed: number
  readonly engine: { readonly name: string; readonly model: string }
  /** Workers by index. */
  readonly pool: ReadonlyArray<{
    readonly id: string
    readonly description?: string | undefined
    /** Whether the worker's price is play money, as in the offline gym. */
    readonly isPlay?: boolean | undefined
  }>
  readonly phases?: ReadonlyArray<{ readonly type: string; readonly iterations?: number }>
}

/** A training run with its metrics. */
export interface Opened {
  readonly id: string
  readonly config: Config
  readonly metrics: ReadonlyArray<Metrics>
  /** Iterations with stored rollouts, in order. */
  readonly rollouts: ReadonlyArray<number>
  /** Whether only a question of each kind, with some of its completions, is stored for each iteration. */
  readonly isExcerpt?: boolean
}

/** A question in an iteration, with its completions. */
export interface Group {
  readonly group: number
  readonly kind: string
  readonly messages: ReadonlyArray<Message.Message>
  readonly reference?: string
  /** Whether all rewards were equal, in which case the group provides no training signal. */
  readonly isFlat: boolean
  readonly completions: ReadonlyArray<Completion>
}

/** A rollout's completion. */
export interface Completion {
  readonly rollout: number
  readonly round: number
  readonly completion: string
  readonly result: "unreadable" | "wrong" | "correct"
  readonly reward?: number
  readonly advantage?: number
  readonly detail?: string
  readonly workflow?: Workflow.Workflow
  readonly workers?: ReadonlyArray<string>
  readonly answer?: string
  readonly costUsd: number
}

/** API path of the list. */
export const path = "v1/trainings"

/** Returns the API path of a training run. */
export const pathOf = (id: string): string => `${path}/${Format.segment(id)}`

/** Returns the API path of an iteration's rollouts. */
export const rolloutsPath = (id: string, iteration: number): string => `${pathOf(id)}/rollouts/${iteration}`

const planned = ({ phases = [] }: Config): number => phases.reduce((sum, { iterations = 0 }) => sum + iterations, 0)

/** Returns the list entry for a training run. */
export const lineOf = (id: string, config: Config, metrics: ReadonlyArray<Metrics>, changedAt: number): Line => {
  const last = metrics.findLast((one) => one.type === "grpo")
  return {
    id,
    name: config.name,
    engine: `${config.engine.name}, ${config.engine.model}`,
    iterations: metrics.length,
    planned: Math.max(planned(config), metrics.length),
    reward: last?.rewardMean ?? null,
    correct: last?.correct ?? null,
    cost_usd: metrics.at(-1)?.costUsd ?? 0,
    is_play: Transcript.isAllPlay(config.pool),
    changed_at: changedAt
  }
}

/** Schemas for the lines of a rollout file. Unknown fields are dropped. */
type RolloutRecord = {
  readonly type: "group" | "completion"
  readonly group: number
} & Partial<Omit<Group, "group" | "completions" | "isFlat"> & Completion & { readonly zeroVariance: boolean }>

/** Parses the groups of an iteration from the lines of its rollout file. */
export const groupsOf = (records: ReadonlyArray<unknown>): ReadonlyArray<Group> => {
  const groups = new Map<number, Group & { readonly completions: Array<Completion> }>()
  for (const record of records as ReadonlyArray<RolloutRecord>) {
    if (record.type === "group") {
      const { group, kind = "", messages = [], reference, zeroVariance = false } = record
      const more = reference === undefined ? {} : { reference }
      groups.set(group, { group, kind, messages, ...more, isFlat: zeroVariance, completions: [] })
    } else {
      const { advantage, answer, completion, costUsd, detail, result, reward, rollout, round, workers, workflow } =
        record
      const known = {
        advantage,
        answer,
        completion,
        costUsd,
        detail,
        result,
        reward,
        rollout,
        round,
        workers,
        workflow
      }
      groups.get(record.group)?.completions.push(known as Completion)
    }
  }
  return [...groups.values()]
}

/**
 * Returns the exponential moving average of a series. Each new value has the weight `1 - weight`. Gaps are preserved.
 *
 * @internal
 */
export const smooth = (
  values: ReadonlyArray<number | undefined>,
  weight: number
): ReadonlyArray<number | undefined> => {
  let mean = 0
  let norm = 0
  return values.map((value) => {
    if (value === undefined) return undefined
    mean = weight * mean + (1 - weight) * value
    norm = weight * norm + (1 - weight)
    return mean / norm
  })
}

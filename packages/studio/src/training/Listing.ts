/** Trainings in the page's format: list entries, metrics, and the rollouts of an iteration. */
import type { Message, Workflow } from "@divisi/core"
import type { TrainingPage } from "@divisi/report"

/** The metrics of an iteration: a line of `metrics.jsonl`. */
export type Metrics =
  | TrainingPage.WarmStartMetrics
  | (TrainingPage.GrpoMetrics & {
      readonly rewardStd?: number
      readonly taught?: number
      readonly shapes?: { readonly entropy: number; readonly most: string; readonly share: number } | undefined
    })

/** A training in a list. */
export interface Line {
  readonly id: string
  readonly name: string
  /** Why it cannot be read. If present, the entry has no figures. */
  readonly damaged?: string
  readonly engine: string
  readonly iterations: number
  readonly planned: number
  /** The mean reward of the last iteration of reinforcement learning. */
  readonly reward: number | null
  readonly correct: number | null
  readonly cost_usd: number
  readonly is_play: boolean
  /** The time of the last change, in milliseconds since 1970. */
  readonly changed_at: number
}

/** The configuration of a training: `config.json`. */
export interface Config extends TrainingPage.Config {
  readonly phases?: ReadonlyArray<{ readonly type: string; readonly iterations?: number }>
}

/** An opened training. */
export interface Opened {
  readonly id: string
  readonly config: Config
  readonly metrics: ReadonlyArray<Metrics>
  /** The iterations whose rollouts are stored, in order. */
  readonly rollouts: ReadonlyArray<number>
}

/** A question of an iteration with its completions. */
export interface Group {
  readonly group: number
  readonly kind: string
  readonly messages: ReadonlyArray<Message.Message>
  readonly reference?: string
  /** Whether all rewards were equal, so that the group has no training signal. */
  readonly isFlat: boolean
  readonly completions: ReadonlyArray<Completion>
}

/** A completion of a rollout. */
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

/** The path of the list below the root of the API. */
export const path = "v1/trainings"

/** Returns the path of a training. */
export const pathOf = (id: string): string => `${path}/${encodeURIComponent(id)}`

/** Returns the path of the rollouts of an iteration. */
export const rolloutsPath = (id: string, iteration: number): string => `${pathOf(id)}/rollouts/${iteration}`

const planned = ({ phases = [] }: Config): number => phases.reduce((sum, { iterations = 0 }) => sum + iterations, 0)

/** Returns the list entry of a training. */
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
    is_play: config.pool.length > 0 && config.pool.every(({ isPlay }) => isPlay === true),
    changed_at: changedAt
  }
}

/** The records that a line of rollouts may be; unknown fields are not passed on. */
type Record = {
  readonly type: "group" | "completion"
  readonly group: number
} & Partial<Omit<Group, "group" | "completions" | "isFlat"> & Completion & { readonly zeroVariance: boolean }>

/** Returns the groups of an iteration from the lines of its rollouts. */
export const groupsOf = (records: ReadonlyArray<unknown>): ReadonlyArray<Group> => {
  const groups = new Map<number, Group & { readonly completions: Array<Completion> }>()
  for (const record of records as ReadonlyArray<Record>) {
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
 * Returns the exponential moving average of values, in which a new value has the weight `1 - weight`. Gaps are
 * preserved.
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

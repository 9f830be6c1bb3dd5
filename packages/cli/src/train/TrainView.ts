/** The state of an active training run, calculated by folding its events. */
import type { Metrics, TrainingEvent } from "@divisi/trainer"
import type { TrainingConfig } from "@divisi/trainer/TrainingConfig"

/** The active phase. */
export interface PhaseView {
  readonly name: string
  readonly index: number
  readonly iterations: number
  readonly done: number
}

/** The displayed state of a training run. */
export interface TrainView {
  readonly config: TrainingConfig
  readonly folder: string
  /** Number of completed iterations, and number of iterations in all phases. */
  readonly iteration: number
  readonly iterations: number
  readonly phase: PhaseView | undefined
  /** Number of completed groups in the active iteration, and their total. */
  readonly groups: { readonly done: number; readonly total: number } | undefined
  readonly last: Metrics.Metrics | undefined
  /** Rewards of the most recent iterations executed by this process. */
  readonly rewards: ReadonlyArray<number>
  /** Durations of the most recent iterations in this phase, in seconds. */
  readonly seconds: ReadonlyArray<number>
  readonly costs: ReadonlyArray<number>
  /** Total paid for the run, in USD, including work that was repeated. */
  readonly costUsd: number
  /** Number of saved iterations. */
  readonly saved: number | undefined
  readonly ending: TrainingEvent.Ending | undefined
  readonly unlearned: ReadonlyArray<TrainingEvent.Unlearned>
  /**
   * The shape shared by all plans in the latest iterations of this phase, and the number of these iterations. See
   * {@link collapse}.
   */
  readonly same: { readonly shape: string; readonly iterations: number } | undefined
}

const mostRewards = 40
const recent = 10

const begin = (event: Extract<TrainingEvent.TrainingEvent, { readonly type: "training-started" }>): TrainView => ({
  config: event.config,
  folder: event.folder,
  iteration: event.iteration,
  iterations: event.iterations,
  phase: undefined,
  groups: undefined,
  last: undefined,
  rewards: [],
  seconds: [],
  costs: [],
  costUsd: 0,
  saved: undefined,
  ending: undefined,
  unlearned: [],
  same: undefined
})

const more = (values: ReadonlyArray<number>, value: number, most: number): ReadonlyArray<number> =>
  [...values, value].slice(-most)

const sameShape = ({ same }: TrainView, metrics: Metrics.Metrics): TrainView["same"] => {
  if (metrics.type !== "grpo" || metrics.shapes === undefined || metrics.shapes.share < 1) return undefined
  const { most: shape } = metrics.shapes
  return { shape, iterations: same?.shape === shape ? same.iterations + 1 : 1 }
}

const addIteration = (view: TrainView, metrics: Metrics.Metrics, costUsd: number): TrainView => ({
  ...view,
  iteration: metrics.iteration + 1,
  phase: view.phase && { ...view.phase, done: metrics.phaseIteration + 1 },
  groups: undefined,
  last: metrics,
  same: sameShape(view, metrics),
  rewards: metrics.type === "grpo" ? more(view.rewards, metrics.rewardMean, mostRewards) : view.rewards,
  seconds: more(view.seconds, metrics.seconds.total, recent),
  costs: more(
    view.costs,
    (metrics.type === "grpo" ? metrics.iterationCostUsd : 0) + (metrics.engineCostUsd ?? 0),
    recent
  ),
  costUsd
})

/** Returns the view after an event. `undefined` until the run has started. */
export const apply = (view: TrainView | undefined, event: TrainingEvent.TrainingEvent): TrainView | undefined => {
  if (event.type === "training-started") return begin(event)
  if (view === undefined) return undefined
  switch (event.type) {
    case "phase-started": {
      const { index, iterations, phase: name } = event
      return { ...view, phase: { name, index, iterations, done: 0 }, seconds: [], costs: [], same: undefined }
    }
    case "group-finished":
      return { ...view, groups: { done: event.done, total: event.total }, costUsd: event.costUsd }
    case "iteration-finished":
      return addIteration(view, event.metrics, event.costUsd)
    case "checkpoint-saved":
      return { ...view, saved: event.iteration }
    case "training-finished":
      return { ...view, ending: event.ending, unlearned: event.unlearned ?? [], costUsd: event.costUsd }
  }
}

/** Number of consecutive iterations with the same plan shape that is no longer considered a coincidence. */
const suspicious = 5

/**
 * Returns the shape of all plans if they have collapsed to one shape while some answers are still wrong, which means
 * that the model no longer explores.
 */
export const collapse = ({ last, same }: TrainView): string | undefined =>
  same !== undefined && same.iterations >= suspicious && last?.type === "grpo" && last.correct < 1
    ? same.shape
    : undefined

const mean = (values: ReadonlyArray<number>): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length

/**
 * Estimates the remaining cost and duration of the phase from its latest iterations. `undefined` before its first
 * iteration.
 */
export const left = ({ costs, phase, seconds }: TrainView) => {
  if (phase === undefined) return undefined
  const iterations = Math.max(0, phase.iterations - phase.done)
  const time = mean(seconds)
  return time === undefined ? undefined : { millis: 1000 * time * iterations, costUsd: (mean(costs) ?? 0) * iterations }
}

/** Returns each worker's share of the steps in an iteration, largest first. */
export const shares = ({
  kinds
}: Metrics.GrpoMetrics): ReadonlyArray<{ readonly worker: string; readonly share: number }> => {
  const steps = new Map<string, number>()
  for (const [worker, count] of Object.values(kinds).flatMap((kind) => Object.entries(kind.workers))) {
    steps.set(worker, (steps.get(worker) ?? 0) + count)
  }
  const all = [...steps.values()].reduce((sum, count) => sum + count, 0)
  return [...steps]
    .filter(([, count]) => count > 0)
    .map(([worker, count]) => ({ worker, share: count / all }))
    .sort((one, other) => other.share - one.share || (one.worker < other.worker ? -1 : 1))
}

/**
 * Metrics: the results of an iteration. The run's folder has one JSON line per iteration.
 *
 * Everything except `seconds`, `at` and `criticalPathSeconds` is reproducible, even if the run is killed and resumed.
 * (With a persistent response cache, repeated calls cost nothing.)
 */

/** The fields of all records. */
interface Base {
  /** The index over all phases of the run, from 0. */
  readonly iteration: number
  readonly phase: string
  /** The index within the phase, from 0. */
  readonly phaseIteration: number
  /** The number of optimizer steps so far, including this iteration. */
  readonly version: number
  /** The learning rate of the last step. */
  readonly learningRate: number
  /** The norm of the last step's gradient before clipping, if the engine reports it. */
  readonly gradientNorm?: number | undefined
  /** The minimized weighted sum, over all steps of the iteration. */
  readonly loss?: number | undefined
  /** The number of trained completion tokens, and of their prompt tokens. */
  readonly tokens: { readonly completion: number; readonly prompt: number }
  /** The cost of the run so far in USD, without repeated work. */
  readonly costUsd: number
  /**
   * The cost of this iteration's tokens at the engine in USD, if it has prices; without evaluations. Part of `costUsd`.
   */
  readonly engineCostUsd?: number | undefined
  /** Milliseconds since 1970. */
  readonly at: number
  /**
   * The time of the iteration, in total and by kind of work. Kinds overlap, so they can add up to more than the total.
   */
  readonly seconds: Readonly<Record<string, number>> & { readonly total: number }
  /** The results of the held-out evaluation, if there was one. */
  readonly evaluation?: Readonly<Record<string, number>> | undefined
}

/** A step of supervised learning. */
export interface WarmStartMetrics extends Base {
  readonly type: "warm-start"
  readonly examples: number
  readonly completions: number
  /** The mean negative log-probability of a token in nats, weighted and unweighted. */
  readonly weightedLoss: number
  readonly tokenLoss: number
}

/** The results of one round, over all rollouts that reached it. */
export interface RoundMetrics {
  readonly round: number
  readonly completions: number
  readonly rewardMean: number
  readonly rewardStd: number
  /** The share of completions that could be parsed as a workflow. */
  readonly parsed: number
  /** The share of completions with a correct answer. */
  readonly correct: number
  /** The share of completions that confirm the previous answer. */
  readonly confirmed: number
}

/** The results of one kind of task. */
export interface KindMetrics {
  readonly rollouts: number
  /** The mean reward of the last round. */
  readonly rewardMean: number
  readonly parsed: number
  readonly correct: number
  /** The mean number of steps of valid workflows, over all rounds. */
  readonly steps: number
  /** Valid workflows by number of steps. */
  readonly stepCounts: Readonly<Record<string, number>>
  /** The number of steps of each worker, by id. */
  readonly workers: Readonly<Record<string, number>>
}

/**
 * The similarity of an iteration's plans. The shape of a plan is the workers of its steps and their access to earlier
 * steps, without the subtasks.
 */
export interface Shapes {
  /** The entropy of the shapes of valid plans in nats; 0 if all have the same shape. */
  readonly entropy: number
  /** The most frequent shape, as in `gpt > o3(0)`: a step of gpt, then one of o3 that sees step 0. */
  readonly most: string
  /** The share of plans with that shape. */
  readonly share: number
}

/** An iteration of reinforcement learning. */
export interface GrpoMetrics extends Base {
  readonly type: "grpo"
  readonly groups: number
  readonly rollouts: number
  /** The number of rollouts dropped because of failures that the policy did not cause. */
  readonly dropped: number
  /** The number of these that were lost to worker failures. `lostTo` counts them by worker and class of failure. */
  readonly lost?: number
  readonly lostTo?: Readonly<Record<string, number>>
  /** The number of groups with a training signal. Absent in records of older versions. */
  readonly taught?: number
  /** The mean reward of the rollouts' last round, after penalties. */
  readonly rewardMean: number
  readonly rewardStd: number
  /** The share of rollouts whose last completion could be parsed. */
  readonly parsed: number
  /** The share of rollouts whose last answer was correct. */
  readonly correct: number
  readonly rounds: ReadonlyArray<RoundMetrics>
  /** Mean steps of the workflows that could be read, of all rounds. */
  readonly steps: number
  readonly kinds: Readonly<Record<string, KindMetrics>>
  /** Absent if no plan was valid, and in records of older versions. */
  readonly shapes?: Shapes | undefined
  /** The mean entropy of the policy at a token in nats, under the weights of each step, if the engine reports it. */
  readonly entropy?: number | undefined
  /**
   * The mean negative log-probability of a sampled token: an estimate of the entropy that is available for every
   * engine.
   */
  readonly surprisal: number
  /** The number of groups with equal rewards, counted per round. */
  readonly zeroVariance: number
  /** The number of groups that replaced groups with equal rewards. */
  readonly resampled: number
  /** The share of tokens whose gradient was stopped by clipping. */
  readonly clipped: number
  /** The mean of `r - 1 - log r`: an estimate of the divergence from the sampler. */
  readonly samplerDivergence: number
  /** The estimated mean divergence from the weights at the start of the phase, if `kl` is set. */
  readonly referenceDivergence?: number | undefined
  /** The number of optimizer steps between the sampler and the first step of the iteration. */
  readonly lag: number
  /** The mean number of tokens of a completion, and the share of completions that reached the limit. */
  readonly completionTokens: number
  readonly truncated: number
  /** The number of worker calls: total, failed, and answered from the cache. */
  readonly calls: { readonly total: number; readonly failed: number; readonly cached: number }
  readonly workerTokens: { readonly input: number; readonly output: number }
  /** The cost of this iteration's worker calls in USD. */
  readonly iterationCostUsd: number
  /** The mean duration of the critical path of a rollout's workflows, in seconds. */
  readonly criticalPathSeconds: number
}

/** The record of an iteration. */
export type Metrics = WarmStartMetrics | GrpoMetrics

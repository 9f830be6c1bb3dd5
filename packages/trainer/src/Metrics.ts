/**
 * Metrics of each training iteration. The run folder stores them as one JSON line per iteration.
 *
 * Everything except `seconds`, `at` and `criticalPathSeconds` is reproducible, even if the run is killed and resumed.
 * (With a persistent response cache, repeated calls cost nothing, so costs differ.)
 */

/** Fields shared by all records. */
interface Base {
  /** Iteration index over all phases of the run, from 0. */
  readonly iteration: number
  readonly phase: string
  /** Iteration index within the phase, from 0. */
  readonly phaseIteration: number
  /** Total number of optimizer steps up to and including this iteration. */
  readonly version: number
  /** Learning rate of the iteration's last optimizer step. */
  readonly learningRate: number
  /** Gradient norm of the last step before clipping, if the engine reports it. */
  readonly gradientNorm?: number | undefined
  /** Loss summed over all optimizer steps of the iteration. */
  readonly loss?: number | undefined
  /** Number of completion tokens that were trained on, and number of tokens in their prompts. */
  readonly tokens: { readonly completion: number; readonly prompt: number }
  /** Cost of the run up to this iteration, in USD, excluding work that was repeated after a crash. */
  readonly costUsd: number
  /**
   * Engine cost of this iteration in USD, excluding evaluations. Included in `costUsd`. Set only if the engine has
   * prices.
   */
  readonly engineCostUsd?: number | undefined
  /** Timestamp in milliseconds since 1970. */
  readonly at: number
  /**
   * Duration of the iteration in seconds, in total and by kind of work. Different kinds of work overlap, so their sum
   * can exceed `total`.
   */
  readonly seconds: Readonly<Record<string, number>> & { readonly total: number }
  /** Results of the held-out evaluation, if one ran after this iteration. */
  readonly evaluation?: Readonly<Record<string, number>> | undefined
}

/** Metrics of a supervised learning step. */
export interface WarmStartMetrics extends Base {
  readonly type: "warm-start"
  readonly examples: number
  readonly completions: number
  /** Mean negative log-probability per token in nats, weighted and unweighted. */
  readonly weightedLoss: number
  readonly tokenLoss: number
}

/** Metrics of one round, over all rollouts that reached it. */
export interface RoundMetrics {
  readonly round: number
  readonly completions: number
  readonly rewardMean: number
  readonly rewardStd: number
  /** Share of completions that could be parsed as a workflow. */
  readonly parsed: number
  /** Share of completions that led to a correct answer. */
  readonly correct: number
  /** Share of completions that confirmed the previous answer instead of proposing a workflow. */
  readonly confirmed: number
}

/** Metrics for one kind of task. */
export interface KindMetrics {
  readonly rollouts: number
  /** Mean reward of the last round. */
  readonly rewardMean: number
  readonly parsed: number
  readonly correct: number
  /** Mean number of steps per valid workflow, over all rounds. */
  readonly steps: number
  /** Number of valid workflows, keyed by their number of steps. */
  readonly stepCounts: Readonly<Record<string, number>>
  /** Number of steps assigned to each worker, keyed by worker id. */
  readonly workers: Readonly<Record<string, number>>
}

/**
 * Diversity of the plans in an iteration. The shape of a plan consists of each step's worker and access list, without
 * the subtasks.
 */
export interface Shapes {
  /** Entropy of the distribution of plan shapes, in nats. 0 if all plans have the same shape. */
  readonly entropy: number
  /** Most frequent shape, for example `gpt > o3(0)`: a step for gpt, then a step for o3 that can read step 0. */
  readonly most: string
  /** Share of plans with the most frequent shape. */
  readonly share: number
}

/** Metrics of a reinforcement learning iteration. */
export interface GrpoMetrics extends Base {
  readonly type: "grpo"
  readonly groups: number
  readonly rollouts: number
  /** Number of rollouts dropped because of failures that the policy did not cause. */
  readonly dropped: number
  /**
   * Number of dropped rollouts that were lost to worker failures. `lostTo` counts them by worker and type of failure.
   */
  readonly lost?: number
  readonly lostTo?: Readonly<Record<string, number>>
  /** Number of groups with a training signal. Not present in records written by older versions. */
  readonly taught?: number
  /** Mean reward of each rollout's last round, after penalties. */
  readonly rewardMean: number
  readonly rewardStd: number
  /** Share of rollouts whose last completion could be parsed. */
  readonly parsed: number
  /** Share of rollouts whose last answer was correct. */
  readonly correct: number
  readonly rounds: ReadonlyArray<RoundMetrics>
  /** Mean number of steps per parsed workflow, over all rounds. */
  readonly steps: number
  readonly kinds: Readonly<Record<string, KindMetrics>>
  /** Not set if no plan was valid, or in records written by older versions. */
  readonly shapes?: Shapes | undefined
  /**
   * Mean entropy of the policy per token in nats, under the weights at each optimizer step, if the engine reports it.
   */
  readonly entropy?: number | undefined
  /** Mean negative log-probability of sampled tokens. Estimates the entropy and is available for every engine. */
  readonly surprisal: number
  /** Number of groups with equal rewards, counted separately for each round. */
  readonly zeroVariance: number
  /** Number of groups sampled to replace groups with equal rewards. */
  readonly resampled: number
  /** Share of tokens whose gradient was stopped by clipping. */
  readonly clipped: number
  /** Mean of `r - 1 - log r`, an estimate of the divergence from the sampler's weights. */
  readonly samplerDivergence: number
  /** Estimated mean divergence from the weights at the start of the phase. Set only if `kl` is configured. */
  readonly referenceDivergence?: number | undefined
  /** Number of optimizer steps between the sampler's weights and the first step of the iteration. */
  readonly lag: number
  /** Mean length of a completion in tokens, and the share of completions that reached the length limit. */
  readonly completionTokens: number
  readonly truncated: number
  /** Number of worker calls: total, failed, and served from the cache. */
  readonly calls: { readonly total: number; readonly failed: number; readonly cached: number }
  readonly workerTokens: { readonly input: number; readonly output: number }
  /** Cost of the worker calls of this iteration, in USD. */
  readonly iterationCostUsd: number
  /** Mean duration of the critical path of a rollout's workflows, in seconds. */
  readonly criticalPathSeconds: number
}

/** Metrics of one iteration. */
export type Metrics = WarmStartMetrics | GrpoMetrics

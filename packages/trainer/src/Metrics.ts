/**
 * Metrics: the results of an iteration. One record per iteration, one JSON line each in the run's folder.
 *
 * Everything but `seconds`, `at` and `criticalPathSeconds` is the same for the same run, killed and resumed or not.
 * (With a response cache that outlives the process, what was asked before costs nothing the second time.)
 */

/** The fields of all records. */
interface Base {
  /** Counts from 0 over all phases of the run. */
  readonly iteration: number
  readonly phase: string
  /** Counts from 0 within the phase. */
  readonly phaseIteration: number
  /** Optimiser steps that the engine has made, those of this iteration included. */
  readonly version: number
  /** The learning rate of the last step. */
  readonly learningRate: number
  /** The norm of the last step's gradient before clipping, if the engine reports it. */
  readonly gradientNorm?: number | undefined
  /** The weighted sum that was minimised, over all steps of the iteration. */
  readonly loss?: number | undefined
  /** Tokens that were learned from, and tokens of their prompts. */
  readonly tokens: { readonly completion: number; readonly prompt: number }
  /** USD that the run has cost so far, without work that was done twice. */
  readonly costUsd: number
  /** USD of this iteration's tokens at the engine, if it has prices; without evaluations. Part of `costUsd`. */
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
  /** Mean negative log-probability of a token, in nats, by the weights of the examples and without. */
  readonly weightedLoss: number
  readonly tokenLoss: number
}

/** The results of one round, over all rollouts that had it. */
export interface RoundMetrics {
  readonly round: number
  readonly completions: number
  readonly rewardMean: number
  readonly rewardStd: number
  /** Share of completions that could be read as a workflow. */
  readonly parsed: number
  /** Share of completions whose answer was right. */
  readonly correct: number
  /** Share of completions that accept the previous answer. */
  readonly confirmed: number
}

/** The results of one kind of task. */
export interface KindMetrics {
  readonly rollouts: number
  /** The mean reward of the last round. */
  readonly rewardMean: number
  readonly parsed: number
  readonly correct: number
  /** Mean steps of the workflows that could be read, of all rounds. */
  readonly steps: number
  /** Workflows that could be read, by their number of steps. */
  readonly stepCounts: Readonly<Record<string, number>>
  /** Steps given to each worker, by id. Shares are these over their sum. */
  readonly workers: Readonly<Record<string, number>>
}

/**
 * The similarity of an iteration's plans. The shape of a plan is the workers of its steps and their access to earlier
 * steps, without the subtasks.
 */
export interface Shapes {
  /** Entropy over the shapes of the plans that could be read, in nats; 0 if all have one shape. */
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
  /** Rollouts left out because of failures that the policy did not cause. */
  readonly dropped: number
  /** Those of them that were lost to failures of workers, and how many to which worker and class of failure. */
  readonly lost?: number
  readonly lostTo?: Readonly<Record<string, number>>
  /** Groups that there was something to learn from. Absent in records of older versions. */
  readonly taught?: number
  /** Over rollouts, of their last round, penalties included. */
  readonly rewardMean: number
  readonly rewardStd: number
  /** Share of rollouts whose last round could be read. */
  readonly parsed: number
  /** Share of rollouts whose last answer was right. */
  readonly correct: number
  readonly rounds: ReadonlyArray<RoundMetrics>
  /** Mean steps of the workflows that could be read, of all rounds. */
  readonly steps: number
  readonly kinds: Readonly<Record<string, KindMetrics>>
  /** Absent if no plan could be read, and in records of older versions. */
  readonly shapes?: Shapes | undefined
  /** Mean entropy of the policy at a token, in nats, under the weights of each step, if the engine reports it. */
  readonly entropy?: number | undefined
  /** Mean negative log-probability of a sampled token: an estimate of the same that every engine gives. */
  readonly surprisal: number
  /** Groups, by round, all of whose rewards were equal. */
  readonly zeroVariance: number
  /** Groups that replaced groups of equal rewards. */
  readonly resampled: number
  /** Share of tokens whose gradient the clip stopped. */
  readonly clipped: number
  /** Mean of `r - 1 - log r`: an estimate of the divergence from the sampler. */
  readonly samplerDivergence: number
  /** Mean estimate of the divergence from the weights with which the phase began, where `kl` is set. */
  readonly referenceDivergence?: number | undefined
  /** Optimiser steps between the sampler and the first step of the iteration. */
  readonly lag: number
  /** Mean tokens of a completion, and the share that reached the limit. */
  readonly completionTokens: number
  readonly truncated: number
  /** Calls of workers, those that failed, and those whose answer came from the cache. */
  readonly calls: { readonly total: number; readonly failed: number; readonly cached: number }
  readonly workerTokens: { readonly input: number; readonly output: number }
  /** USD of this iteration's worker calls. */
  readonly iterationCostUsd: number
  /** Mean seconds of the critical path of a rollout's workflows. */
  readonly criticalPathSeconds: number
}

/** The record of an iteration. */
export type Metrics = WarmStartMetrics | GrpoMetrics

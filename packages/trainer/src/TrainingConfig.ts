/**
 * The configuration of a training run: one plain value with everything that decides its course, written into the run's
 * folder before the first step.
 *
 * Parts that are not data (the engine, the pool, the tasks, the grader) are passed to the trainer separately, and
 * appear here by name. A run is a list of phases, each with its own settings. The defaults are the paper's. Compared
 * with the textbook method, a critic network and a synchronised reference model are left out (paper section 2: no KL
 * term).
 */

import { Options, type Prompt, type WorkflowText } from "@divisi/core"
import type { RunSettings } from "@divisi/core/RunSettings"
import { grpoTable, warmStartTable } from "./internal/tables.ts"

// -------------------------------------------------------------------------------------------------------------------
// Optimiser
// -------------------------------------------------------------------------------------------------------------------

/** The change of the learning rate over the steps of a phase. */
export type ScheduleConfig =
  /** The same throughout, after the warm-up. */
  | { readonly type: "constant"; readonly warmUpRatio: number }
  /** Down to `finalRatio` of the peak along half a cosine, after the warm-up. */
  | { readonly type: "cosine"; readonly warmUpRatio: number; readonly finalRatio: number }

/** AdamW and its schedule. */
export interface OptimizerConfig {
  /** The peak. */
  readonly learningRate: number
  readonly schedule: ScheduleConfig
  readonly beta1: number
  readonly beta2: number
  readonly epsilon: number
  readonly weightDecay: number
  /** The norm to which a gradient is cut; 0 cuts nothing. */
  readonly maxGradientNorm: number
}

// -------------------------------------------------------------------------------------------------------------------
// Objective
// -------------------------------------------------------------------------------------------------------------------

/** The handling of a group that teaches nothing because all its rewards are equal. */
export type ZeroVariance =
  /** It is left out of the gradient. */
  | { readonly type: "drop" }
  /** It stays, with advantages of 0: nothing but an entropy bonus or a KL penalty acts on it. */
  | { readonly type: "keep" }
  /** Further questions are asked in its stead, at most `maxExtra` times as many groups as an iteration has. */
  | { readonly type: "resample"; readonly maxExtra: number }

/** The conversion of rewards to advantages. */
export interface AdvantageConfig {
  /** The subtracted baseline: the mean of the group (GRPO), or that of the other members (leave-one-out). */
  readonly baseline: "group" | "leave-one-out"
  /** Whether advantages are divided by the standard deviation of the group. */
  readonly divideByStd: boolean
  readonly zeroVariance: ZeroVariance
  /**
   * The groups that count as equal: those of equal rewards, or also those whose answers are all right or all wrong,
   * regardless of unreadable ones (the filter of DAPO, Yu et al. 2025). `"correctness"` is for policies that still
   * write much unreadable text. While no plan is right, rewards prefer the shortest, because it has fewer errors.
   */
  readonly equalBy: "reward" | "correctness"
  /** The factor of a first round's advantages if a recursive round follows it. */
  readonly recursionDiscount: number
}

/** The objective to maximise. */
export interface ObjectiveConfig {
  readonly loss: /** The clipped ratio of each token: GRPO. */
    | { readonly type: "clippedRatio"; readonly low: number; readonly high: number }
    /** The clipped geometric mean of a completion's ratios. */
    | { readonly type: "sequenceRatio"; readonly low: number; readonly high: number }
    /** The ratio without a clip: REINFORCE. */
    | { readonly type: "importanceSampling" }
  /**
   * The order of averaging: over the tokens of each completion and then over completions, or over all tokens of a step
   * at once.
   */
  readonly mean: "completion" | "token"
  /** Times the entropy of the policy, added to the objective; 0 for none. */
  readonly entropy: number
  /** Times the divergence from the weights with which the phase began, subtracted from the reward of each token. */
  readonly kl: number
  /** The factors of the tokens in a completion's parts: the text before the three lists, and the lists. */
  readonly weights: { readonly thought: number; readonly lists: number }
}

// -------------------------------------------------------------------------------------------------------------------
// Rollouts
// -------------------------------------------------------------------------------------------------------------------

/**
 * Settings for the runs of rollouts. Rounds and seeds are set by the training itself. A critic and a function that
 * reassigns steps are left out, because a training is written as JSON.
 */
export interface RolloutRunSettings
  extends Omit<RunSettings, "maxSteps" | "reassign" | "recursion" | "seed" | "self" | "critic" | "threshold"> {
  /** The most steps of a workflow. */
  readonly maxSteps: number
  /** Whether another worker takes over a step that failed for good. */
  readonly reassign?: "never" | "next" | undefined
}

/**
 * The handling of rollouts in which a worker failed for a cause outside the plan (it is unreachable, overloaded, out of
 * quota, has a defect), after its calls were retried and its steps reassigned.
 */
export interface FailureConfig {
  /**
   * `"retry"`, the default, runs the rollout again: `retries` times, then drops it. `"drop"` drops it. `"wrong"` counts
   * it as wrong, for pools in which the reliability of workers is to be learned. A failure that a plan can cause (a
   * context that is too long, filtered content) is always wrong.
   */
  readonly lost: "wrong" | "drop" | "retry"
  readonly retries: number
}

/** Penalties subtracted from the reward of an answer. All default to 0, as in the paper. */
export interface PenaltyConfig {
  /** For each call of a worker. */
  readonly perCall: number
  /** For each second of the critical path. */
  readonly perSecond: number
  /** The penalty for each step of the longest chain. It makes plans run steps concurrently without measuring time. */
  readonly perCriticalStep: number
  readonly perUsd: number
}

/** Settings for making rollouts. */
export interface RolloutConfig {
  /** The paper's setting and its ablations: examples, subtasks, access, descriptions, or another template. */
  readonly prompt: Prompt.ConductorOptions
  /**
   * Steps, limits, workers' settings, retries. A budget is one rollout's, the policy's own calls and tokens included.
   */
  readonly run: RolloutRunSettings
  /**
   * The reading of completions. Default: `"thought-then-strict"`. A completion that Python could not read has the
   * reward 0, as in the paper (section 2). Tolerant reading would reward the slips that it forgives, so they would not
   * be unlearned.
   */
  readonly reading: WorkflowText.Mode
  /**
   * Whether the Conductor is offered as a worker of its own pool. Default: `false`. A step assigned to it becomes a run
   * of its own on the same account, in which it is not offered again. Its text there is sampled, paid for and shown to
   * the steps that see it, but not learned: its reward would belong to another plan.
   */
  readonly self: boolean
  /** The most tokens of a completion. One that reaches the limit is not read. */
  readonly maxTokens: number
  /** Whether the rollouts of a group ask workers with the same seeds, so that equal calls have equal answers. */
  readonly sharedAnswers: boolean
  readonly failures: FailureConfig
  readonly penalties: PenaltyConfig
  /** Groups that are sampled at once. */
  readonly samplingConcurrency: number
  /** Rollouts whose workflows run at once. Sampling waits when as many more groups are sampled and not yet run. */
  readonly runConcurrency: number
}

/** Which part of the pool a question gets. */
export type PoolConfig =
  /** All of it, in its order. */
  | { readonly type: "fixed" }
  /** All of it, ordinals shuffled for each question. */
  | { readonly type: "shuffled" }
  /** A random `min` to `max` of it, ordinals shuffled for each question; never one of `heldOut`, in any order. */
  | {
      readonly type: "random"
      readonly min: number
      readonly max: number
      readonly heldOut?: ReadonlyArray<ReadonlyArray<string>> | undefined
    }

/** The number of rounds of a rollout. */
export interface RecursionConfig {
  /** The share of an iteration's groups that have recursive rounds. */
  readonly share: number
  /** Rounds after the first. */
  readonly rounds: number
  /**
   * The share of workers, 0 to 1, that are unreachable in questions with recursive rounds, although the prompt lists
   * them: a policy learns to call others if a round has no answer. The same for all rollouts of a question. Default: 0.
   */
  readonly outages?: number | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Phases
// -------------------------------------------------------------------------------------------------------------------

/** Supervised learning on completions that are given. */
export interface WarmStartConfig {
  readonly type: "warm-start"
  /** Unique within a run. */
  readonly name: string
  /** The examples, by the name under which they are handed over. */
  readonly examples: string
  readonly steps: number
  /** Examples of one step. An example is a prompt with all its completions. */
  readonly batch: number
  readonly optimizer: OptimizerConfig
}

/** Reinforcement learning by groups of rollouts. */
export interface GrpoConfig {
  readonly type: "grpo"
  /** Unique within a run. */
  readonly name: string
  /** The tasks, by the name under which they are handed over. */
  readonly tasks: string
  readonly iterations: number
  /** Questions, and so groups, of an iteration. */
  readonly questions: number
  /** Completions of each question. */
  readonly groupSize: number
  /** Optimiser steps of an iteration, each over its share of the groups. */
  readonly minibatches: number
  /**
   * By how many optimiser steps the sampler of an iteration may be behind when its first step is made; 0 is on-policy.
   */
  readonly offPolicySteps: number
  readonly optimizer: OptimizerConfig
  readonly advantage: AdvantageConfig
  readonly objective: ObjectiveConfig
  readonly rollouts: RolloutConfig
  readonly pool: PoolConfig
  readonly recursion: RecursionConfig
}

/** A part of a run with its own settings. */
export type PhaseConfig = WarmStartConfig | GrpoConfig

// -------------------------------------------------------------------------------------------------------------------
// Run
// -------------------------------------------------------------------------------------------------------------------

/** The version of everything that is written into a run's folder. */
export const version = 1

/** Everything that decides the course of a run. Plain JSON. */
export interface TrainingConfig {
  readonly version: typeof version
  readonly name: string
  readonly seed: number
  /** The engine and model, as they name themselves. */
  readonly engine: { readonly name: string; readonly model: string }
  /** The ids of the workers, by ordinal, with their descriptions, and whether what they cost is play money. */
  readonly pool: ReadonlyArray<{
    readonly id: string
    readonly description?: string | undefined
    readonly isPlay?: boolean | undefined
  }>
  readonly grader: string
  readonly phases: ReadonlyArray<PhaseConfig>
  readonly checkpoints: {
    /** Iterations between two checkpoints. */
    readonly every: number
    /** The number of recent checkpoints to retain, in addition to the best one. */
    readonly keep: number
  }
  /** Iterations between two held-out evaluations; 0 for none. */
  readonly evaluateEvery: number
  /** Whether rollouts are written into the folder. */
  readonly recordRollouts: boolean
  /**
   * The maximum total cost of the run in USD. At the limit, the run stops at a checkpoint. It can be raised on resume.
   */
  readonly maxCostUsd?: number | undefined
  /** Versions of what wrote the run: packages and Node. */
  readonly versions: Readonly<Record<string, string>>
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** A partial group of settings. Values with a `type`, and lists, are given as a whole. */
export type Settings<A> = A extends ReadonlyArray<unknown> | { readonly type: string }
  ? A
  : A extends object
    ? { readonly [Key in keyof A]?: Settings<A[Key]> | undefined }
    : A

/** AdamW as in the paper. */
export const defaultOptimizer: OptimizerConfig = {
  learningRate: 1e-6,
  schedule: { type: "cosine", warmUpRatio: 0.03, finalRatio: 0 },
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
  weightDecay: 0,
  maxGradientNorm: 1
}

/** GRPO as in the paper: the group's mean and deviation, groups that teach nothing left out. */
export const defaultAdvantage: AdvantageConfig = {
  baseline: "group",
  divideByStd: true,
  zeroVariance: { type: "drop" },
  equalBy: "reward",
  recursionDiscount: 0.25
}

/** The clipped ratio of each token, no entropy bonus, no KL term. */
export const defaultObjective: ObjectiveConfig = {
  loss: { type: "clippedRatio", low: 0.2, high: 0.2 },
  mean: "completion",
  entropy: 0,
  kl: 0,
  weights: { thought: 1, lists: 1 }
}

/** Rollouts as in the paper's controlled setting. */
export const defaultRollouts: RolloutConfig = {
  prompt: {},
  run: {
    maxSteps: 5,
    worker: { maxOutputTokens: 4096, temperature: 0.2 },
    retry: { maxAttempts: 3, baseDelayMillis: 500 },
    budget: {}
  },
  reading: "thought-then-strict",
  self: false,
  maxTokens: 1024,
  sharedAnswers: false,
  failures: { lost: "retry", retries: 1 },
  penalties: { perCall: 0, perSecond: 0, perCriticalStep: 0, perUsd: 0 },
  samplingConcurrency: 8,
  runConcurrency: 64
}

const isGroup = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !("type" in value)

const merge = <A>(defaults: A, settings: unknown): A =>
  (isGroup(defaults) && isGroup(settings)
    ? {
        ...defaults,
        ...Object.fromEntries(
          Object.entries(settings).flatMap(([key, value]) =>
            value === undefined ? [] : [[key, key in defaults ? merge(defaults[key], value) : value]]
          )
        )
      }
    : settings) as A

/** The input of {@link grpo}. */
export type GrpoInput = Settings<Omit<GrpoConfig, "type">>

/**
 * A phase of reinforcement learning: the paper's, with the settings that are given.
 *
 * **Details**
 *
 * 200 iterations of 4 questions with 64 completions each, one optimiser step per iteration, strictly on-policy. That is
 * the default because overlap only pays where workers are slower than the engine and the engine's machine is not
 * theirs; the embedded engine samples on the cores that compute its gradients.
 *
 * **Example**
 *
 * ```ts
 * import * as TrainingConfig from "@divisi/trainer/TrainingConfig"
 *
 * const phase = TrainingConfig.grpo({ questions: 16, groupSize: 16, optimizer: { learningRate: 3e-4 } })
 * phase.optimizer.beta2 // => 0.999
 * ```
 */
export const grpo = (input: GrpoInput = {}): GrpoConfig => phaseOf("grpo", input)

const phaseOf = (what: string, input: GrpoInput): GrpoConfig => {
  Options.check(what, input, grpoTable)
  return withDefaults(input)
}

const withDefaults = (input: GrpoInput): GrpoConfig => ({
  type: "grpo",
  ...merge<Omit<GrpoConfig, "type">>(
    {
      name: "grpo",
      tasks: "tasks",
      iterations: 200,
      questions: 4,
      groupSize: 64,
      minibatches: 1,
      offPolicySteps: 0,
      optimizer: defaultOptimizer,
      advantage: defaultAdvantage,
      objective: defaultObjective,
      rollouts: defaultRollouts,
      pool: { type: "fixed" },
      recursion: { share: 0, rounds: 1 }
    },
    input
  )
})

/**
 * The paper's fine-tuning for recursion: 20 iterations in which half of the questions get a recursive round.
 *
 * **Example**
 *
 * ```ts
 * import * as TrainingConfig from "@divisi/trainer/TrainingConfig"
 *
 * TrainingConfig.recursion({ recursion: { rounds: 2 } }).recursion // => { share: 0.5, rounds: 2 }
 * ```
 */
export const recursion = (input: GrpoInput = {}): GrpoConfig =>
  phaseOf("recursion", {
    name: "recursion",
    iterations: 20,
    ...input,
    recursion: { share: 0.5, rounds: 1, ...input.recursion }
  })

/**
 * A phase of supervised learning.
 *
 * **Example**
 *
 * ```ts
 * import * as TrainingConfig from "@divisi/trainer/TrainingConfig"
 *
 * TrainingConfig.warmStart({ steps: 300, batch: 32 }).optimizer.learningRate // => 0.001
 * ```
 */
export const warmStart = (input: Settings<Omit<WarmStartConfig, "type">> = {}): WarmStartConfig => {
  Options.check("warmStart", input, warmStartTable)
  return {
    type: "warm-start",
    ...merge<Omit<WarmStartConfig, "type">>(
      {
        name: "warm-start",
        examples: "examples",
        steps: 200,
        batch: 32,
        optimizer: { ...defaultOptimizer, learningRate: 1e-3 }
      },
      input
    )
  }
}

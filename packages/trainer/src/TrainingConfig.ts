/**
 * Configuration of a training run: plain data that fully determines the run. It is written to the run folder before the
 * first step.
 *
 * Parts that are not plain data (the engine, the pool, the tasks, the grader) are passed to the trainer separately and
 * referenced here by name. A run is a list of phases, each with its own settings. The defaults are those of the paper.
 * Unlike in textbook PPO, there is no critic network and no synchronized reference model (paper section 2: no KL term).
 */

import { Options, type Prompt, type WorkflowText } from "@divisi/core"
import type { RunSettings } from "@divisi/core/RunSettings"
import { grpoTable, warmStartTable } from "./internal/tables.ts"

// -------------------------------------------------------------------------------------------------------------------
// Optimiser
// -------------------------------------------------------------------------------------------------------------------

/** Learning rate schedule of a phase. */
export type ScheduleConfig =
  /** Constant after warm-up. */
  | { readonly type: "constant"; readonly warmUpRatio: number }
  /** After warm-up, follows half a cosine down to `finalRatio` times the peak. */
  | { readonly type: "cosine"; readonly warmUpRatio: number; readonly finalRatio: number }

/** AdamW settings and learning rate schedule. */
export interface OptimizerConfig {
  /** Peak learning rate. */
  readonly learningRate: number
  readonly schedule: ScheduleConfig
  readonly beta1: number
  readonly beta2: number
  readonly epsilon: number
  readonly weightDecay: number
  /** Maximum gradient norm; larger gradients are scaled down to it. 0 disables clipping. */
  readonly maxGradientNorm: number
}

// -------------------------------------------------------------------------------------------------------------------
// Objective
// -------------------------------------------------------------------------------------------------------------------

/** How to handle groups without a training signal, that is, groups in which all rewards are equal. */
export type ZeroVariance =
  /** Exclude the group from the gradient. */
  | { readonly type: "drop" }
  /** Include the group with advantages of 0, so that only an entropy bonus or a KL penalty has an effect. */
  | { readonly type: "keep" }
  /**
   * Replace the group with a new question. The number of extra groups is at most `maxExtra` times the number of groups
   * per iteration.
   */
  | { readonly type: "resample"; readonly maxExtra: number }

/** How rewards are converted to advantages. */
export interface AdvantageConfig {
  /**
   * Baseline subtracted from the reward: the mean of the group (GRPO), or the mean of the other members
   * (leave-one-out).
   */
  readonly baseline: "group" | "leave-one-out"
  /** Whether to divide advantages by the standard deviation of the group. */
  readonly divideByStd: boolean
  readonly zeroVariance: ZeroVariance
  /**
   * Which groups count as equal: groups with equal rewards (`"reward"`), or groups whose parseable answers are all
   * correct or all wrong (`"correctness"`, the filter of DAPO, Yu et al. 2025). Use `"correctness"` for policies that
   * still write many invalid plans: until some plan gives a correct answer, rewards favor the shortest plan, because it
   * contains fewer errors.
   */
  readonly equalBy: "reward" | "correctness"
  /** Factor applied to the advantages of the first round if a recursive round follows. */
  readonly recursionDiscount: number
}

/** Objective to maximize. */
export interface ObjectiveConfig {
  readonly loss: /** Clipped per-token ratio (GRPO). */
    | { readonly type: "clippedRatio"; readonly low: number; readonly high: number }
    /** Clipped geometric mean of the ratios in a completion (GSPO). */
    | { readonly type: "sequenceRatio"; readonly low: number; readonly high: number }
    /** Unclipped ratio (REINFORCE). */
    | { readonly type: "importanceSampling" }
  /**
   * How the loss is averaged: over the tokens of each completion and then over completions (`"completion"`), or over
   * all tokens of a step at once (`"token"`).
   */
  readonly mean: "completion" | "token"
  /** Coefficient of the entropy bonus. 0 disables it. */
  readonly entropy: number
  /**
   * Coefficient of the KL penalty, which is subtracted from the reward of each token. It penalizes divergence from the
   * weights at the start of the phase.
   */
  readonly kl: number
  /** Loss weights for the two parts of a completion: the thought before the three lists, and the lists. */
  readonly weights: { readonly thought: number; readonly lists: number }
}

// -------------------------------------------------------------------------------------------------------------------
// Rollouts
// -------------------------------------------------------------------------------------------------------------------

/**
 * Settings for the Conductor runs of rollouts. The training run determines rounds and seeds. A critic or a `reassign`
 * function cannot be used, because the configuration is stored as JSON.
 */
export interface RolloutRunSettings
  extends Omit<RunSettings, "maxSteps" | "reassign" | "recursion" | "seed" | "self" | "critic" | "threshold"> {
  /** Maximum number of steps per workflow. */
  readonly maxSteps: number
  /** Another worker never takes over a step, because the reward must be credited to the worker that the plan names. */
  readonly reassign?: "never" | undefined
}

/**
 * How to handle rollouts in which a worker failed for reasons unrelated to the plan (unreachable, overloaded, out of
 * quota, a bug), after retries and reassignment.
 */
export interface FailureConfig {
  /**
   * `"retry"` (the default) runs the rollout again up to `retries` times, then drops it. `"drop"` drops it immediately.
   * `"wrong"` counts it as wrong, so that the policy learns which workers are reliable. Failures that a plan can cause
   * (context too long, content filtered) always count as wrong.
   */
  readonly lost: "wrong" | "drop" | "retry"
  readonly retries: number
}

/** Penalties subtracted from the reward of an answer. All default to 0, as in the paper. */
export interface PenaltyConfig {
  /** Penalty per worker call. */
  readonly perCall: number
  /** Penalty per second of the critical path. */
  readonly perSecond: number
  /** Penalty per step of the longest chain. Favors concurrent steps without depending on measured time. */
  readonly perCriticalStep: number
  readonly perUsd: number
}

/** Settings for rollouts. */
export interface RolloutConfig {
  /**
   * Prompt format: the paper's prompt and its ablations (examples, subtasks, access, descriptions), or a different
   * template.
   */
  readonly prompt: Prompt.ConductorOptions
  /**
   * Steps, limits, worker settings and retries. The budget applies to each rollout and includes the calls and tokens of
   * the policy.
   */
  readonly run: RolloutRunSettings
  /**
   * How completions are parsed. Default: `"thought-then-strict"`. A completion that Python could not parse has the
   * reward 0, as in the paper (section 2). A tolerant parser would reward the errors that it accepts, so the policy
   * would not learn to avoid them.
   */
  readonly reading: WorkflowText.Mode
  /**
   * Whether the Conductor is a worker in its own pool. Default: `false`. A step assigned to it becomes a nested run on
   * the same account; nested runs cannot be nested further. Completions in nested runs are sampled and paid for but not
   * trained on, because their reward would belong to another plan.
   */
  readonly self: boolean
  /** Maximum number of tokens per completion. Completions that reach the limit are not parsed. */
  readonly maxTokens: number
  /** Whether all rollouts of a group use the same worker seeds, so that identical calls get identical answers. */
  readonly sharedAnswers: boolean
  readonly failures: FailureConfig
  readonly penalties: PenaltyConfig
  /** Maximum number of groups sampled concurrently. */
  readonly samplingConcurrency: number
  /**
   * Maximum number of rollouts that execute workflows concurrently. Sampling pauses while that many sampled groups are
   * waiting to run.
   */
  readonly runConcurrency: number
}

/** Which workers a question gets. */
export type PoolConfig =
  /** The entire pool, in its original order. */
  | { readonly type: "fixed" }
  /** The entire pool, shuffled for each question. */
  | { readonly type: "shuffled" }
  /**
   * A random subset of `min` to `max` workers, shuffled for each question. Subsets listed in `heldOut` are never used.
   */
  | {
      readonly type: "random"
      readonly min: number
      readonly max: number
      readonly heldOut?: ReadonlyArray<ReadonlyArray<string>> | undefined
    }

/** Settings for recursive rounds. */
export interface RecursionConfig {
  /** Share of the groups in an iteration that have recursive rounds. */
  readonly share: number
  /** Number of rounds after the first. */
  readonly rounds: number
  /**
   * Share of workers, from 0 to 1, that are simulated as unreachable in questions with recursive rounds, so that the
   * policy learns to call other workers if a round has no answer. All rollouts for a question have the same outages.
   * Default: 0.
   */
  readonly outages?: number | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Phases
// -------------------------------------------------------------------------------------------------------------------

/** Supervised learning on given completions. */
export interface WarmStartConfig {
  readonly type: "warm-start"
  /** Name of the phase, unique within the run. */
  readonly name: string
  /** Name of the example source in `Parts.examples`. */
  readonly examples: string
  readonly steps: number
  /** Number of examples per step. An example is a prompt with all its completions. */
  readonly batch: number
  readonly optimizer: OptimizerConfig
}

/** Reinforcement learning with groups of rollouts. */
export interface GrpoConfig {
  readonly type: "grpo"
  /** Name of the phase, unique within the run. */
  readonly name: string
  /** Name of the task source in `Parts.tasks`. */
  readonly tasks: string
  readonly iterations: number
  /** Number of questions, and thus groups, per iteration. */
  readonly questions: number
  /** Number of completions per question. */
  readonly groupSize: number
  /** Number of optimizer steps per iteration. The groups are divided evenly between them. */
  readonly minibatches: number
  /**
   * Maximum number of optimizer steps by which the sampler may lag behind the first step of an iteration. 0 means
   * strictly on-policy.
   */
  readonly offPolicySteps: number
  readonly optimizer: OptimizerConfig
  readonly advantage: AdvantageConfig
  readonly objective: ObjectiveConfig
  readonly rollouts: RolloutConfig
  readonly pool: PoolConfig
  readonly recursion: RecursionConfig
}

/** One phase of a training run, with its own settings. */
export type PhaseConfig = WarmStartConfig | GrpoConfig

// -------------------------------------------------------------------------------------------------------------------
// Run
// -------------------------------------------------------------------------------------------------------------------

/** Format version of the run folder. */
export const version = 1

/** Everything that determines a run, as plain JSON. */
export interface TrainingConfig {
  readonly version: typeof version
  readonly name: string
  readonly seed: number
  /** Names of the engine and the model. */
  readonly engine: { readonly name: string; readonly model: string }
  /** The workers in pool order, with their ids and descriptions, and whether their prices are play money. */
  readonly pool: ReadonlyArray<{
    readonly id: string
    readonly description?: string | undefined
    readonly isPlay?: boolean | undefined
  }>
  readonly grader: string
  readonly phases: ReadonlyArray<PhaseConfig>
  readonly checkpoints: {
    /** Number of iterations between checkpoints. */
    readonly every: number
    /** Number of recent checkpoints to retain, in addition to the best one. */
    readonly keep: number
  }
  /** Number of iterations between held-out evaluations. 0 disables them. */
  readonly evaluateEvery: number
  /** Whether to write rollouts to the run folder. */
  readonly recordRollouts: boolean
  /**
   * Maximum total cost of the run in USD. When it is reached, the run stops at a checkpoint. It can be raised on
   * resume.
   */
  readonly maxCostUsd?: number | undefined
  /** Versions of Node and of the packages used. */
  readonly versions: Readonly<Record<string, string>>
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Partial settings group. Lists and values with a `type` must be given in full. */
export type Settings<A> = A extends ReadonlyArray<unknown> | { readonly type: string }
  ? A
  : A extends object
    ? { readonly [Key in keyof A]?: Settings<A[Key]> | undefined }
    : A

/** Default optimizer: AdamW with the paper's settings. */
const defaultOptimizer: OptimizerConfig = {
  learningRate: 1e-6,
  schedule: { type: "cosine", warmUpRatio: 0.03, finalRatio: 0 },
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
  weightDecay: 0,
  maxGradientNorm: 1
}

/**
 * Default advantages, as in the paper: normalized by group mean and standard deviation; groups with equal rewards are
 * dropped.
 */
const defaultAdvantage: AdvantageConfig = {
  baseline: "group",
  divideByStd: true,
  zeroVariance: { type: "drop" },
  equalBy: "reward",
  recursionDiscount: 0.25
}

/** Default objective: clipped per-token ratio, no entropy bonus, no KL term. */
export const defaultObjective: ObjectiveConfig = {
  loss: { type: "clippedRatio", low: 0.2, high: 0.2 },
  mean: "completion",
  entropy: 0,
  kl: 0,
  weights: { thought: 1, lists: 1 }
}

/** Default rollout settings, as in the paper's controlled experiments. */
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

/** Input for {@link grpo}. */
export type GrpoInput = Settings<Omit<GrpoConfig, "type">>

/**
 * Creates a reinforcement learning phase with the paper's defaults.
 *
 * **Details**
 *
 * By default, the phase has 200 iterations of 4 questions with 64 completions each, and one optimizer step per
 * iteration, strictly on-policy. Off-policy sampling is useful only if workers are slower than the engine and run on
 * another machine, because the embedded engine samples on the same cores that compute its gradients.
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
 * Creates the paper's fine-tuning phase for recursion: 20 iterations in which half of the questions have a recursive
 * round.
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
 * Creates a supervised learning phase.
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

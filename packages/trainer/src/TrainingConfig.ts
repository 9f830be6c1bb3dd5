/**
 * The configuration of a training run: plain data with everything that determines the run, written to the run's folder
 * before the first step.
 *
 * Parts that are not data (the engine, the pool, the tasks, the grader) are passed to the trainer separately, and
 * appear here by name. A run is a list of phases, each with its own settings. The defaults are the paper's. Unlike the
 * textbook method, there is no critic network and no synchronized reference model (paper section 2: no KL term).
 */

import { Options, type Prompt, type WorkflowText } from "@divisi/core"
import type { RunSettings } from "@divisi/core/RunSettings"
import { grpoTable, warmStartTable } from "./internal/tables.ts"

// -------------------------------------------------------------------------------------------------------------------
// Optimiser
// -------------------------------------------------------------------------------------------------------------------

/** The learning rate schedule of a phase. */
export type ScheduleConfig =
  /** Constant after the warm-up. */
  | { readonly type: "constant"; readonly warmUpRatio: number }
  /** Half a cosine down to `finalRatio` of the peak, after the warm-up. */
  | { readonly type: "cosine"; readonly warmUpRatio: number; readonly finalRatio: number }

/** AdamW and its schedule. */
export interface OptimizerConfig {
  /** The peak learning rate. */
  readonly learningRate: number
  readonly schedule: ScheduleConfig
  readonly beta1: number
  readonly beta2: number
  readonly epsilon: number
  readonly weightDecay: number
  /** The norm to which a gradient is clipped; 0 disables clipping. */
  readonly maxGradientNorm: number
}

// -------------------------------------------------------------------------------------------------------------------
// Objective
// -------------------------------------------------------------------------------------------------------------------

/** The handling of groups without a training signal, in which all rewards are equal. */
export type ZeroVariance =
  /** The group is excluded from the gradient. */
  | { readonly type: "drop" }
  /** The group is included with advantages of 0, so that only an entropy bonus or a KL penalty has an effect. */
  | { readonly type: "keep" }
  /**
   * The group is replaced by another question. The number of extra groups is at most `maxExtra` times the groups of an
   * iteration.
   */
  | { readonly type: "resample"; readonly maxExtra: number }

/** The conversion of rewards to advantages. */
export interface AdvantageConfig {
  /** The subtracted baseline: the mean of the group (GRPO), or that of the other members (leave-one-out). */
  readonly baseline: "group" | "leave-one-out"
  /** Whether advantages are divided by the standard deviation of the group. */
  readonly divideByStd: boolean
  readonly zeroVariance: ZeroVariance
  /**
   * Which groups count as equal: those with equal rewards (`"reward"`), or those whose readable answers are all correct
   * or all wrong (`"correctness"`, the filter of DAPO, Yu et al. 2025). Use `"correctness"` for policies that still
   * write many invalid plans: as long as no plan gives a correct answer, rewards favor the shortest plan, because it
   * contains fewer errors.
   */
  readonly equalBy: "reward" | "correctness"
  /** The factor on the first round's advantages if a recursive round follows. */
  readonly recursionDiscount: number
}

/** The objective to maximize. */
export interface ObjectiveConfig {
  readonly loss: /** The clipped ratio of each token: GRPO. */
    | { readonly type: "clippedRatio"; readonly low: number; readonly high: number }
    /** The clipped geometric mean of a completion's ratios. */
    | { readonly type: "sequenceRatio"; readonly low: number; readonly high: number }
    /** The ratio without clipping: REINFORCE. */
    | { readonly type: "importanceSampling" }
  /**
   * The order of averaging: over the tokens of each completion and then over completions, or over all tokens of a step
   * together.
   */
  readonly mean: "completion" | "token"
  /** The coefficient of the policy's entropy in the objective; 0 for none. */
  readonly entropy: number
  /**
   * The coefficient of the divergence from the weights at the start of the phase, which is subtracted from the reward
   * of each token.
   */
  readonly kl: number
  /** The factors of the tokens in a completion's parts: the text before the three lists, and the lists. */
  readonly weights: { readonly thought: number; readonly lists: number }
}

// -------------------------------------------------------------------------------------------------------------------
// Rollouts
// -------------------------------------------------------------------------------------------------------------------

/**
 * Settings for the runs of rollouts. Rounds and seeds are set by the training itself. A critic and a `reassign`
 * function are not supported, because the configuration is written as JSON.
 */
export interface RolloutRunSettings
  extends Omit<RunSettings, "maxSteps" | "reassign" | "recursion" | "seed" | "self" | "critic" | "threshold"> {
  /** The maximum number of steps of a workflow. */
  readonly maxSteps: number
  /** Whether another worker takes over a step whose worker failed after all retries. */
  readonly reassign?: "never" | "next" | undefined
}

/**
 * The handling of rollouts in which a worker failed for a reason unrelated to the plan (unreachable, overloaded, out of
 * quota, a defect), after retries and reassignment.
 */
export interface FailureConfig {
  /**
   * `"retry"`, the default, runs the rollout again: `retries` times, then drops it. `"drop"` drops it. `"wrong"` counts
   * it as wrong, so that the policy learns which workers are reliable. A failure that a plan can cause (a context that
   * is too long, filtered content) always counts as wrong.
   */
  readonly lost: "wrong" | "drop" | "retry"
  readonly retries: number
}

/** Penalties subtracted from the reward of an answer. All default to 0, as in the paper. */
export interface PenaltyConfig {
  /** The penalty for each call of a worker. */
  readonly perCall: number
  /** The penalty for each second of the critical path. */
  readonly perSecond: number
  /** The penalty for each step of the longest chain. It favors concurrent steps without depending on measured time. */
  readonly perCriticalStep: number
  readonly perUsd: number
}

/** Settings for rollouts. */
export interface RolloutConfig {
  /**
   * The prompt: the paper's setting and its ablations (examples, subtasks, access, descriptions), or another template.
   */
  readonly prompt: Prompt.ConductorOptions
  /**
   * Steps, limits, workers' settings, retries. The budget is per rollout, including the policy's own calls and tokens.
   */
  readonly run: RolloutRunSettings
  /**
   * How completions are parsed. Default: `"thought-then-strict"`. A completion that Python could not parse has the
   * reward 0, as in the paper (section 2). A tolerant parser would reward the errors that it accepts, so the policy
   * would not unlearn them.
   */
  readonly reading: WorkflowText.Mode
  /**
   * Whether the Conductor is a worker in its own pool. Default: `false`. A step assigned to it becomes a nested run on
   * the same account, without further nesting. Completions in nested runs are sampled and paid for, but not trained on,
   * because their reward would belong to another plan.
   */
  readonly self: boolean
  /** The maximum number of tokens of a completion. A completion that reaches the limit is not parsed. */
  readonly maxTokens: number
  /** Whether the rollouts of a group use the same worker seeds, so that equal calls have equal answers. */
  readonly sharedAnswers: boolean
  readonly failures: FailureConfig
  readonly penalties: PenaltyConfig
  /** The number of groups that are sampled concurrently. */
  readonly samplingConcurrency: number
  /**
   * The number of rollouts whose workflows run concurrently. Sampling pauses while that many sampled groups are waiting
   * to run.
   */
  readonly runConcurrency: number
}

/** The workers of a question. */
export type PoolConfig =
  /** The whole pool, in its order. */
  | { readonly type: "fixed" }
  /** The whole pool, shuffled for each question. */
  | { readonly type: "shuffled" }
  /** A random subset of `min` to `max` workers, shuffled for each question; never one of `heldOut`. */
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
  /** The number of rounds after the first. */
  readonly rounds: number
  /**
   * The share of workers, from 0 to 1, that are simulated as unreachable in questions with recursive rounds, so that
   * the policy learns to call others if a round has no answer. The same for all rollouts of a question. Default: 0.
   */
  readonly outages?: number | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Phases
// -------------------------------------------------------------------------------------------------------------------

/** Supervised learning on given completions. */
export interface WarmStartConfig {
  readonly type: "warm-start"
  /** Unique within a run. */
  readonly name: string
  /** The name of the source of examples, as in `Parts.examples`. */
  readonly examples: string
  readonly steps: number
  /** The number of examples per step. An example is a prompt with all its completions. */
  readonly batch: number
  readonly optimizer: OptimizerConfig
}

/** Reinforcement learning with groups of rollouts. */
export interface GrpoConfig {
  readonly type: "grpo"
  /** Unique within a run. */
  readonly name: string
  /** The name of the source of tasks, as in `Parts.tasks`. */
  readonly tasks: string
  readonly iterations: number
  /** The number of questions (and groups) per iteration. */
  readonly questions: number
  /** The number of completions per question. */
  readonly groupSize: number
  /** The number of optimizer steps per iteration, each on its share of the groups. */
  readonly minibatches: number
  /**
   * The number of optimizer steps by which the sampler may lag behind the first step of an iteration; 0 is on-policy.
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

/** The version of the run folder's format. */
export const version = 1

/** Everything that determines a run, as plain JSON. */
export interface TrainingConfig {
  readonly version: typeof version
  readonly name: string
  readonly seed: number
  /** The names of the engine and the model. */
  readonly engine: { readonly name: string; readonly model: string }
  /** The workers, by index, with their ids and descriptions, and whether their prices are play money. */
  readonly pool: ReadonlyArray<{
    readonly id: string
    readonly description?: string | undefined
    readonly isPlay?: boolean | undefined
  }>
  readonly grader: string
  readonly phases: ReadonlyArray<PhaseConfig>
  readonly checkpoints: {
    /** The number of iterations between checkpoints. */
    readonly every: number
    /** The number of recent checkpoints to retain, in addition to the best one. */
    readonly keep: number
  }
  /** The number of iterations between held-out evaluations; 0 for none. */
  readonly evaluateEvery: number
  /** Whether rollouts are written into the folder. */
  readonly recordRollouts: boolean
  /**
   * The maximum total cost of the run in USD. At the limit, the run stops at a checkpoint. It can be raised on resume.
   */
  readonly maxCostUsd?: number | undefined
  /** The versions of packages and Node. */
  readonly versions: Readonly<Record<string, string>>
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** A partial group of settings. Values with a `type`, and lists, must be complete. */
export type Settings<A> = A extends ReadonlyArray<unknown> | { readonly type: string }
  ? A
  : A extends object
    ? { readonly [Key in keyof A]?: Settings<A[Key]> | undefined }
    : A

/** AdamW as in the paper. */
const defaultOptimizer: OptimizerConfig = {
  learningRate: 1e-6,
  schedule: { type: "cosine", warmUpRatio: 0.03, finalRatio: 0 },
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
  weightDecay: 0,
  maxGradientNorm: 1
}

/** GRPO as in the paper: group mean and standard deviation; groups with equal rewards are dropped. */
const defaultAdvantage: AdvantageConfig = {
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
 * Makes a phase of reinforcement learning with the paper's defaults.
 *
 * **Details**
 *
 * Default: 200 iterations of 4 questions with 64 completions each, one optimizer step per iteration, strictly
 * on-policy. Off-policy overlap is useful only if workers are slower than the engine and run on another machine; the
 * embedded engine samples on the same cores that compute its gradients.
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
 * Makes the paper's fine-tuning phase for recursion: 20 iterations in which half of the questions have a recursive
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
 * Makes a phase of supervised learning.
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

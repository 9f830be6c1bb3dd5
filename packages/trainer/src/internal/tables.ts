/** Option tables for training configurations, for use with `Options.check`. */

import { LanguagePolicy, Options } from "@divisi/core"
import { settingsTable } from "@divisi/core/Conductor"
import type { ConfigInput, Parts, Options as StartOptions } from "../Trainer.ts"
import type {
  AdvantageConfig,
  FailureConfig,
  GrpoConfig,
  ObjectiveConfig,
  OptimizerConfig,
  PenaltyConfig,
  RecursionConfig,
  RolloutConfig,
  RolloutRunSettings,
  TrainingConfig,
  WarmStartConfig
} from "../TrainingConfig.ts"

const share = Options.number(0, 1)

const optimizer = {
  learningRate: Options.number(0, 10),
  schedule: Options.variants("type", {
    constant: Options.table({ warmUpRatio: share }, { required: ["warmUpRatio"] }),
    cosine: Options.table({ warmUpRatio: share, finalRatio: share }, { required: ["warmUpRatio", "finalRatio"] })
  }),
  beta1: share,
  beta2: share,
  epsilon: Options.number(0),
  weightDecay: Options.number(0),
  maxGradientNorm: Options.number(0)
} satisfies Options.ShapeOf<OptimizerConfig>

const advantage = {
  baseline: Options.oneOf("group", "leave-one-out"),
  divideByStd: Options.flag,
  zeroVariance: Options.variants("type", {
    drop: {},
    keep: {},
    resample: Options.table({ maxExtra: Options.number(0) }, { required: ["maxExtra"] })
  }),
  equalBy: Options.oneOf("reward", "correctness"),
  recursionDiscount: Options.number(0)
} satisfies Options.ShapeOf<AdvantageConfig>

/** Ratios are clipped to the range from `1 - low` to `1 + high`. */
const clip = Options.table({ low: share, high: Options.number(0) }, { required: ["low", "high"] })

const objective = {
  loss: Options.variants("type", { clippedRatio: clip, sequenceRatio: clip, importanceSampling: {} }),
  mean: Options.oneOf("completion", "token"),
  entropy: Options.number(0),
  kl: Options.number(0),
  weights: { thought: Options.number(0), lists: Options.number(0) }
} satisfies Options.ShapeOf<ObjectiveConfig>

const {
  critic: _critic,
  recursion: _rounds,
  seed: _seed,
  self: _self,
  threshold: _threshold,
  ...ofRuns
} = settingsTable

const run = { ...ofRuns, reassign: Options.oneOf("never") } satisfies Options.ShapeOf<RolloutRunSettings>

const rollouts = {
  prompt: LanguagePolicy.promptTable,
  run,
  reading: Options.oneOf("tolerant", "strict", "thought-then-strict"),
  self: Options.flag,
  maxTokens: Options.whole(1),
  sharedAnswers: Options.flag,
  failures: {
    lost: Options.oneOf("wrong", "drop", "retry"),
    retries: Options.whole(0)
  } satisfies Options.ShapeOf<FailureConfig>,
  penalties: {
    perCall: Options.number(0),
    perSecond: Options.number(0),
    perCriticalStep: Options.number(0),
    perUsd: Options.number(0)
  } satisfies Options.ShapeOf<PenaltyConfig>,
  samplingConcurrency: Options.whole(1),
  runConcurrency: Options.whole(1)
} satisfies Options.ShapeOf<RolloutConfig>

const recursion = {
  share,
  rounds: Options.whole(0),
  outages: share
} satisfies Options.ShapeOf<RecursionConfig>

const pool = Options.variants("type", {
  fixed: {},
  shuffled: {},
  random: Options.table(
    { min: Options.whole(1), max: Options.whole(1), heldOut: Options.listOf(Options.listOf(Options.name)) },
    { required: ["min", "max"], rules: [Options.ordered("min", "max")] }
  )
})

/**
 * Settings of a reinforcement learning phase. Groups must have at least two members, because the advantage of a single
 * one is always 0.
 */
export const grpoTable = {
  name: Options.name,
  tasks: Options.name,
  iterations: Options.whole(1),
  questions: Options.whole(1),
  groupSize: Options.whole(2),
  minibatches: Options.whole(1),
  offPolicySteps: Options.whole(0),
  optimizer,
  advantage,
  objective,
  rollouts,
  pool,
  recursion
} satisfies Options.ShapeOf<Omit<GrpoConfig, "type">>

/** Settings of a supervised learning phase. */
export const warmStartTable = {
  name: Options.name,
  examples: Options.name,
  steps: Options.whole(1),
  batch: Options.whole(1),
  optimizer
} satisfies Options.ShapeOf<Omit<WarmStartConfig, "type">>

const checkpoints = {
  every: Options.whole(1),
  keep: Options.whole(1)
} satisfies Options.ShapeOf<TrainingConfig["checkpoints"]>

const input = {
  phases: Options.listOf(
    Options.variants("type", {
      grpo: Options.table(grpoTable, { rules: [Options.ordered("minibatches", "questions")] }),
      "warm-start": warmStartTable
    })
  ),
  name: Options.name,
  seed: Options.whole(0),
  checkpoints,
  evaluateEvery: Options.whole(0),
  recordRollouts: Options.flag,
  maxCostUsd: Options.limit,
  versions: Options.recordOf(Options.text)
} satisfies Options.ShapeOf<ConfigInput>

const parts = {
  engine: Options.madeBy("an engine", "forwardBackward"),
  pool: Options.expects("a WorkerPool", (value) => typeof value === "object" && value !== null && "workers" in value),
  grader: Options.madeBy("a grader", "grade"),
  tasks: Options.anObject,
  examples: Options.anObject,
  policy: Options.aFunction,
  isHeldOut: Options.aFunction,
  reference: Options.madeBy("an engine", "forwardBackward"),
  evaluate: Options.aFunction,
  bestBy: Options.name
} satisfies Options.ShapeOf<Parts>

/**
 * A recipe contains parts and input in a single value, which can be passed for either. Each table therefore accepts the
 * other's fields and ignores them.
 */
const unread = (shape: Options.Shape): Options.Shape =>
  Object.fromEntries([...Object.keys(shape), "dryRun"].map((name) => [name, Options.anything]))

/** Input of a run. */
export const inputTable = Options.table({ ...unread(parts), ...input }, { required: ["phases"] })

/** Parts of a run. */
export const partsTable = Options.table({ ...unread(input), ...parts }, { required: ["engine", "pool", "grader"] })

/** Options for `start` and `resume` in {@link ../Trainer.ts}. */
export const startTable = Options.table(
  {
    folder: Options.name,
    listener: Options.aFunction,
    machines: Options.anObject,
    signal: Options.expects(
      "an AbortSignal",
      (value) => typeof value === "object" && value !== null && "aborted" in value
    ),
    maxCostUsd: Options.limit
  } satisfies Options.ShapeOf<StartOptions & { readonly maxCostUsd: number }>,
  { required: ["folder"] }
)

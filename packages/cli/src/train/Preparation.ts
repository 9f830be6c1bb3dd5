/** Prepares the parts of a training run from the name of a recipe. */

import { Nearest, Options } from "@divisi/core"
import type * as WorkerPool from "@divisi/core/WorkerPool"
import { type Known, type Recipe, type RecipeOptions, recipes, type Training } from "@divisi/recipes"
import type { Trainer } from "@divisi/trainer"
import type { Engine, EngineError } from "@divisi/trainer/Engine"
import type { PhaseConfig } from "@divisi/trainer/TrainingConfig"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Config } from "../config.ts"
import { type Failure, usage } from "../invocation/Failure.ts"
import * as OptionalPackage from "../invocation/OptionalPackage.ts"
import * as Prices from "../vendors/Prices.ts"
import type { Asked } from "./RecipeFile.ts"

/** Changes to a recipe, requested by flags. */
export interface Changes {
  /** Number of iterations for each reinforcement learning phase. */
  readonly iterations?: number | undefined
  readonly maxCostUsd?: number | undefined
}

/** Describes all recipes by name. */
export const describe = (config: Config): string =>
  [
    ...Object.keys(config.recipes ?? {}).map((name) => `  ${name}: from the config`),
    ...Object.entries(recipes)
      .filter(([name]) => config.recipes?.[name] === undefined)
      .map(([name, { description }]) => `  ${name}: ${description}`)
  ].join("\n")

const wrong = (recipe: string, error: unknown): Failure =>
  usage(`Cannot use the recipe ${recipe}: ${OptionalPackage.explain(error)}`)

const find = (config: Config, { baseModel, engine, recipe: name }: Asked): Effect.Effect<Recipe, Failure> => {
  const own = config.recipes?.[name]
  if (own !== undefined) return Effect.succeed(own)
  const known: Known | undefined = Object.hasOwn(recipes, name) ? recipes[name as keyof typeof recipes] : undefined
  if (known === undefined) {
    const meant = Nearest.nearest(name, [...Object.keys(config.recipes ?? {}), ...Object.keys(recipes)])
    return Effect.fail(usage(`Unknown recipe "${name}".${Nearest.didYouMean(meant)} Available:\n${describe(config)}`))
  }
  if (engine !== undefined && !known.engines.includes(engine)) {
    return Effect.fail(
      usage(
        `The ${name} recipe does not support the engine "${engine}". Supported engines: ${known.engines.join(", ")}.`
      )
    )
  }
  if (baseModel !== undefined && !known.takesBaseModel) {
    return Effect.fail(usage(`The ${name} recipe does not use --base-model. Omit it.`))
  }
  return Effect.tryPromise({ try: known.load, catch: (error) => wrong(name, error) })
}

/** The parts that a run requires. */
const parts = ["engine", "pool", "grader", "phases"] as const

/** Fields that a recipe can return. Their values are checked by the trainer. */
const table = {
  engine: Options.anObject,
  pool: Options.anything,
  grader: Options.anything,
  phases: Options.anything,
  tasks: Options.anything,
  examples: Options.anything,
  policy: Options.anything,
  isHeldOut: Options.anything,
  reference: Options.anything,
  evaluate: Options.anything,
  bestBy: Options.anything,
  name: Options.anything,
  checkpoints: Options.anything,
  evaluateEvery: Options.anything,
  recordRollouts: Options.anything,
  maxCostUsd: Options.anything,
  versions: Options.anything,
  dryRun: {
    engine: Options.anObject,
    tokenizer: Options.anObject,
    asksWorkers: Options.flag,
    secondsPerCall: { low: Options.number(0), high: Options.number(0) },
    answerTokens: Options.number(0),
    evaluationTasks: Options.whole(0),
    unknown: Options.anything
  }
} satisfies Options.ShapeOf<Training>

const priced = ({ workers }: WorkerPool.WorkerPool, config: Config): WorkerPool.WorkerPool => ({
  workers: Arr.map(workers, Prices.priced(Prices.of(config, {})))
})

/** Prepares the parts of a run. Prices from the config apply. */
export const prepare = (
  config: Config,
  asked: Asked,
  options: Pick<RecipeOptions, "trainsNothing"> = {}
): Effect.Effect<Training, Failure> =>
  Effect.gen(function* () {
    const recipe = yield* find(config, asked)
    const { recipe: _, ...told } = asked
    const explain = (error: unknown) => wrong(asked.recipe, error)
    const made = yield* Effect.tryPromise({
      try: async () => ({ training: await recipe({ ...told, ...options }) }),
      catch: explain
    })
    const training = Effect.isEffect(made.training) ? yield* Effect.mapError(made.training, explain) : made.training
    const missing = parts.find((part) => training?.[part] === undefined)
    if (missing !== undefined) {
      return yield* usage(`The function of the recipe ${asked.recipe} returns no \`${missing}\`.`)
    }
    yield* Effect.try({
      try: () => Options.check(`The recipe ${asked.recipe}`, training, table),
      catch: (error) => usage((error as Error).message)
    })
    return { ...training, pool: priced(training.pool, config) }
  })

/** Opens the engine until the scope closes. */
export const openEngine = ({ engine }: Training): Effect.Effect<Engine, EngineError, Scope.Scope> =>
  Effect.isEffect(engine) ? engine : Effect.succeed(engine)

/** Returns the parts required by the trainer, with an open engine. */
export const partsOf = (
  { bestBy, evaluate, examples, grader, isHeldOut, policy, pool, reference, tasks }: Training,
  engine: Engine
): Trainer.Parts => ({ bestBy, engine, evaluate, examples, grader, isHeldOut, policy, pool, reference, tasks })

const changed = (phase: PhaseConfig, { iterations }: Changes): PhaseConfig =>
  phase.type === "grpo" && iterations !== undefined ? { ...phase, iterations } : phase

/** Returns the configuration required by the trainer. */
export const configOf = (training: Training, asked: Asked, changes: Changes): Trainer.ConfigInput => {
  const { checkpoints, evaluateEvery, maxCostUsd, name, phases, recordRollouts, versions } = training
  const limit = changes.maxCostUsd ?? maxCostUsd
  return {
    name: name ?? asked.recipe,
    seed: asked.seed,
    phases: phases.map((phase) => changed(phase, changes)),
    checkpoints,
    evaluateEvery,
    recordRollouts,
    maxCostUsd: limit,
    versions
  }
}

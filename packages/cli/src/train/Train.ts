/** `divisi train` and `divisi train resume`: a run from a recipe, shown as it happens, stopped at a checkpoint. */

import type { Training } from "@divisi/recipes"
import { Trainer, type TrainingError, type TrainingEvent } from "@divisi/trainer"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as ConfigFile from "../config/ConfigFile.ts"
import type { Config } from "../config.ts"
import { exitCodes, type Failure, failed, silent, usage } from "../invocation/Failure.ts"
import * as OpenTelemetry from "../invocation/OpenTelemetry.ts"
import * as Services from "../stores/Services.ts"
import type { ResumeInput, TrainInput } from "./flags.ts"
import * as Preparation from "./Preparation.ts"
import * as RecipeFile from "./RecipeFile.ts"
import * as TrainOutput from "./TrainOutput.ts"

const explain = (error: TrainingError.TrainingError): Failure =>
  error._tag === "ConfigError" ? usage(error.message) : failed(error.message)

/** Starts or resumes a run, once its parts are ready. */
type Begin = (
  parts: Trainer.Parts,
  options: Trainer.Options
) => Effect.Effect<Trainer.Result, TrainingError.TrainingError>

/**
 * Runs to the end. An interruption asks the run to stop and waits until it has: what was learned so far is saved.
 */
const stoppable = (
  run: (signal: AbortSignal) => Effect.Effect<Trainer.Result, TrainingError.TrainingError>,
  onStop: () => void
): Effect.Effect<Trainer.Result, TrainingError.TrainingError> =>
  Effect.gen(function* () {
    const controller = new AbortController()
    const fiber = yield* Effect.forkDetach(run(controller.signal))
    const stop = Effect.suspend(() => {
      onStop()
      controller.abort()
      return Fiber.await(fiber)
    })
    return yield* Effect.onInterrupt(Fiber.join(fiber), () => stop)
  })

const both = (
  one: (event: TrainingEvent.TrainingEvent) => void,
  other: ((event: TrainingEvent.TrainingEvent) => void) | undefined
) =>
  other === undefined
    ? one
    : (event: TrainingEvent.TrainingEvent) => {
        one(event)
        other(event)
      }

interface Setting {
  readonly config: Config
  readonly training: Training
  readonly folder: string
  readonly json: boolean
}

const run = ({ config, folder, json, training }: Setting, begin: Begin): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const engine = yield* Effect.mapError(Preparation.openEngine(training), (error) => failed(error.message))
      const parts = Preparation.partsOf(training, engine)
      const output = yield* TrainOutput.make(json)
      const trained = OpenTelemetry.metered((telemetry) => {
        const listener = both(output.show, telemetry)
        return stoppable((signal) => begin(parts, { folder, listener, signal }), output.stopping)
      })
      const { ending, unlearned } = yield* Services.provide(
        Effect.ensuring(Effect.mapError(trained, explain), Effect.sync(output.close)),
        {
          ...Services.of(config, { cache: Option.none() }),
          isGym: training.dryRun?.asksWorkers === true
        }
      )
      if (ending.type === "cost-limit") return yield* silent(exitCodes.budget)
      if (unlearned.length > 0) return yield* silent(exitCodes.failed)
    })
  )

const askedOf = (input: TrainInput, config: Config): Effect.Effect<RecipeFile.Asked, Failure> => {
  if (Option.isNone(input.recipe)) {
    return Effect.fail(usage(`Say what to train with --recipe. There are:\n${Preparation.describe(config)}`))
  }
  const engine = Option.getOrUndefined(input.engine)
  const baseModel = Option.getOrUndefined(input.baseModel)
  return Effect.succeed({
    recipe: input.recipe.value,
    seed: Option.getOrElse(input.seed, () => 1),
    engine,
    baseModel
  })
}

/** Begins a run, or says what it would cost. */
export const start = Effect.fnUntraced(function* (input: TrainInput): Effect.fn.Return<void, Failure> {
  const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
  const asked = yield* askedOf(input, config)
  const folder = yield* RecipeFile.folderFor(Option.getOrUndefined(input.out), asked.recipe)
  const training = yield* Preparation.prepare(config, asked, input.dryRun ? { trainsNothing: true } : {})
  const changes = {
    iterations: Option.getOrUndefined(input.iterations),
    maxCostUsd: Option.getOrUndefined(input.maxCost)
  }
  const settings = Preparation.configOf(training, asked, changes)
  if (input.dryRun) {
    const DryRun = yield* Effect.promise(() => import("./DryRun.ts"))
    return yield* DryRun.run(training, settings, input.json)
  }
  yield* RecipeFile.write(folder, asked)
  yield* run({ config, training, folder, json: input.json }, (parts, options) =>
    Trainer.start(parts, settings, options)
  )
})

/** Resumes a run from its last checkpoint. */
export const resume = Effect.fnUntraced(function* (input: ResumeInput): Effect.fn.Return<void, Failure> {
  const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
  const asked = yield* RecipeFile.read(input.folder)
  const training = yield* Preparation.prepare(config, asked)
  const limit = Option.match(input.maxCost, { onNone: () => ({}), onSome: (maxCostUsd) => ({ maxCostUsd }) })
  yield* run({ config, training, folder: input.folder, json: input.json }, (parts, options) =>
    Trainer.resume(parts, { ...options, ...limit })
  )
})

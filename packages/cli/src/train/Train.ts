/**
 * `divisi train` and `divisi train resume`: runs a recipe, displays its progress, and stops it at a checkpoint when
 * interrupted.
 */

import path from "node:path"
import type { Training } from "@divisi/recipes"
import { Trainer, type TrainingError, type TrainingEvent } from "@divisi/trainer"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as ConfigFile from "../config/ConfigFile.ts"
import type { Config } from "../config.ts"
import { exitCodes, type Failure, failed, silent, usage } from "../invocation/Failure.ts"
import * as OpenTelemetry from "../invocation/OpenTelemetry.ts"
import { stdout } from "../invocation/Output.ts"
import * as Database from "../stores/Database.ts"
import * as Services from "../stores/Services.ts"
import type { ResumeInput, TrainInput } from "./flags.ts"
import * as Preparation from "./Preparation.ts"
import * as RecipeFile from "./RecipeFile.ts"
import * as TrainOutput from "./TrainOutput.ts"

const explain = (error: TrainingError.TrainingError): Failure =>
  error._tag === "ConfigError" ? usage(error.message) : failed(error.message)

/** Starts or resumes a run after its parts have been prepared. */
type Begin = (
  parts: Trainer.Parts,
  options: Trainer.Options
) => Effect.Effect<Trainer.Result, TrainingError.TrainingError>

/**
 * Runs to completion. An interruption asks the run to stop and waits until it has stopped, so that completed iterations
 * are saved.
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
  /** URL of the Postgres database shared by the machines that generate rollouts. */
  readonly on: Option.Option<Redacted.Redacted>
  readonly recipe: Announced
}

/** The recipe of a training run, stored for machines that join it. */
interface Announced {
  readonly asked: RecipeFile.Asked
  readonly iterations?: number | undefined
}

/** Returns the stores shared with the machines that generate rollouts. */
const machinesOf = Effect.fnUntraced(function* ({ folder, recipe }: Setting, { cluster }: Database.Database) {
  const { announce, make } = yield* Effect.promise(() => import("./TrainMachines.ts"))
  const machines = yield* make(cluster, path.basename(path.resolve(folder)))
  yield* announce(machines, recipe)
  return machines
})

const run = (setting: Setting, begin: Begin): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { config, folder, json, training } = setting
      const database = yield* Database.openShared(setting.on)
      const machines = database && (yield* machinesOf(setting, database))
      const engine = yield* Effect.mapError(Preparation.openEngine(training), (error) => failed(error.message))
      const parts = Preparation.partsOf(training, engine)
      const output = yield* TrainOutput.make(json)
      const trained = OpenTelemetry.metered((telemetry) => {
        const listener = both(output.show, telemetry)
        return stoppable((signal) => begin(parts, { folder, listener, signal, machines }), output.stopping)
      })
      const { ending, unlearned } = yield* Services.provide(
        Effect.ensuring(Effect.mapError(trained, explain), Effect.sync(output.close)),
        {
          ...Services.of(config, { cache: Option.none() }),
          database,
          isGym: training.dryRun?.asksWorkers === true
        }
      )
      if (ending.type === "cost-limit") return yield* silent(exitCodes.budget)
      if (unlearned.length > 0) return yield* silent(exitCodes.failed)
    })
  )

const askedOf = (input: TrainInput, config: Config): Effect.Effect<RecipeFile.Asked, Failure> => {
  if (Option.isNone(input.recipe)) {
    return Effect.fail(usage(`Choose a recipe with --recipe. Available:\n${Preparation.describe(config)}`))
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

/** Generates rollouts for a training run on another machine until it ends. */
const joined = (input: TrainInput, name: string): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const database = yield* Database.openShared(input.on)
      if (database === undefined)
        return yield* usage("--join requires the database that the training run uses. Pass it with --on postgres://…")
      const given = [
        input.recipe,
        input.out,
        input.seed,
        input.iterations,
        input.maxCost,
        input.engine,
        input.baseModel
      ]
      if (given.some((one) => Option.isSome<unknown>(one)))
        return yield* usage("--join uses the recipe and settings of the training. Omit --recipe and its settings.")
      const { announced, make } = yield* Effect.promise(() => import("./TrainMachines.ts"))
      const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
      const machines = yield* make(database.cluster, name)
      const { asked, iterations } = (yield* announced(machines)) as Announced
      if (!input.json) yield* Effect.sync(() => void stdout.write(`Generating rollouts for ${name}\n`))
      const training = yield* Preparation.prepare(config, asked)
      const engine = yield* Effect.mapError(Preparation.openEngine(training), (error) => failed(error.message))
      const settings = Preparation.configOf(training, asked, { iterations })
      const working = Trainer.work(Preparation.partsOf(training, engine), settings, machines)
      yield* Services.provide(Effect.mapError(working, explain), {
        ...Services.of(config, { cache: Option.none() }),
        database,
        isGym: training.dryRun?.asksWorkers === true
      })
    })
  )

/** Starts a run, or prints the estimate for `--dry-run`. */
export const start = Effect.fnUntraced(function* (input: TrainInput): Effect.fn.Return<void, Failure> {
  if (Option.isSome(input.join)) return yield* joined(input, input.join.value)
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
  const recipe = { asked, iterations: changes.iterations }
  yield* run({ config, training, folder, json: input.json, on: input.on, recipe }, (parts, options) =>
    Trainer.start(parts, settings, options)
  )
})

/** Resumes a run from its last checkpoint. */
export const resume = Effect.fnUntraced(function* (input: ResumeInput): Effect.fn.Return<void, Failure> {
  const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
  const asked = yield* RecipeFile.read(input.folder)
  const training = yield* Preparation.prepare(config, asked)
  const limit = Option.match(input.maxCost, { onNone: () => ({}), onSome: (maxCostUsd) => ({ maxCostUsd }) })
  const { folder, json, on } = input
  yield* run({ config, training, folder, json, on, recipe: { asked } }, (parts, options) =>
    Trainer.resume(parts, { ...options, ...limit })
  )
})

/** Evolves a routing head on complete runs of the user's workers, using questions with known answers. */
import { rmSync } from "node:fs"
import type { Embedder } from "@divisi/core"
import { Evolution, type Head } from "@divisi/policy-router"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ConfigFile from "../config/ConfigFile.ts"
import * as Suites from "../eval/Suites.ts"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import * as Services from "../stores/Services.ts"
import * as RunOptions from "../team/RunOptions.ts"
import { clean } from "../view/Line.ts"
import type { LearnInput } from "./command.ts"

/** Options for evolving a head. */
export interface Options {
  readonly head: Head.Head
  readonly embedder: Embedder.Embedder
  /** A benchmark name, or a file of questions with answers. */
  readonly benchmark: string
  readonly maxCostUsd: number
  /** Flags that select the workers. */
  readonly flags: Pick<LearnInput, "config" | "price">
  /** File that stores the state of the search between generations. */
  readonly file: string
}

/** Share of the questions reserved for validation. */
const validationShare = 0.3

const tell = ({ costUsd, fitness, generation, runs }: Evolution.Generation): void =>
  void process.stderr.write(
    `divisi: generation ${generation}: ${(100 * fitness).toFixed(1)}% correct on average, ${runs} runs, $${costUsd.toFixed(2)}\n`
  )

/** Evolves a head and reports progress. */
export const evolveHead = (options: Options): Effect.Effect<Evolution.Evolved, Failure> =>
  Effect.gen(function* () {
    const { benchmark, embedder, file, head, maxCostUsd } = options
    const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(options.flags.config))
    const flags = { pool: Option.none(), cache: Option.none(), price: options.flags.price }
    const pool = yield* RunOptions.resolvePool(config, flags, maxCostUsd)
    const { grader, tasks } = yield* Suites.one(benchmark, { seed: 0 })
    const held = Math.max(2, Math.round(validationShare * tasks.length))
    if (tasks.length <= held) return yield* usage(`${benchmark} has too few questions for training and validation.`)
    const isGym = RunOptions.isGym(config, flags)
    const evolved = yield* Services.provide(
      Effect.mapError(
        Evolution.evolve({
          head,
          embedder,
          pool,
          grader,
          maxCostUsd,
          file,
          tasks: tasks.slice(held),
          validation: tasks.slice(0, held),
          onGeneration: tell
        }),
        ({ message }) => failed(message)
      ),
      { ...Services.of(config, flags), isGym }
    )
    // The search is complete, so the next call must start a new one.
    yield* Effect.sync(() => rmSync(file, { force: true }))
    return evolved
  }).pipe(Effect.scoped)

/** Describes the result in a sentence. */
export const evolvedText = (evolved: Evolution.Evolved): string => {
  const percent = (value: number) => (100 * value).toFixed(1)
  const { after, before, costUsd, difference, generations, isBetter, runs, standardError } = evolved
  const kept = isBetter
    ? "Stored the improved classifier"
    : "Stored the classifier as trained, because --evolve did not measurably improve it"
  return clean(
    `${kept}. On held-out questions, accuracy went from ${percent(before)} to ${percent(after)}% (${percent(difference)} ± ${percent(standardError)} points). Searched ${generations} generations with ${runs} runs, for $${costUsd.toFixed(2)}.`
  )
}

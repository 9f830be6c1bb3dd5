/**
 * Estimates the cost and duration of a training run before anything is spent.
 *
 * A run is simulated many times, based on the usage of a few rollouts and on price tables. Quantities that are unknown
 * in advance (the length of workflows, the number of recursive rounds) are sampled each time, so the result is a range.
 * An unknown price is reported, and is never counted as 0.
 */

import { Seed, Options as Tables } from "@divisi/core"
import type { Worker } from "@divisi/core/Worker"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Datum, Engine, EngineError, EnginePricing, Tokenizer } from "./Engine.ts"
import type { Example } from "./ExampleSource.ts"
import * as Range from "./estimate/Range.ts"
import type { Samples } from "./estimate/Samples.ts"
import { simulate, type Total } from "./estimate/simulate.ts"
import type { TrainingConfig } from "./TrainingConfig.ts"

export type { Range } from "./estimate/Range.ts"
export { defaultAnswerTokens, type RehearsalOptions, rehearse } from "./estimate/rehearse.ts"
export type { CallSample, RolloutSample, Samples } from "./estimate/Samples.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The price and speed of an engine per token. */
export interface EngineRates {
  /** USD per million tokens; 0 for a local engine. Absent if unknown. */
  readonly pricing?: EnginePricing | undefined
  /** Absent if unknown. */
  readonly speed?: { readonly secondsPerSampledToken: number; readonly secondsPerTrainedToken: number } | undefined
}

/** Inputs of an estimate. */
export interface Options {
  readonly config: TrainingConfig
  /** The usage of at least one rollout (see {@link rehearse}). */
  readonly samples: Samples
  readonly workers: ReadonlyArray<Pick<Worker, "id" | "pricing">>
  readonly engine: EngineRates
  /** The range of plausible mean seconds per call; absent if unknown. */
  readonly secondsPerCall?: { readonly low: number; readonly high: number } | undefined
  /** The tokens of an example (its prompt and all completions), by source name. */
  readonly examples?: Readonly<Record<string, { readonly tokens: number }>> | undefined
  /** The number of tasks in each held-out evaluation. */
  readonly evaluationTasks?: number | undefined
  /** Default: 300. */
  readonly simulations?: number | undefined
  /** Default: the seed of the config. */
  readonly seed?: number | undefined
}

/** The estimated cost and time of a run. */
export interface Estimate {
  /** The iterations of all phases; fewer if the run reaches its cost limit first. */
  readonly iterations: Range.Range
  /** The number of iterations if nothing stops the run. */
  readonly plannedIterations: number
  readonly rollouts: Range.Range
  readonly calls: Range.Range
  readonly workerTokens: { readonly input: Range.Range; readonly output: Range.Range }
  readonly engineTokens: { readonly prefill: Range.Range; readonly sampled: Range.Range; readonly trained: Range.Range }
  /** The cost in USD, as far as prices are known. `engine` is absent if its price is unknown. */
  readonly costUsd: {
    readonly workers: Range.Range
    readonly engine?: Range.Range | undefined
    readonly total: Range.Range
  }
  /** Workers without a price, with their share of all calls. Their cost is not included. */
  readonly unpriced: ReadonlyArray<{ readonly worker: string; readonly share: number }>
  /** The duration; absent if the speed of the engine or the workers is unknown. */
  readonly seconds?: Range.Range | undefined
  /** The part taken by the workers' calls, many of them concurrent; absent if the workers' speed is unknown. */
  readonly workerSeconds?: Range.Range | undefined
  /** The share of simulations that reach the cost limit. */
  readonly stopped: number
  /** The costs that the figures do not include, in sentences. */
  readonly missing: ReadonlyArray<string>
}

// -------------------------------------------------------------------------------------------------------------------
// Measuring
// -------------------------------------------------------------------------------------------------------------------

/** Returns the tokens of an example: its prompt with each of its completions. */
export const exampleTokens = (
  tokenizer: Pick<Tokenizer, "render" | "encode">,
  { completions, messages }: Example
): number => {
  const prompt = tokenizer.render(messages).length
  return completions.reduce((sum, { text }) => sum + prompt + tokenizer.encode(text).length + 1, 0)
}

/**
 * Measures the speed of a free engine: samples a group of completions of a prompt and computes a gradient, each twice.
 * Only the second time counts, because an engine may compile during the first. No step is made, but the gradient
 * remains in the engine, so use a disposable one.
 */
export const measureSpeed = (
  engine: Engine,
  prompt: ReadonlyArray<number>,
  options: { readonly groupSize: number; readonly maxTokens: number }
): Effect.Effect<NonNullable<EngineRates["speed"]>, EngineError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const sampler = yield* engine.sampler
      const request = { prompt, maxTokens: options.maxTokens, count: options.groupSize, seed: 0 }
      yield* sampler.sample(request)
      const [sampling, sampled] = yield* Effect.timed(sampler.sample(request))
      const data: ReadonlyArray<Datum> = sampled.map(({ tokens }) => ({ prompt, completion: tokens }))
      yield* engine.forwardBackward(data, { type: "crossEntropy" })
      const [training] = yield* Effect.timed(engine.forwardBackward(data, { type: "crossEntropy" }))
      const completion = sampled.reduce((sum, { tokens }) => sum + tokens.length, 0)
      return {
        secondsPerSampledToken: Duration.toSeconds(sampling) / completion,
        secondsPerTrainedToken: Duration.toSeconds(training) / (completion + data.length * prompt.length)
      }
    })
  )

// -------------------------------------------------------------------------------------------------------------------
// Estimating
// -------------------------------------------------------------------------------------------------------------------

const unpricedOf = ({ samples, workers }: Options): Estimate["unpriced"] => {
  const priced = new Set(workers.flatMap(({ id, pricing }) => (pricing === undefined ? [] : [id])))
  const calls = samples.rollouts.flatMap((rollout) => rollout.calls)
  const counts = new Map<string, number>()
  for (const { worker } of calls) if (!priced.has(worker)) counts.set(worker, (counts.get(worker) ?? 0) + 1)
  return [...counts].map(([worker, count]) => ({ worker, share: count / calls.length }))
}

const missingOf = (options: Options, unpriced: Estimate["unpriced"]): ReadonlyArray<string> => {
  const { config, engine, examples, samples, secondsPerCall } = options
  const unknown = config.phases.filter(
    (phase) => phase.type === "warm-start" && examples?.[phase.examples] === undefined
  )
  const isSilent = samples.rollouts.every(({ calls }) => calls.length === 0)
  return [
    ...(isSilent ? ["No simulated plan called a worker, so the cost of workers is unknown."] : []),
    ...unpriced.map(({ worker }) => `The price of ${worker} is unknown, so the cost of its calls is not included.`),
    ...(engine.pricing === undefined ? [`The price of the engine ${config.engine.name} is unknown.`] : []),
    ...(engine.speed === undefined ? [`The speed of the engine ${config.engine.name} is unknown.`] : []),
    ...(secondsPerCall === undefined ? ["The duration of worker calls is unknown."] : []),
    ...unknown.map(({ name }) => `The size of the examples in phase ${name} is unknown and not counted.`)
  ]
}

const planned = ({ phases }: TrainingConfig): number =>
  phases.reduce((sum, phase) => sum + (phase.type === "grpo" ? phase.iterations : phase.steps), 0)

const rate = Tables.number(0)

const table = Tables.table(
  {
    config: Tables.anObject,
    samples: Tables.anObject,
    workers: Tables.expects("a list of workers", Array.isArray),
    engine: {
      pricing: Tables.anObject,
      speed: Tables.table(
        { secondsPerSampledToken: rate, secondsPerTrainedToken: rate },
        { required: ["secondsPerSampledToken", "secondsPerTrainedToken"] }
      )
    },
    secondsPerCall: Tables.table(
      { low: rate, high: rate },
      { required: ["low", "high"], rules: [Tables.ordered("low", "high")] }
    ),
    examples: Tables.recordOf(Tables.table({ tokens: rate }, { required: ["tokens"] })),
    evaluationTasks: Tables.whole(0),
    simulations: Tables.whole(1, 1e6),
    seed: Tables.whole(0)
  } satisfies Tables.ShapeOf<Options>,
  { required: ["config", "samples", "workers", "engine"] }
)

const check = (options: Options): void => {
  Tables.check("Estimate.make", options, table)
  const { samples } = options
  if (samples.promptTokens.length === 0 || samples.rollouts.length === 0) {
    throw new RangeError("An estimate needs at least one prompt and one rollout.")
  }
}

/**
 * Simulates a run and estimates its cost and time.
 *
 * **Details**
 *
 * Equal options give equal estimates. Each simulation samples the mean number of steps per workflow (from 1 to the
 * maximum), the share of completions that can be parsed at the start, the error of token counts, the shares of
 * recursive rounds and extra groups, and the duration of calls. The cost limit of the config stops a simulation as it
 * would stop the run, including the cost of an engine with prices.
 *
 * **Gotchas**
 *
 * Cached answers and retries of failed calls are not considered.
 */
export const make = (options: Options): Estimate => {
  check(options)
  const { config, engine, secondsPerCall, simulations = 300 } = options
  const seed = options.seed ?? config.seed
  const totals = Array.from({ length: simulations }, (_, index) =>
    simulate(options, Seed.spread(seed, "simulation", index))
  )
  const range = (value: (total: Total) => number) => Range.of(totals.map(value))
  const unpriced = unpricedOf(options)
  return {
    iterations: range(({ iterations }) => iterations),
    plannedIterations: planned(config),
    rollouts: range(({ rollouts }) => rollouts),
    calls: range(({ calls }) => calls),
    workerTokens: { input: range(({ inputTokens }) => inputTokens), output: range(({ outputTokens }) => outputTokens) },
    engineTokens: {
      prefill: range(({ prefillTokens }) => prefillTokens),
      sampled: range(({ sampledTokens }) => sampledTokens),
      trained: range(({ trainedTokens }) => trainedTokens)
    },
    costUsd: {
      workers: range(({ workerUsd }) => workerUsd),
      engine: engine.pricing && range(({ engineUsd }) => engineUsd),
      total: range(({ engineUsd, workerUsd }) => engineUsd + workerUsd)
    },
    unpriced,
    seconds: engine.speed === undefined || secondsPerCall === undefined ? undefined : range(({ seconds }) => seconds),
    workerSeconds: secondsPerCall && range(({ workerSeconds }) => workerSeconds),
    stopped: totals.filter(({ isStopped }) => isStopped).length / totals.length,
    missing: missingOf(options, unpriced)
  }
}

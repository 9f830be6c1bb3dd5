/**
 * Estimates the cost and duration of a training run before any money is spent.
 *
 * The run is simulated many times, based on the token usage of a few rollouts and on price tables. Quantities that are
 * not known in advance (workflow length, number of recursive rounds) are sampled for each simulation, so the result is
 * a range. Unknown prices are reported separately, never counted as 0.
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

/** Price and speed of an engine, per token. */
export interface EngineRates {
  /** Prices in USD per million tokens. Use 0 for a local engine; omit if unknown. */
  readonly pricing?: EnginePricing | undefined
  /** Measured speed in seconds per token. Omit if unknown. */
  readonly speed?: { readonly secondsPerSampledToken: number; readonly secondsPerTrainedToken: number } | undefined
}

/** Options for `make`. */
export interface Options {
  readonly config: TrainingConfig
  /** Measured token usage of at least one rollout (see {@link rehearse}). */
  readonly samples: Samples
  readonly workers: ReadonlyArray<Pick<Worker, "id" | "pricing">>
  readonly engine: EngineRates
  /** Plausible range of the mean duration of a worker call, in seconds. Omit if unknown. */
  readonly secondsPerCall?: { readonly low: number; readonly high: number } | undefined
  /** Tokens per example (the prompt with all of its completions), keyed by source name. */
  readonly examples?: Readonly<Record<string, { readonly tokens: number }>> | undefined
  /** Number of tasks in each held-out evaluation. */
  readonly evaluationTasks?: number | undefined
  /** Number of simulated runs. Default: 300. */
  readonly simulations?: number | undefined
  /** Random seed. Defaults to the seed of the training configuration. */
  readonly seed?: number | undefined
}

/** Estimated cost and duration of a training run. */
export interface Estimate {
  /** Number of iterations over all phases. Lower than `plannedIterations` if the cost limit stops the run. */
  readonly iterations: Range.Range
  /** Number of iterations if the run is not stopped early. */
  readonly plannedIterations: number
  readonly rollouts: Range.Range
  readonly calls: Range.Range
  readonly workerTokens: { readonly input: Range.Range; readonly output: Range.Range }
  readonly engineTokens: { readonly prefill: Range.Range; readonly sampled: Range.Range; readonly trained: Range.Range }
  /**
   * Estimated cost in USD, including only items with a known price. `engine` is omitted if the engine's price is
   * unknown.
   */
  readonly costUsd: {
    readonly workers: Range.Range
    readonly engine?: Range.Range | undefined
    readonly total: Range.Range
  }
  /** Workers without a known price, with their share of all calls. Their cost is not included in the estimate. */
  readonly unpriced: ReadonlyArray<{ readonly worker: string; readonly share: number }>
  /** Total duration in seconds. Omitted if the speed of the engine or of the workers is unknown. */
  readonly seconds?: Range.Range | undefined
  /**
   * Total time of all worker calls in seconds. Calls run concurrently, so this can exceed the run's duration. Omitted
   * if the speed of the workers is unknown.
   */
  readonly workerSeconds?: Range.Range | undefined
  /** Share of simulations that reached the cost limit. */
  readonly stopped: number
  /** Human-readable descriptions of costs that are not included in the estimate. */
  readonly missing: ReadonlyArray<string>
}

// -------------------------------------------------------------------------------------------------------------------
// Measuring
// -------------------------------------------------------------------------------------------------------------------

/** Returns the number of tokens in an example: the prompt, once for each completion, plus the completions. */
export const exampleTokens = (
  tokenizer: Pick<Tokenizer, "render" | "encode">,
  { completions, messages }: Example
): number => {
  const prompt = tokenizer.render(messages).length
  return completions.reduce((sum, { text }) => sum + prompt + tokenizer.encode(text).length + 1, 0)
}

const speedTable = Tables.table(
  { groupSize: Tables.whole(1), maxTokens: Tables.whole(1) },
  { required: ["groupSize", "maxTokens"] }
)

/**
 * Measures the speed of an engine that costs nothing. It samples a group of completions and computes a gradient, each
 * twice, and times only the second pass because engines may compile during the first. No optimizer step is taken, but
 * the gradient remains in the engine, so pass an engine that you discard afterwards.
 */
export const measureSpeed = (
  engine: Engine,
  prompt: ReadonlyArray<number>,
  options: { readonly groupSize: number; readonly maxTokens: number }
): Effect.Effect<NonNullable<EngineRates["speed"]>, EngineError> => {
  Tables.check("Estimate.measureSpeed", options, speedTable)
  return Effect.scoped(
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
}

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
 * Estimates the cost and duration of a run by simulation.
 *
 * **Details**
 *
 * The result is deterministic for given options. Each simulation samples the mean number of steps per workflow (from 1
 * to the maximum), the share of completions that can be parsed at the start, the error of the token counts, the shares
 * of recursive rounds and extra groups, and the duration of calls. A simulation stops at the configured cost limit, as
 * the real run would; the cost of a priced engine counts towards it.
 *
 * **Gotchas**
 *
 * Response caching and retries are not taken into account.
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

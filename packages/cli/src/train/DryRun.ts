/** `divisi train --dry-run`: estimates the cost and duration of a training run before any money is spent. */

import * as WorkerPool from "@divisi/core/WorkerPool"
import type { DryRunFacts, Training } from "@divisi/recipes"
import { Estimate, Trainer } from "@divisi/trainer"
import type { Engine, EngineError } from "@divisi/trainer/Engine"
import type { GrpoConfig, TrainingConfig } from "@divisi/trainer/TrainingConfig"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import * as EstimateText from "./EstimateText.ts"
import * as Preparation from "./Preparation.ts"

/** Returns the reinforcement learning phase with the most rollouts, which dominates the cost. */
const largest = ({ phases }: TrainingConfig): GrpoConfig | undefined =>
  phases
    .filter((phase) => phase.type === "grpo")
    .sort((one, other) => rolloutsOf(other) - rolloutsOf(one))
    .at(0)

const rolloutsOf = ({ groupSize, iterations, questions }: GrpoConfig): number => iterations * questions * groupSize

/** Prices for a local engine, which costs only time. */
const own = { prefillPerMillion: 0, samplePerMillion: 0, trainPerMillion: 0 }

/**
 * The tokenizer, and the engine if it is available. The engine is opened only if the recipe contains no measured rates
 * for it.
 */
interface Counting {
  readonly engine: Engine | undefined
  readonly tokenizer: DryRunFacts["tokenizer"]
}

const counting = (training: Training): Effect.Effect<Counting, EngineError, Scope.Scope> => {
  const { engine: rates, tokenizer } = training.dryRun ?? {}
  if (rates !== undefined) return Effect.succeed({ engine: undefined, tokenizer })
  return Effect.map(Preparation.openEngine(training), (engine) => ({ engine, tokenizer: engine.tokenizer }))
}

// -------------------------------------------------------------------------------------------------------------------
// Measuring
// -------------------------------------------------------------------------------------------------------------------

/** Number of completions to time. Large enough for a measurement, and no larger than an iteration. */
const timedCompletions = 16

const meanOf = (values: ReadonlyArray<number>): number =>
  Math.round(values.reduce((sum, value) => sum + value, 0) / values.length)

/** Repeats a question's tokens up to the typical length of a prompt. */
const promptOf = (engine: Engine, training: Training, phase: GrpoConfig, length: number) =>
  Effect.map(training.tasks![phase.tasks]!.task(0, 0), ({ messages }) => {
    const tokens = engine.tokenizer.render(messages)
    return Array.from({ length }, (_, index) => tokens[index % tokens.length]!)
  })

/** Returns the engine's rates from the recipe, or measured ones. */
const ratesOf = (
  training: Training,
  engine: Engine | undefined,
  phase: GrpoConfig,
  { promptTokens }: Estimate.Samples
): Effect.Effect<Estimate.EngineRates, EngineError> =>
  Effect.gen(function* () {
    if (engine === undefined) return training.dryRun?.engine ?? {}
    const { contextTokens } = engine.capabilities
    const length = Math.max(1, Math.min(meanOf(promptTokens), contextTokens - phase.rollouts.maxTokens))
    const speed = yield* Estimate.measureSpeed(engine, yield* promptOf(engine, training, phase, length), {
      groupSize: Math.min(timedCompletions, phase.groupSize),
      maxTokens: phase.rollouts.maxTokens
    })
    return { pricing: own, speed }
  })

const countedExamples = 8

/** Returns the mean number of tokens per example, for each source of examples. */
const examplesOf = (training: Training, { tokenizer }: Counting) =>
  Effect.gen(function* () {
    if (tokenizer === undefined) return {}
    const found: Record<string, { readonly tokens: number }> = {}
    for (const [name, source] of Object.entries(training.examples ?? {})) {
      let tokens = 0
      for (let index = 0; index < countedExamples; index++) {
        tokens += Estimate.exampleTokens(tokenizer, yield* source.example(0, index))
      }
      found[name] = { tokens: tokens / countedExamples }
    }
    return found
  })

// -------------------------------------------------------------------------------------------------------------------
// Estimating
// -------------------------------------------------------------------------------------------------------------------

/** Returns the configuration as it would be stored. An engine that is not available has no name yet. */
const configOf = (training: Training, settings: Trainer.ConfigInput): TrainingConfig => {
  const unnamed = { name: "of the recipe", model: "" } as Engine
  return Trainer.configure(
    Preparation.partsOf(training, Effect.isEffect(training.engine) ? unnamed : training.engine),
    settings
  )
}

const phaseOf = (training: Training, config: TrainingConfig): Effect.Effect<GrpoConfig, Failure> => {
  const phase = largest(config)
  if (phase === undefined)
    return Effect.fail(usage("The recipe has no reinforcement learning phase, so there is nothing to estimate."))
  return training.tasks?.[phase.tasks] === undefined
    ? Effect.fail(usage(`The phase ${phase.name} needs the tasks "${phase.tasks}", which the recipe does not define.`))
    : Effect.succeed(phase)
}

const rehearse = (
  training: Training,
  phase: GrpoConfig,
  tokenizer: Counting["tokenizer"],
  seed: number | undefined
) => {
  const { answerTokens, asksWorkers } = training.dryRun ?? {}
  return Estimate.rehearse({
    parts: training,
    phase,
    tokenizer,
    asksWorkers,
    answerTokens,
    seed
  })
}

const orFail = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.mapError(effect, ({ message }) => failed(message))

/** Returns human-readable descriptions of the assumptions behind the estimate. */
const assumptionsOf = ({ dryRun = {} }: Training): ReadonlyArray<string> => {
  const { answerTokens = Estimate.defaultAnswerTokens, asksWorkers, secondsPerCall: seconds, unknown = [] } = dryRun
  const answers = asksWorkers === true ? [] : [`that the median answer has ${answerTokens} tokens`]
  const calls = seconds === undefined ? [] : [`that a call takes ${seconds.low} to ${seconds.high} s`]
  const all = [...answers, ...calls]
  return [...(all.length === 0 ? [] : [`Assuming ${all.join(", and ")}.`]), ...unknown]
}

/** Estimates the cost and duration of a run. */
export const estimate = (
  training: Training,
  settings: Trainer.ConfigInput
): Effect.Effect<Estimate.Estimate, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const config = configOf(training, settings)
      const phase = yield* phaseOf(training, config)
      const counter = yield* orFail(counting(training))
      const samples = yield* orFail(rehearse(training, phase, counter.tokenizer, settings.seed))
      const { evaluationTasks, secondsPerCall } = training.dryRun ?? {}
      const found = Estimate.make({
        config,
        samples,
        workers: training.pool.workers,
        engine: yield* orFail(ratesOf(training, counter.engine, phase, samples)),
        examples: yield* examplesOf(training, counter),
        secondsPerCall,
        evaluationTasks
      })
      return { ...found, missing: [...found.missing, ...assumptionsOf(training)] }
    })
  )

/** Prints the estimate. */
export const run = (training: Training, settings: Trainer.ConfigInput, isJson: boolean): Effect.Effect<void, Failure> =>
  Effect.flatMap(estimate(training, settings), (found) =>
    Effect.sync(() => {
      const text = isJson
        ? JSON.stringify(found)
        : EstimateText.lines(settings, found, WorkerPool.isPlay(training.pool)).join("\n")
      stdout.write(`${text}\n`)
    })
  )

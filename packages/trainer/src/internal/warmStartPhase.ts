/** Supervised learning phase. */
import { Callback } from "@divisi/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Datum, OptimizerSettings, Pass } from "../Engine.ts"
import * as ExampleSource from "../ExampleSource.ts"
import type { WarmStartMetrics } from "../Metrics.ts"
import type { CostLimitReached } from "../Rollout.ts"
import * as Schedule from "../Schedule.ts"
import type { OptimizerConfig, WarmStartConfig } from "../TrainingConfig.ts"
import type { TrainingError } from "../TrainingError.ts"
import * as EngineCost from "./engineCost.ts"
import type { StopRequested } from "./session.ts"
import * as Session from "./session.ts"

/** Returns the optimizer settings for one step. */
export const optimizerSettings = (config: OptimizerConfig, step: number, steps: number): OptimizerSettings => ({
  learningRate: config.learningRate * Schedule.factor(config.schedule, step, steps),
  beta1: config.beta1,
  beta2: config.beta2,
  epsilon: config.epsilon,
  weightDecay: config.weightDecay,
  maxGradientNorm: config.maxGradientNorm
})

/** Divides the weights by their sum over all data, so that the loss becomes a mean. */
const normalised = (data: ReadonlyArray<Datum>): ReadonlyArray<Datum> => {
  let sum = 0
  for (const { weights = [] } of data) for (const weight of weights) sum += weight
  return data.map((datum) => ({
    ...datum,
    weights: Array.from(datum.weights ?? [], (weight) => (sum === 0 ? 0 : weight / sum))
  }))
}

const tokenLoss = (pass: Pass): number => {
  let sum = 0
  let tokens = 0
  for (const logProbs of pass.logProbs) {
    for (const logProb of logProbs) sum -= logProb
    tokens += logProbs.length
  }
  return sum / tokens
}

const weightedLoss = (pass: Pass, data: ReadonlyArray<Datum>): number => {
  let sum = 0
  data.forEach(({ weights = [] }, index) => {
    for (let token = 0; token < weights.length; token++) sum -= weights[token]! * pass.logProbs[index]![token]!
  })
  return sum
}

const runStep = Effect.fnUntraced(function* (
  session: Session.Session,
  config: WarmStartConfig,
  source: ExampleSource.ExampleSource,
  seed: number
): Effect.fn.Return<void, TrainingError> {
  const { engine } = session.parts
  const { iteration, phaseIteration, position } = session.standing
  const watch = yield* Session.stopwatch
  const examples = yield* Effect.forEach(Array.from({ length: config.batch }), (_, at) =>
    Callback.called(`example of the source ${source.name}`, () => source.example(seed, position + at))
  )
  const data = normalised(examples.flatMap((example) => ExampleSource.toData(example, engine.tokenizer)))
  const pass = yield* watch.time("gradient", engine.forwardBackward(data, { type: "crossEntropy" }))
  const settings = optimizerSettings(config.optimizer, phaseIteration, config.steps)
  const step = yield* watch.time("step", engine.step(settings))
  const engineCostUsd = EngineCost.ofLearning(engine, data)
  const evaluation = yield* watch.time("evaluate", Session.evaluate(session, iteration + 1))
  const metrics: WarmStartMetrics = {
    type: "warm-start",
    iteration,
    phase: config.name,
    phaseIteration,
    version: step.version,
    learningRate: settings.learningRate,
    gradientNorm: step.gradientNorm,
    loss: pass.loss,
    tokens: {
      completion: data.reduce((sum, { completion }) => sum + completion.length, 0),
      prompt: data.reduce((sum, { prompt }) => sum + prompt.length, 0)
    },
    costUsd: session.standing.costUsd + engineCostUsd,
    engineCostUsd: engine.pricing && engineCostUsd,
    examples: examples.length,
    completions: data.length,
    weightedLoss: weightedLoss(pass, data),
    tokenLoss: tokenLoss(pass),
    at: yield* Clock.currentTimeMillis,
    seconds: yield* watch.seconds,
    evaluation
  }
  yield* Session.finish(session, metrics, position + config.batch, phaseIteration + 1 === config.steps)
})

/** Runs the remaining steps of the phase. */
export const run = Effect.fnUntraced(function* (
  session: Session.Session,
  config: WarmStartConfig,
  source: ExampleSource.ExampleSource,
  seed: number
): Effect.fn.Return<void, TrainingError | StopRequested | CostLimitReached> {
  const phase = session.standing.phase
  while (session.standing.phase === phase) {
    yield* Session.checkStop(session)
    yield* Session.checkCost(session)
    yield* runStep(session, config, source, seed)
  }
})

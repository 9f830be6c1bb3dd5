/** The tests' training data for engines, how they learn it, and their next outputs. */
import type { Datum, Engine } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import { tokens } from "./model.ts"

export const data: ReadonlyArray<Datum> = (() => {
  const shared = tokens(21, 1)
  return [
    { prompt: shared, completion: tokens(5, 2) },
    { prompt: tokens(1, 9), completion: tokens(3, 3) },
    { prompt: shared, completion: tokens(11, 4) },
    { prompt: [...shared], completion: tokens(1, 5) },
    { prompt: tokens(40, 6), completion: tokens(17, 7) }
  ]
})()

export const learn = Effect.fnUntraced(function* (engine: Engine, steps: number) {
  for (let step = 0; step < steps; step++) {
    yield* engine.forwardBackward(data, { type: "crossEntropy" })
    yield* engine.step({ learningRate: 1e-2, weightDecay: 0.1, maxGradientNorm: 1 })
  }
})

/** Returns an engine's next outputs: log-probabilities, and samples. */
export const present = Effect.fnUntraced(function* (engine: Engine) {
  const { logProbs } = yield* engine.forward(data)
  const sampler = yield* engine.sampler
  const samples = yield* sampler.sample({ prompt: tokens(9, 1), maxTokens: 10, count: 3, seed: 7 })
  return { logProbs: logProbs.map((one) => [...one]), samples, version: sampler.version }
})

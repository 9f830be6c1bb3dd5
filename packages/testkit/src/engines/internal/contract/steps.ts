/** Cases for gradients, optimizer steps, saving and loading. */

import type { Datum, Engine, Loss } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import { type Case, descent, expect, expectFailure, expectNear, expectSamePass } from "./subject.ts"

const crossEntropy: Loss = { type: "crossEntropy" }

/** Returns the norm of the accumulated gradient and clears it. `undefined` if the engine does not report the norm. */
const norm = (engine: Engine) => Effect.map(engine.step({ learningRate: 0 }), ({ gradientNorm }) => gradientNorm)

const lossOf = (engine: Engine, data: ReadonlyArray<Datum>) =>
  Effect.map(engine.forward(data), ({ logProbs }) =>
    data.reduce(
      (sum, { weights }, index) =>
        sum - Array.from(logProbs[index]!).reduce((part, one, token) => part + one * (weights?.[token] ?? 1), 0),
      0
    )
  )

/** Runs several training steps, each with its own data. */
const train = (engine: Engine, data: ReadonlyArray<Datum>, learningRate: number, steps: number) =>
  Effect.forEach(
    Array.from({ length: steps }, (_, step) => step),
    (step) =>
      Effect.andThen(
        engine.forwardBackward([data[step % data.length]!], crossEntropy),
        engine.step({ learningRate, maxGradientNorm: 1 })
      ),
    { discard: true }
  )

const gradients: ReadonlyArray<Case> = [
  {
    id: "gradient/descent",
    name: "has the gradient of the loss: a small step against it lowers the loss by the square of its norm",
    run: Effect.fnUntraced(function* ({ data, engine, folder }) {
      const saved = yield* engine.save("descent", folder)
      yield* engine.forwardBackward(data, crossEntropy)
      const length = yield* norm(engine)
      if (length === undefined) return
      expect(length > 0, "the norm of the gradient is 0")
      yield* engine.load(saved, folder)
      const before = yield* lossOf(engine, data)
      yield* engine.forwardBackward(data, crossEntropy)
      // Chosen so that the loss falls by about one percent.
      const rate = (0.01 * before) / length ** 2
      yield* engine.step(descent(rate))
      const fallen = before - (yield* lossOf(engine, data))
      expectNear("how far the loss fell, over what the gradient says", fallen / (rate * length ** 2), 1, 0.1)
    })
  },
  {
    id: "gradient/sum",
    name: "adds the gradients of data up",
    run: Effect.fnUntraced(function* ({ data: [datum], engine, tolerance }) {
      yield* engine.forwardBackward([datum], crossEntropy)
      const one = yield* norm(engine)
      yield* engine.forwardBackward([datum, datum, datum], crossEntropy)
      const three = yield* norm(engine)
      if (one !== undefined && three !== undefined) expectNear("three times one", three, 3 * one, tolerance * 10)
    })
  },
  {
    id: "gradient/weights",
    name: "multiplies gradients by the weights, and learns nothing where they are 0",
    run: Effect.fnUntraced(function* ({ data: [datum, other], engine, tolerance }) {
      const weighted = (factor: number) => ({ ...datum, weights: datum.completion.map(() => factor) })
      yield* engine.forwardBackward([weighted(1)], crossEntropy)
      const one = yield* norm(engine)
      yield* engine.forwardBackward([weighted(2.5)], crossEntropy)
      const more = yield* norm(engine)
      yield* engine.forwardBackward([weighted(0), { ...other, weights: other.completion.map(() => 0) }], crossEntropy)
      const none = yield* norm(engine)
      if (one === undefined || more === undefined || none === undefined) return
      expectNear("two and a half times one", more, 2.5 * one, tolerance * 10)
      expectNear("the gradient of nothing", none, 0, tolerance)
    })
  },
  {
    id: "gradient/accumulate",
    name: "adds up over calls until a step, as if the data had come at once",
    run: Effect.fnUntraced(function* ({ data, engine, folder, learningRate, tolerance }) {
      const saved = yield* engine.save("accumulate", folder)
      yield* engine.forwardBackward(data, crossEntropy)
      const atOnce = yield* engine.step({ learningRate })
      const expected = yield* engine.forward(data)
      yield* engine.load(saved, folder)
      for (const datum of data) yield* engine.forwardBackward([datum], crossEntropy)
      const oneByOne = yield* engine.step({ learningRate })
      expectSamePass("one by one", yield* engine.forward(data), expected, tolerance * 100)
      if (atOnce.gradientNorm === undefined || oneByOne.gradientNorm === undefined) return
      expectNear("the norm", oneByOne.gradientNorm, atOnce.gradientNorm, tolerance * 10)
    })
  },
  {
    id: "gradient/forget",
    name: "forgets the gradient after a step",
    run: Effect.fnUntraced(function* ({ data, engine, learningRate, tolerance }) {
      yield* engine.forwardBackward(data, crossEntropy)
      yield* engine.step({ learningRate })
      const left = yield* norm(engine)
      if (left !== undefined) expectNear("the gradient after a step", left, 0, tolerance)
    })
  },
  {
    id: "gradient/failed",
    name: "adds nothing for data that fail",
    run: Effect.fnUntraced(function* ({ data: [datum, other], engine, learningRate, tolerance }) {
      const before = yield* engine.forward([datum])
      const broken = { ...other, weights: [1] }
      yield* expectFailure("a wrong length", engine.forwardBackward([datum, broken], crossEntropy), "InvalidRequest")
      yield* engine.step({ learningRate })
      expectSamePass("after the failure", yield* engine.forward([datum]), before, tolerance)
    })
  }
]

const optimiser: ReadonlyArray<Case> = [
  {
    id: "step/version",
    name: "counts its steps",
    run: Effect.fnUntraced(function* ({ data, engine, learningRate }) {
      const before = (yield* Effect.scoped(engine.sampler)).version
      yield* engine.forwardBackward(data, crossEntropy)
      const first = yield* engine.step({ learningRate })
      yield* engine.forwardBackward(data, crossEntropy)
      const second = yield* engine.step({ learningRate })
      expect(first.version === before + 1, `the first step is ${first.version} after ${before}`)
      expect(second.version === before + 2, `the second step is ${second.version} after ${before}`)
      const after = (yield* Effect.scoped(engine.sampler)).version
      expect(after === second.version, `the sampler says ${after} after ${second.version} steps`)
    })
  },
  {
    id: "step/learns",
    name: "makes a completion likelier by steps on it",
    run: Effect.fnUntraced(function* ({ data: [datum], engine, learningRate }) {
      const plain = [{ prompt: datum.prompt, completion: datum.completion }]
      const before = yield* lossOf(engine, plain)
      yield* train(engine, plain, learningRate, 20)
      const after = yield* lossOf(engine, plain)
      expect(after < 0.9 * before, `the loss went from ${before} to ${after} in 20 steps`)
    })
  },
  {
    id: "step/zero",
    name: "changes nothing with a learning rate of 0",
    run: Effect.fnUntraced(function* ({ data, engine, tolerance }) {
      const before = yield* engine.forward(data)
      yield* engine.forwardBackward(data, crossEntropy)
      yield* engine.step({ learningRate: 0 })
      expectSamePass("after the step", yield* engine.forward(data), before, tolerance)
    })
  },
  {
    id: "step/decay",
    name: "takes a share of the weights off where weight decay is set",
    run: Effect.fnUntraced(function* ({ data, engine, folder, learningRate, tolerance }) {
      yield* train(engine, data, learningRate, 20)
      const saved = yield* engine.save("decay", folder)
      const stepped = (weightDecay: number) =>
        Effect.gen(function* () {
          yield* engine.load(saved, folder)
          yield* engine.forwardBackward(data, crossEntropy)
          yield* engine.step({ learningRate, weightDecay })
          return yield* lossOf(engine, data)
        })
      const without = yield* stepped(0)
      const half = yield* stepped(0.5 / learningRate)
      expect(Math.abs(half - without) > 100 * tolerance, `the loss is ${half} with decay, and ${without} without`)
    })
  },
  {
    id: "step/cut",
    name: "cuts the gradient to a norm, and tells the norm before",
    run: Effect.fnUntraced(function* ({ data, engine, folder, tolerance }) {
      const saved = yield* engine.save("cut", folder)
      yield* engine.forwardBackward(data, crossEntropy)
      const length = yield* norm(engine)
      if (length === undefined) return
      yield* engine.load(saved, folder)
      const before = yield* lossOf(engine, data)
      yield* engine.forwardBackward(data, crossEntropy)
      const rate = (0.01 * before) / length ** 2
      const step = yield* engine.step({ ...descent(rate), maxGradientNorm: length / 4 })
      expectNear("the norm told", step.gradientNorm!, length, tolerance * 10)
      const fallen = before - (yield* lossOf(engine, data))
      expectNear("how far the loss fell, over a quarter of the gradient", fallen / (rate * length ** 2 * 0.25), 1, 0.1)
    })
  }
]

const saving: ReadonlyArray<Case> = [
  {
    id: "save/continues",
    name: "goes on from a saved state as it did after saving, its optimiser included",
    run: Effect.fnUntraced(function* ({ data, engine, folder, learningRate, tolerance }) {
      yield* train(engine, data, learningRate, 3)
      const saved = yield* engine.save("continues", folder)
      yield* train(engine, data, learningRate, 4)
      const expected = yield* engine.forward(data)
      const expectedVersion = (yield* engine.step({ learningRate: 0 })).version
      yield* engine.load(saved, folder)
      yield* train(engine, data, learningRate, 4)
      const found = yield* engine.forward(data)
      expectSamePass("the second time", found, expected, engine.capabilities.deterministic ? 0 : tolerance * 100)
      const { version } = yield* engine.step({ learningRate: 0 })
      expect(version === expectedVersion, `the version is ${version} and was ${expectedVersion}`)
    })
  },
  {
    id: "save/elsewhere",
    name: "loads what another engine saved",
    run: Effect.fnUntraced(function* ({ data, engine, folder, learningRate, other, tolerance }) {
      yield* train(engine, data, learningRate, 3)
      const expected = yield* engine.forward(data)
      const saved = yield* engine.save("elsewhere", folder)
      const second = yield* other
      yield* second.load(saved, folder)
      expectSamePass("elsewhere", yield* second.forward(data), expected, tolerance)
    })
  },
  {
    id: "save/forgets",
    name: "has no gradient after loading",
    run: Effect.fnUntraced(function* ({ data, engine, folder, tolerance }) {
      const saved = yield* engine.save("forgets", folder)
      yield* engine.forwardBackward(data, crossEntropy)
      yield* engine.load(saved, folder)
      const left = yield* norm(engine)
      if (left !== undefined) expectNear("the gradient after loading", left, 0, tolerance)
    })
  },
  {
    id: "save/unchanged",
    name: "changes nothing by saving, gradients so far included",
    run: Effect.fnUntraced(function* ({ data, engine, folder, tolerance }) {
      yield* engine.forwardBackward(data, crossEntropy)
      const expected = yield* norm(engine)
      yield* engine.forwardBackward(data, crossEntropy)
      yield* engine.save("unchanged", folder)
      const found = yield* norm(engine)
      if (expected !== undefined && found !== undefined) expectNear("the norm", found, expected, tolerance * 10)
    })
  }
]

/** All cases for gradients, steps and saved state. */
export const steps: ReadonlyArray<Case> = [...gradients, ...optimiser, ...saving]

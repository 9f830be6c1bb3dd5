/** Cases for the results of forward and backward passes. */

import type { Datum, Engine, Loss } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import {
  type Case,
  descent,
  expect,
  expectAllNear,
  expectNear,
  expectSamePass,
  linearised,
  referenceLoss
} from "./subject.ts"

const losses: ReadonlyArray<Loss> = [
  { type: "crossEntropy" },
  { type: "importanceSampling" },
  { type: "clippedRatio", low: 0.2, high: 0.2 },
  { type: "clippedRatio", low: 0.1, high: 0.45 },
  { type: "sequenceRatio", low: 0.02, high: 0.05 }
]

const nameOf = (loss: Loss) => ("low" in loss ? `${loss.type}-${loss.low}-${loss.high}` : loss.type)

/** Returns a case that runs only if the engine supports the loss and the loss supports the tested option. */
const where =
  (isThere: (loss: Loss) => boolean, loss: Loss, run: Case["run"]): Case["run"] =>
  (subject) =>
    subject.engine.capabilities.losses.includes(loss.type) && isThere(loss) ? run(subject) : Effect.void

const bare = <A extends { readonly prompt: unknown; readonly completion: unknown }>({
  completion,
  prompt
}: A): Pick<A, "prompt" | "completion"> => ({ completion, prompt })

const value = (loss: Loss): Case => ({
  id: `loss/${nameOf(loss)}`,
  name: `sums the ${nameOf(loss)} loss over tokens and data, times the weights`,
  run: where(
    () => true,
    loss,
    Effect.fnUntraced(function* ({ data, engine, tolerance }) {
      const pass = yield* engine.forwardBackward(data, loss)
      if (pass.loss === undefined) return
      expectNear("the loss", pass.loss, referenceLoss(loss, data, pass), tolerance * 10)
    })
  )
})

/** The gradient of any loss equals that of supervised learning with suitable weights. */
const gradient = (loss: Loss): Case => ({
  id: `gradient/${nameOf(loss)}`,
  name: `has the gradient of the ${nameOf(loss)} loss`,
  run: where(
    ({ type }) => type !== "crossEntropy",
    loss,
    Effect.fnUntraced(function* ({ data, engine, folder, learningRate, tolerance }) {
      const saved = yield* engine.save("gradient", folder)
      const pass = yield* engine.forwardBackward(data, loss)
      const step = yield* engine.step({ learningRate })
      const found = yield* engine.forward(data)
      yield* engine.load(saved, folder)
      yield* engine.forwardBackward(linearised(loss, data, pass), { type: "crossEntropy" })
      const expectedStep = yield* engine.step({ learningRate })
      const expected = yield* engine.forward(data)
      if (step.gradientNorm !== undefined && expectedStep.gradientNorm !== undefined) {
        expectNear("the norm of the gradient", step.gradientNorm, expectedStep.gradientNorm, tolerance * 10)
      }
      expectSamePass("after a step", found, expected, tolerance * 100)
    })
  )
})

const entropy: Case = {
  id: "loss/entropy",
  name: "adds the entropy of the policy to the objective, where it can",
  run: Effect.fnUntraced(function* ({ data, engine, tolerance }) {
    const { capabilities } = engine
    if (!capabilities.entropy || !capabilities.losses.includes("clippedRatio")) return
    const loss: Loss = { type: "clippedRatio", low: 0.2, high: 0.2, entropy: 0.3 }
    const pass = yield* engine.forwardBackward(data, loss)
    if (pass.loss !== undefined && pass.entropies !== undefined) {
      expectNear("the loss", pass.loss, referenceLoss(loss, data, pass), tolerance * 10)
    }
    yield* engine.step({ learningRate: 0 })
    // With advantages of 0, only the entropy term remains. The policy is first made more certain, because the entropy
    // has no slope at even odds. A small step must then increase the entropy by as much as the gradient predicts.
    yield* descend(engine, data.map(bare), { type: "crossEntropy" }, 0.3)
    const before = yield* engine.forward(data)
    const idle = data.map((datum, index) => ({
      ...datum,
      advantages: datum.completion.map(() => 0),
      logProbs: before.logProbs[index]!
    }))
    const told = yield* descend(engine, idle, loss, 0.001)
    const after = yield* engine.forward(idle)
    if (told === undefined || before.entropies === undefined || after.entropies === undefined) return
    const fallen = referenceLoss(loss, idle, before) - referenceLoss(loss, idle, after)
    expectNear("how far the entropy rose, over what the gradient says", fallen / told, 1, 0.1)
  })
}

/**
 * Takes a gradient step that should decrease the loss by roughly the given fraction. Returns the decrease predicted by
 * the gradient.
 */
const descend = Effect.fnUntraced(function* (engine: Engine, data: ReadonlyArray<Datum>, loss: Loss, share: number) {
  const first = yield* engine.forwardBackward(data, loss)
  const { gradientNorm } = yield* engine.step({ ...descent(0), beta1: 0 })
  if (gradientNorm === undefined || gradientNorm === 0 || first.loss === undefined) return undefined
  yield* engine.forwardBackward(data, loss)
  const fall = share * Math.abs(first.loss)
  yield* engine.step({ ...descent(fall / gradientNorm ** 2), beta1: 0 })
  return fall
})

/** All cases for passes. */
export const passes: ReadonlyArray<Case> = [
  {
    id: "tokens/round-trip",
    name: "decodes what it encodes, and encodes no end",
    run: ({ engine }) =>
      Effect.sync(() => {
        const { decode, encode, endToken } = engine.tokenizer
        const text = 'model_id = [1, 0]\nsubtasks = ["Part 1."]'
        const tokens = encode(text)
        expect(decode(tokens) === text, `"${text}" became "${decode(tokens)}"`)
        expect(!tokens.includes(endToken), "encode wrote an end")
      })
  },
  {
    id: "forward/aligned",
    name: "gives one log-probability for each token of a completion, and an entropy where it gives any",
    run: Effect.fnUntraced(function* ({ data, engine }) {
      const pass = yield* engine.forward(data)
      expect(pass.logProbs.length === data.length, `${pass.logProbs.length} data came back of ${data.length}`)
      data.forEach(({ completion }, index) => {
        const logProbs = Array.from(pass.logProbs[index]!)
        expect(logProbs.length === completion.length, `${logProbs.length} numbers for ${completion.length} tokens`)
        expect(
          logProbs.every((one) => Number.isFinite(one) && one <= 1e-6),
          `${logProbs} are not all log-probabilities`
        )
        const entropies = pass.entropies === undefined ? undefined : Array.from(pass.entropies[index]!)
        expect(entropies === undefined || entropies.length === completion.length, "an entropy is missing")
        expect(entropies === undefined || entropies.every((one) => one >= -1e-6), "an entropy is below 0")
      })
    })
  },
  {
    id: "forward/causal",
    name: "lets no token depend on a later one",
    run: Effect.fnUntraced(function* ({ data: [datum], engine, tolerance }) {
      const { endToken } = engine.tokenizer
      const changed = [...datum.completion.slice(0, 2), endToken, endToken]
      const [whole, other] = (yield* engine.forward([datum, { ...bare(datum), completion: changed }])).logProbs
      expectAllNear("the beginning", Array.from(other!).slice(0, 2), Array.from(whole!).slice(0, 2), tolerance)
    })
  },
  {
    id: "forward/alone",
    name: "finds the same for data alone and together, whatever their lengths and order",
    run: Effect.fnUntraced(function* ({ data, engine, tolerance }) {
      const together = yield* engine.forward([...data].reverse())
      for (const [index, datum] of data.entries()) {
        const [alone] = (yield* engine.forward([datum])).logProbs
        expectAllNear(`datum ${index}`, together.logProbs[data.length - 1 - index]!, alone!, tolerance)
      }
    })
  },
  {
    id: "forward/no-gradient",
    name: "computes no gradient with forward",
    run: Effect.fnUntraced(function* ({ data, engine, learningRate, tolerance }) {
      const before = yield* engine.forward(data)
      yield* engine.step({ learningRate })
      expectSamePass("after a step without a gradient", yield* engine.forward(data), before, tolerance)
    })
  },
  {
    id: "loss/pass",
    name: "finds with a loss what it finds without, before any step",
    run: Effect.fnUntraced(function* ({ data, engine, tolerance }) {
      const before = yield* engine.forward(data)
      const pass = yield* engine.forwardBackward(data, { type: "crossEntropy" })
      expectSamePass("with a loss", pass, before, tolerance)
    })
  },
  {
    id: "loss/weights",
    name: "takes absent weights for 1",
    run: Effect.fnUntraced(function* ({ data, engine, learningRate, tolerance }) {
      const plain = data.map(bare)
      const ones = plain.map((datum) => ({ ...datum, weights: datum.completion.map(() => 1) }))
      const absent = yield* engine.forwardBackward(plain, { type: "crossEntropy" })
      const { gradientNorm } = yield* engine.step({ learningRate: 0 })
      const given = yield* engine.forwardBackward(ones, { type: "crossEntropy" })
      const step = yield* engine.step({ learningRate: 0 })
      if (absent.loss !== undefined) expectNear("the loss", given.loss!, absent.loss, tolerance * 10)
      if (gradientNorm !== undefined) expectNear("the gradient", step.gradientNorm!, gradientNorm, tolerance * 10)
      expect(learningRate > 0, "the learning rate has to be above 0")
    })
  },
  ...losses.map(value),
  ...losses.filter(({ type }) => type !== "crossEntropy").map(gradient),
  entropy
]

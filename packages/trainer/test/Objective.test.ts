import { assert, describe, it } from "@effect/vitest"
import type { Datum } from "../src/Engine.ts"
import * as Objective from "../src/Objective.ts"
import * as ToyEngine from "../src/ToyEngine.ts"

const sum = (weights: ReadonlyArray<ReadonlyArray<number>>) => weights.flat().reduce((total, one) => total + one, 0)

describe("Objective", () => {
  const completions = [{ length: 2 }, { length: 8, listsFrom: 6 }, { length: 5, listsFrom: 0 }]

  it("makes every completion count the same, or every token", () => {
    const byCompletion = Objective.weights(completions, { mean: "completion", weights: { thought: 1, lists: 1 } })
    byCompletion.forEach((weights) => {
      assert.closeTo(sum([weights]), 1 / 3, 1e-12)
    })
    const byToken = Objective.weights(completions, { mean: "token", weights: { thought: 1, lists: 1 } })
    assert.isTrue(byToken.flat().every((weight) => Math.abs(weight - 1 / 15) < 1e-12))
  })

  it("weighs the parts of a completion against each other", () => {
    const weights = Objective.weights(completions, { mean: "completion", weights: { thought: 0.5, lists: 2 } })
    assert.closeTo(weights[1]![6]! / weights[1]![0]!, 4, 1e-12)
    assert.closeTo(sum(weights), 1, 1e-12)
  })

  it("gives the share of a completion without weight to the others", () => {
    const weights = Objective.weights(completions, { mean: "completion", weights: { thought: 0, lists: 1 } })
    assert.deepStrictEqual(weights[0], [0, 0])
    assert.closeTo(sum([weights[1]!]), 1 / 2, 1e-12)
    assert.closeTo(sum(weights), 1, 1e-12)
    const none = Objective.weights([{ length: 2 }], { mean: "token", weights: { thought: 0, lists: 1 } })
    assert.deepStrictEqual(none, [[0, 0]])
  })

  it("takes a penalty for leaving the reference off each token's advantage", () => {
    const shaped = Objective.tokenAdvantages(1, 2, { kl: 0.1, logProbs: [-1, -3], reference: [-2, -2] })
    assert.deepStrictEqual(shaped, [0.9, 1.1])
  })

  it("says what an engine lacks", () => {
    const { capabilities } = ToyEngine.make()
    const loss = { type: "sequenceRatio", low: 0.1, high: 0.1 } as const
    assert.isUndefined(Objective.obstacle({ loss, entropy: 0.1 }, capabilities))
    assert.include(
      Objective.obstacle({ loss, entropy: 0 }, { ...capabilities, losses: ["crossEntropy"] }),
      "crossEntropy"
    )
    assert.include(Objective.obstacle({ loss, entropy: 0.1 }, { ...capabilities, entropy: false }), "entropy")
    assert.include(
      Objective.obstacle({ loss: { type: "importanceSampling" }, entropy: 0.1 }, capabilities),
      "clippedRatio"
    )
  })

  it("measures how far the weights have left the sampler (by hand)", () => {
    const data: ReadonlyArray<Datum> = [
      { prompt: [], completion: [1, 2], advantages: [1, 1], logProbs: [-1, -1] },
      { prompt: [], completion: [3], advantages: [-1], logProbs: [-1] }
    ]
    const logProbs = [[-1 + Math.log(1.5), -1], [-1 + Math.log(0.5)]]
    const found = Objective.distance({ type: "clippedRatio", low: 0.2, high: 0.2 }, data, logProbs)
    assert.strictEqual(found.tokens, 3)
    assert.strictEqual(found.clipped, 2)
    assert.closeTo(found.divergence, 0.5 - Math.log(1.5) + (-0.5 - Math.log(0.5)), 1e-12)
  })
})

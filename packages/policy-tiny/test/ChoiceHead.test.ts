import { assert, describe, it } from "@effect/vitest"
import * as ChoiceHead from "../src/ChoiceHead.ts"

const weights = Float64Array.from({ length: ChoiceHead.size }, (_, at) => Math.sin(3 * at + 1))

const featuresOf = (seed: number): ReadonlyArray<number> =>
  Array.from({ length: ChoiceHead.inputs }, (_, at) => Math.cos(seed + 2 * at))

const features = [1, 5, 9].map(featuresOf)

describe("ChoiceHead", () => {
  it("the order of workers does not matter, and probabilities add up to one with nobody's", () => {
    const [a, b, c, nobody] = ChoiceHead.odds(weights, features).worker
    const [c2, a2, b2, nobody2] = ChoiceHead.odds(weights, [features[2]!, features[0]!, features[1]!]).worker
    ;[a, b, c, nobody].forEach((value, index) => {
      assert.approximately(value!, [a2, b2, c2, nobody2][index]!, 1e-12)
    })
    const sum = [a, b, c, nobody].reduce((total, value) => total! + Math.exp(value!), 0)
    assert.approximately(sum!, 1, 1e-12)
  })

  it("nobody checks their own answer, and who has failed is not chosen", () => {
    const odds = ChoiceHead.odds(weights, features, [2])
    assert.isBelow(odds.worker[2]!, -100)
    assert.isBelow(odds.checker(1)[1]!, -100)
    assert.isBelow(odds.checker(1)[2]!, -100)
    assert.strictEqual(ChoiceHead.greatest(odds.checker(3)), 3)
  })

  it("without checks the workers stay as likely as they were, and nobody is checked", () => {
    const bare = ChoiceHead.withoutChecks(weights)
    assert.deepStrictEqual(ChoiceHead.odds(bare, features).worker, ChoiceHead.odds(weights, features).worker)
    assert.strictEqual(ChoiceHead.greatest(ChoiceHead.odds(bare, features).checker(0)), 3)
  })

  const needs = [1, 0.5, -1, 0, 0.2, 2, 1]

  it("the gradient is that of the log-probability of a choice", () => {
    const logProbability = (own: ChoiceHead.Weights) => {
      const odds = ChoiceHead.odds(own, features)
      return odds.worker[1]! + odds.checker(1)[0]! + ChoiceHead.needOdds(own, needs)[1]
    }
    const sums = new Float64Array(ChoiceHead.size)
    const wanted = { worker: [0, 1, 0, 0], checker: { given: 1, shares: [1, 0, 0, 0] } }
    ChoiceHead.addGradient(sums, weights, features, wanted, 1)
    ChoiceHead.addNeedGradient(sums, weights, needs, [0, 1], 1)
    for (let at = 0; at < ChoiceHead.size; at += at < 300 ? 3 : 1) {
      const slope =
        (logProbability(weights.with(at, weights[at]! + 1e-5)) -
          logProbability(weights.with(at, weights[at]! - 1e-5))) /
        2e-5
      assert.approximately(sums[at]!, slope, 1e-6, `weight ${at}`)
    }
  })
})

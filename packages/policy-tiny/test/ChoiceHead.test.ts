import { assert, describe, it } from "@effect/vitest"
import * as ChoiceHead from "../src/ChoiceHead.ts"

const weights = Float64Array.from({ length: ChoiceHead.size }, (_, at) => Math.sin(3 * at + 1) / 4)

const featuresOf = (seed: number): ReadonlyArray<number> =>
  Array.from({ length: ChoiceHead.inputs }, (_, at) => Math.cos(seed + 2 * at))

const features = [1, 5, 9].map(featuresOf)
const costs = [0.1, 0.02, 0.05]
const team = { features, costs }

describe("ChoiceHead", () => {
  it("the order of workers does not matter, and probabilities add up to one with that of no worker", () => {
    const [a, b, c, nobody] = ChoiceHead.odds(weights, team).worker
    const moved = { features: [2, 0, 1].map((at) => features[at]!), costs: [2, 0, 1].map((at) => costs[at]!) }
    const [c2, a2, b2, nobody2] = ChoiceHead.odds(weights, moved).worker
    ;[a, b, c, nobody].forEach((value, index) => {
      assert.approximately(value!, [a2, b2, c2, nobody2][index]!, 1e-12)
    })
    const sum = [a, b, c, nobody].reduce((total, value) => total! + Math.exp(value!), 0)
    assert.approximately(sum!, 1, 1e-12)
  })

  it("a worker does not check its own answer, and a failed one is not chosen", () => {
    const odds = ChoiceHead.odds(weights, { ...team, without: [2] })
    assert.isBelow(odds.worker[2]!, -100)
    assert.isBelow(odds.checker(1)[1]!, -100)
    assert.isBelow(odds.checker(1)[2]!, -100)
    assert.strictEqual(ChoiceHead.greatest(odds.checker(3)), 3)
  })

  it("a worker is worth its chance less its cost, so what a call costs more makes it less likely by as much", () => {
    const dearer = { ...team, costs: costs.with(0, costs[0]! + 0.01) }
    const [before, after] = [ChoiceHead.odds(weights, team), ChoiceHead.odds(weights, dearer)]
    const alone = (odds: ChoiceHead.Odds) => odds.checker(0)[3]! - odds.checker(0)[1]!
    // Alone it is called once, with a check twice: the one is cheaper by a call.
    assert.approximately(alone(after) - alone(before), 30 * 0.01, 1e-9)
    assert.isBelow(after.worker[0]!, before.worker[0]!)
  })

  it("two attempts and a check are right as often as one of the two is, where the checker finds it", () => {
    const chances = [
      { alone: 0.6, twice: 0.84, checks: 0 },
      { alone: 0.1, twice: 0.2, checks: 0.9 }
    ]
    assert.approximately(ChoiceHead.right(chances, 0, 1), 0.9 * 0.84 + 0.1 * 0.1, 1e-12)
    assert.strictEqual(ChoiceHead.right(chances, 0, 2), 0.6)
    assert.approximately(ChoiceHead.cost([0.1, 0.02], 0, 1), 0.22, 1e-12)
  })

  it("without checks, no worker is checked by one of at most equal strength", () => {
    const bare = ChoiceHead.withoutChecks(weights)
    const odds = ChoiceHead.odds(bare, team)
    const best = ChoiceHead.greatest(odds.worker)
    assert.strictEqual(ChoiceHead.greatest(odds.checker(best)), 3)
  })

  const isSlopeOf = (sums: ChoiceHead.Weights, value: (weights: ChoiceHead.Weights) => number): void => {
    for (let at = 0; at < ChoiceHead.size; at += at < 300 ? 3 : 1) {
      const [up, down] = [value(weights.with(at, weights[at]! + 1e-5)), value(weights.with(at, weights[at]! - 1e-5))]
      assert.approximately(sums[at]!, (up - down) / 2e-5, 1e-5, `weight ${at}`)
    }
  }

  const needs = [1, 0.5, -1, 0, 0.2, 2, 1]

  it("the gradient is that of the log-probability of a choice", () => {
    const logProbability = (own: ChoiceHead.Weights) => {
      const odds = ChoiceHead.odds(own, team)
      return odds.worker[1]! + odds.checker(1)[0]! + ChoiceHead.needOdds(own, needs)[1]
    }
    const sums = new Float64Array(ChoiceHead.size)
    const wanted = { worker: [0, 1, 0, 0], checker: { given: 1, shares: [1, 0, 0, 0] } }
    ChoiceHead.addGradient(sums, weights, team, wanted, 1)
    ChoiceHead.addNeedGradient(sums, weights, needs, [0, 1], 1)
    isSlopeOf(sums, logProbability)
  })

  it("the gradient of what is true of workers is that of its log-likelihood", () => {
    const truth = [
      { alone: 0.9, twice: 0.99, checks: 0 },
      { alone: 0, twice: 0, checks: 1 },
      { alone: 0.3, twice: 0.5, checks: 0 }
    ]
    const likelihood = (share: number, chance: number) => share * Math.log(chance) + (1 - share) * Math.log(1 - chance)
    const sums = new Float64Array(ChoiceHead.size)
    ChoiceHead.addChances(sums, weights, features, truth, 0.5)
    isSlopeOf(sums, (own) =>
      truth.reduce((sum, one, ordinal) => {
        const { alone, checks, twice } = ChoiceHead.chancesOf(own, features[ordinal]!)
        const sumOf = likelihood(one.alone, alone) + likelihood(one.twice, twice) + likelihood(one.checks, checks)
        return sum + 0.5 * sumOf
      }, 0)
    )
  })
})

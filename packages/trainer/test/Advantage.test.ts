import { assert, describe, it } from "@effect/vitest"
import * as Advantage from "../src/Advantage.ts"

const grpo = { baseline: "group", divideByStd: true, recursionDiscount: 0.25 } as const

describe("Advantage", () => {
  it("is the reward less the mean over the deviation (by hand)", () => {
    // Mean 0.625; deviations -0.625, -0.125, 0.375, 0.375; variance 0.171875.
    const { advantages_G } = Advantage.ofGroup([0, 0.5, 1, 1], grpo)
    const std = Math.sqrt(0.171875)
    assert.deepStrictEqual(
      advantages_G.map((one) => one.toFixed(12)),
      [-0.625 / std, -0.125 / std, 0.375 / std, 0.375 / std].map((one) => one.toFixed(12))
    )
    assert.closeTo(
      advantages_G.reduce((sum, one) => sum + one, 0),
      0,
      1e-12
    )
  })

  it("leaves the deviation out by setting", () => {
    const { advantages_G } = Advantage.ofGroup([0, 0.5, 1], { ...grpo, divideByStd: false })
    assert.deepStrictEqual(advantages_G, [-0.5, 0, 0.5])
  })

  it("compares each with the others alone by setting (by hand)", () => {
    const { advantages_G } = Advantage.ofGroup([1, 0, 0.5], { baseline: "leave-one-out", divideByStd: false })
    // 1 - (0 + 0.5) / 2, 0 - (1 + 0.5) / 2, 0.5 - (1 + 0) / 2.
    assert.deepStrictEqual(advantages_G, [0.75, -0.75, 0])
  })

  it("is 0 for all where rewards are equal up to rounding, and for one alone", () => {
    assert.deepStrictEqual(Advantage.ofGroup([0.3, 0.1 + 0.2], grpo), { advantages_G: [0, 0], isZeroVariance: true })
    assert.deepStrictEqual(Advantage.ofGroup([1], grpo), { advantages_G: [0], isZeroVariance: true })
    assert.deepStrictEqual(Advantage.ofGroup([], grpo), { advantages_G: [], isZeroVariance: true })
  })

  it("normalises rounds by themselves, and discounts the first of recursive groups alone", () => {
    const rewards = [[1, 1], [0, 0.5], [1, 1], [0]]
    const recursive = Advantage.ofRounds(rewards, true, grpo)
    assert.deepStrictEqual(
      recursive.advantages_G_R.map(([first]) => first),
      [0.25, -0.25, 0.25, -0.25]
    )
    // Second round: 1, 0.5, 1; mean 5/6, deviation sqrt(2)/6.
    const second = recursive.advantages_G_R.map(([, second]) => second)
    assert.closeTo(second[0]!, 1 / Math.SQRT2, 1e-12)
    assert.closeTo(second[1]!, -Math.SQRT2, 1e-12)
    assert.isUndefined(second[3])
    assert.deepStrictEqual(recursive.isZeroVariance_R, [false, false])
    const plain = Advantage.ofRounds([[1], [0]], false, grpo)
    assert.deepStrictEqual(plain.advantages_G_R, [[1], [-1]])
  })
})

import { assert, describe, it } from "@effect/vitest"
import type { Datum, Loss } from "../src/Engine.ts"
import * as LossTerms from "../src/LossTerms.ts"

const datum: Datum = {
  prompt: [1],
  completion: [2, 3, 4],
  weights: [1, 0.5, 2],
  advantages: [1, -2, 1.5],
  logProbs: [-1, -0.5, -2]
}
const zeros = [0, 0, 0]
/** Ratios 1.5, 0.5 and 1. */
const logProbs = [-1 + Math.log(1.5), -0.5 + Math.log(0.5), -2]

describe("LossTerms", () => {
  it("is minus the weighted sum of log-probabilities in supervised learning", () => {
    assert.closeTo(LossTerms.of({ type: "crossEntropy" }, datum, [-1, -2, -3], zeros).loss, 1 + 1 + 6, 1e-12)
  })

  it("is minus ratio times advantage without a clip (by hand)", () => {
    const { clipped_T, loss } = LossTerms.of({ type: "importanceSampling" }, datum, logProbs, zeros)
    assert.closeTo(loss, -(1 * 1.5 * 1 + 0.5 * 0.5 * -2 + 2 * 1 * 1.5), 1e-12)
    assert.deepStrictEqual(clipped_T, [false, false, false])
  })

  it("clips where that lowers the objective, and only there (by hand)", () => {
    const { clipped_T, loss, slopes_T } = LossTerms.of(
      { type: "clippedRatio", low: 0.2, high: 0.28 },
      datum,
      logProbs,
      zeros
    )
    // 1.5 becomes 1.28; 0.5 with a negative advantage becomes 0.8, which makes -1 to -1.6: the lower of the two.
    assert.closeTo(loss, -(1 * 1.28 * 1 + 0.5 * 0.8 * -2 + 2 * 1 * 1.5), 1e-12)
    assert.deepStrictEqual(clipped_T, [true, true, false])
    assert.deepStrictEqual(
      [...slopes_T].map((slope) => slope + 0),
      [0, 0, -3]
    )
    // Upwards with a negative advantage, and downwards with a positive one, the gradient has to be left alone.
    const other = { ...datum, advantages: [-1, 2, 1] }
    const open = LossTerms.of({ type: "clippedRatio", low: 0.2, high: 0.28 }, other, logProbs, zeros)
    assert.deepStrictEqual(open.clipped_T, [false, false, false])
    assert.closeTo(open.loss, -(-1.5 + 0.5 * 0.5 * 2 + 2 * 1), 1e-12)
  })

  it("takes one ratio for a sequence: the geometric mean (by hand)", () => {
    const ratio = 0.75 ** (1 / 3)
    const { loss } = LossTerms.of({ type: "sequenceRatio", low: 0.2, high: 0.2 }, datum, logProbs, zeros)
    assert.closeTo(loss, -ratio * (1 - 1 + 3), 1e-12)
    const tight = LossTerms.of({ type: "sequenceRatio", low: 0.02, high: 0.02 }, datum, logProbs, zeros)
    // Below 0.98: only the token with a negative advantage is clipped.
    assert.deepStrictEqual(tight.clipped_T, [false, true, false])
  })

  it("adds entropy to the objective", () => {
    const loss: Loss = { type: "clippedRatio", low: 0.2, high: 0.2, entropy: 0.1 }
    const without = LossTerms.of({ ...loss, entropy: 0 }, datum, logProbs, [1, 2, 3])
    const { entropySlopes_T, loss: found } = LossTerms.of(loss, datum, logProbs, [1, 2, 3])
    assert.closeTo(found, without.loss - 0.1 * (1 + 0.5 * 2 + 2 * 3), 1e-12)
    assert.deepStrictEqual([...entropySlopes_T], [-0.1, -0.05, -0.2])
  })

  const losses: ReadonlyArray<Loss> = [
    { type: "crossEntropy" },
    { type: "importanceSampling" },
    { type: "clippedRatio", low: 0.2, high: 0.28 },
    { type: "sequenceRatio", low: 0.1, high: 0.1 },
    { type: "sequenceRatio", low: 0.02, high: 0.02 }
  ]
  for (const loss of losses) {
    it(`has the derivatives that differences show: ${JSON.stringify(loss)}`, () => {
      const step = 1e-6
      const { slopes_T } = LossTerms.of(loss, datum, logProbs, zeros)
      for (let token = 0; token < 3; token++) {
        const at = (change: number) =>
          LossTerms.of(loss, datum, logProbs.with(token, logProbs[token]! + change), zeros).loss
        assert.closeTo(slopes_T[token]!, (at(step) - at(-step)) / (2 * step), 1e-6)
      }
    })
  }
})

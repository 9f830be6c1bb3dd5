import { assert, describe, it } from "@effect/vitest"
import * as Schedule from "../src/Schedule.ts"

const factors = (schedule: Parameters<typeof Schedule.factor>[0], steps: number) =>
  Array.from({ length: steps }, (_, step) => Schedule.factor(schedule, step, steps))

describe("Schedule", () => {
  it("warms up in a straight line and then stays", () => {
    assert.deepStrictEqual(factors({ type: "constant", warmUpRatio: 0.4 }, 5), [0.5, 1, 1, 1, 1])
    assert.deepStrictEqual(factors({ type: "constant", warmUpRatio: 0 }, 2), [1, 1])
  })

  it("falls along half a cosine, and would reach its end a step behind the last (by hand)", () => {
    const found = factors({ type: "cosine", warmUpRatio: 0, finalRatio: 0.1 }, 4)
    const expected = [36, 72, 108, 144].map((degrees) => 0.1 + 0.45 * (1 + Math.cos((degrees * Math.PI) / 180)))
    found.forEach((factor, step) => {
      assert.closeTo(factor, expected[step]!, 1e-12)
    })
    assert.isAbove(found[3]!, 0.1)
  })

  it("reaches the peak once, whatever the length: the paper's 6 of 200 steps of warm-up", () => {
    const found = factors({ type: "cosine", warmUpRatio: 0.03, finalRatio: 0 }, 200)
    assert.closeTo(found[0]!, 1 / 6, 1e-12)
    assert.strictEqual(found[5], 1)
    assert.isBelow(found[6]!, 1)
    // No step is paid for without teaching anything.
    assert.isAbove(found[199]!, 0)
    assert.isBelow(found[199]!, 1e-4)
    for (let step = 7; step < 200; step++) assert.isBelow(found[step]!, found[step - 1]!)
    assert.deepStrictEqual(factors({ type: "cosine", warmUpRatio: 1, finalRatio: 0 }, 2), [0.5, 1])
  })
})

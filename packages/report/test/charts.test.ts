import { assert, describe, it } from "@effect/vitest"
import { rounded, whole } from "../src/chart/Axes.ts"
import { smoothed } from "../src/chart/Lines.ts"

describe("axes", () => {
  it("have marks at round values that cover all", () => {
    assert.deepStrictEqual(rounded(0, 1).ticks, [0, 0.2, 0.4, 0.6, 0.8, 1])
    assert.deepStrictEqual(rounded(0.3, 0.7).ticks, [0.3, 0.4, 0.5, 0.6, 0.7])
    assert.deepStrictEqual(rounded(-3, 11).ticks, [-5, 0, 5, 10, 15])
    assert.deepStrictEqual(whole(0, 3, [0, 300]).ticks, [0, 1, 2, 3])
    assert.strictEqual(rounded(0, 1, [200, 0]).at(0.5), 100)
    assert.isTrue(Number.isFinite(rounded(2, 2, [200, 0]).at(2)))
    assert.deepStrictEqual([rounded(0, 0, [200, 0]).ticks[0], rounded(0, 0, [200, 0]).at(0)], [0, 200])
  })
})

it("curves are smoothed without their gaps", () => {
  const points = [1, undefined, 3, 8].map((y, x) => ({ x, y }))
  assert.deepStrictEqual(
    smoothed(points, 1).map(({ y }) => y),
    [1, undefined, 5.5, 5.5]
  )
})

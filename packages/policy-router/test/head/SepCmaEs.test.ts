import { assert, describe, it } from "@effect/vitest"
import * as SepCmaEs from "../../src/head/SepCmaEs.ts"

const dimensions = 20

/** Functions whose least value, 0, is at the origin. */
const functions = {
  sphere: (point: Float64Array) => point.reduce((sum, value) => sum + value * value, 0),
  ellipsoid: (point: Float64Array) =>
    point.reduce((sum, value, at) => sum + 10 ** ((6 * at) / (dimensions - 1)) * value * value, 0),
  cigar: (point: Float64Array) => point.reduce((sum, value, at) => sum + (at === 0 ? 1 : 1e6) * value * value, 0),
  tablet: (point: Float64Array) => point.reduce((sum, value, at) => sum + (at === 0 ? 1e6 : 1) * value * value, 0)
}

/**
 * The median of 11 searches of pycma 4.5.0 with `CMA_diagonal`, without its active update: evaluations until a value below
 * 1e-9, from all ones, with the first step size 1 and 12 points a generation.
 */
const ofPycma = { sphere: 2556, ellipsoid: 6288, cigar: 5604, tablet: 5124 }

const evaluations = (value: (point: Float64Array) => number, seed: number): number => {
  let search = SepCmaEs.make({ mean: Array.from({ length: dimensions }, () => 1), sigma: 1, seed, population: 12 })
  for (let count = 12; count < 20_000; count += 12) {
    const values = SepCmaEs.ask(search).map(value)
    if (Math.min(...values) < 1e-9) return count
    search = SepCmaEs.tell(
      search,
      values.map((one) => -one)
    )
  }
  return Number.POSITIVE_INFINITY
}

describe("SepCmaEs", () => {
  it.each(Object.entries(functions))("finds the least of the %s about as fast as the reference", (name, value) => {
    const counts = Array.from({ length: 5 }, (_, seed) => evaluations(value, seed)).sort((left, right) => left - right)
    const share = counts[2]! / ofPycma[name as keyof typeof functions]
    assert.isAbove(share, 0.7)
    assert.isBelow(share, 1.1)
  })

  it("learns that one dimension matters a hundred times as much as another", () => {
    let search = SepCmaEs.make({ mean: [3, 3], sigma: 1, seed: 1, population: 8 })
    for (let generation = 0; generation < 60; generation++) {
      search = SepCmaEs.tell(
        search,
        SepCmaEs.ask(search).map(([first, second]) => -(first! ** 2 + 1e4 * second! ** 2))
      )
    }
    const spread = Math.sqrt(search.variance[0]! / search.variance[1]!)
    assert.isAbove(spread, 20)
    assert.isBelow(spread, 500)
  })

  it("gives the same points for the same search, and others for another seed", () => {
    const search = SepCmaEs.make({ mean: [0, 0, 0], sigma: 1, seed: 4 })
    assert.deepStrictEqual(SepCmaEs.ask(search), SepCmaEs.ask(search))
    assert.notDeepEqual(SepCmaEs.ask(search), SepCmaEs.ask({ ...search, seed: 5 }))
    assert.notDeepEqual(SepCmaEs.ask(search), SepCmaEs.ask({ ...search, generation: 1 }))
    assert.strictEqual(SepCmaEs.make({ mean: new Float64Array(10_240), sigma: 1 }).population, 32)
  })

  it("uses only the order of values, and ranks NaN last", () => {
    const search = SepCmaEs.make({ mean: [0, 0], sigma: 1, seed: 2, population: 4 })
    const told = SepCmaEs.tell(search, [4, 3, 2, 1])
    assert.deepStrictEqual(SepCmaEs.tell(search, [400, 3, 2, Number.NaN]), told)
    assert.notDeepEqual(SepCmaEs.tell(search, [1, 2, 3, 4]), told)
  })

  it("does not begin without dimensions, points or a step size", () => {
    assert.throws(() => SepCmaEs.make({ mean: [], sigma: 1 }), /at least one dimension/)
    assert.throws(() => SepCmaEs.make({ mean: [0], sigma: 0 }), /"sigma" must be a number of at least/)
    assert.throws(() => SepCmaEs.make({ mean: [0], sigma: 1, population: 1 }), /at least 2/)
    const search = SepCmaEs.make({ mean: [0], sigma: 1 })
    assert.throws(() => SepCmaEs.tell(search, [1]), /1 values were given/)
  })
})

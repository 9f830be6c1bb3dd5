import { assert, describe, it } from "@effect/vitest"
import * as Seed from "../src/Seed.ts"

// Recorded figures, trainings and examples depend on these values: they never change.
describe("Seed", () => {
  it("derives the same seeds for the same parts", () => {
    assert.deepStrictEqual([Seed.derive(0, 1), Seed.derive(7, "policy")], [193359787, 321823965])
    assert.deepStrictEqual([Seed.spread(1, "pass", 2), Seed.spread(0, "phase", "a")], [100598870, 593568960])
  })

  it("makes the same choice for the same seed", () => {
    assert.deepStrictEqual([Seed.index(10, 1), Seed.index(10, 2), Seed.index(1000, 3)], [6, 8, 229])
    assert.deepStrictEqual(Seed.shuffle([0, 1, 2, 3, 4, 5, 6, 7], 5), [0, 1, 4, 3, 5, 6, 7, 2])
  })

  it("draws the same numbers from the same seed", () => {
    const draw = Seed.draw(7)
    assert.deepStrictEqual([draw(), draw(), draw()], [0.07389712752774358, 0.6813157652504742, 0.4337323906365782])
    assert.deepStrictEqual(Seed.shuffled(Seed.draw(5), [0, 1, 2, 3, 4, 5, 6, 7]), [3, 1, 7, 6, 0, 4, 2, 5])
  })

  it("chooses by any source of draws", () => {
    const sequence = (...numbers: ReadonlyArray<number>): Seed.Draw => {
      const left = numbers.values()
      return () => left.next().value!
    }
    const draw = sequence(0, 0.999, 0.3, 0.3, 0.5)
    assert.deepStrictEqual([Seed.below(draw, 7), Seed.below(draw, 7)], [0, 6])
    assert.deepStrictEqual([Seed.chance(draw, 0.3), Seed.chance(draw, 0.31)], [false, true])
    assert.strictEqual(Seed.pick(draw, ["a", "b", "c"]), "b")
  })
})

import { Seed } from "@divisi/core"
import { expect, it } from "vitest"
import * as Draw from "../src/gym/Draw.ts"

// The shipped model was trained on examples that were drawn by these values.
it("draws the same for the same seed and place", () => {
  const draw = Draw.make(3, 4)
  expect([Seed.below(draw, 100), Seed.below(draw, 100)]).toEqual([69, 54])
  expect([Seed.chance(draw, 0.5), Seed.chance(draw, 0.5)]).toEqual([false, false])
  expect([Seed.pick(draw, ["a", "b", "c"]), Seed.below(draw, 7)]).toEqual(["c", 0])
})

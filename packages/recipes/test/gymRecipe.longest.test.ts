/** A whole training of the gym recipe, at the smallest sizes. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { Trainer } from "@divisi/trainer"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Recipe from "../src/gym/GymRecipe.ts"

describe("the gym recipe", () => {
  it.effect("goes through all its phases, and leaves a model", () =>
    Effect.gen(function* () {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-gym-recipe-"))
      const sizes = { finding: 1, reading: 1, learning: 1, recursing: 1, examples: 4, questions: 2, group: 2 }
      const recipe = Recipe.make(sizes, { seed: 3 })
      const engine = yield* recipe.engine
      const result = yield* Trainer.start({ ...recipe, engine }, { ...recipe, seed: 3 }, { folder })
      assert.deepStrictEqual(result.ending, { type: "finished" })
      const file = path.join(folder, "model.gguf")
      yield* engine.export("gguf", file)
      assert.isBelow(fs.statSync(file).size, 10_000_000)
      fs.rmSync(folder, { recursive: true })
    })
  )
})

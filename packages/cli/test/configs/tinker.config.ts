import { defineConfig, type Training } from "@divisi/cli/config"
import type { Engine } from "@divisi/trainer/Engine"
import { toy } from "../../src/train/recipes/toy.ts"
import * as Tinker from "../../src/train/Tinker.ts"

/** The toy recipe, trained by the server that the environment names. */
export default defineConfig({
  recipes: {
    there: ({ seed }) => {
      const made = toy({ seed }) as Training & { readonly engine: Engine }
      return { ...made, engine: Tinker.open("toy", made.engine.tokenizer) }
    }
  }
})

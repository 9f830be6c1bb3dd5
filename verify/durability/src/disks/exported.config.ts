import { defineConfig, type Training } from "@divisi/cli/config"
import { recipes } from "@divisi/recipes"
import * as Tinker from "@divisi/recipes/tinker"
import type { Engine } from "@divisi/trainer/Engine"

const toy = await recipes.toy.load()

/** The toy recipe, trained on the server set in the environment. */
export default defineConfig({
  recipes: {
    there: ({ seed }) => {
      const made = toy({ seed }) as Training & { readonly engine: Engine }
      return { ...made, engine: Tinker.open("toy", made.engine.tokenizer) }
    }
  }
})

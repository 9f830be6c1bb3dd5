import { defineConfig, type Training } from "@divisi/cli/config"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { recipes } from "@divisi/recipes"
import * as Effect from "effect/Effect"

const toy = await recipes.toy.load()

const made = (seed: number) => toy({ seed }) as Training

export default defineConfig({
  recipes: {
    mine: ({ seed }) => ({ ...made(seed), name: "my own" }),
    effectful: ({ seed }) => Effect.succeed({ ...made(seed), engine: Effect.succeed(made(seed).engine as never) }),
    unpriced: async ({ seed }) => {
      const { dryRun: _, pool, ...rest } = made(seed)
      const workers = pool.workers.map(({ pricing: __, ...worker }) => worker)
      return { ...rest, pool: WorkerPool.makeUnsafe(workers), dryRun: { engine: {} } }
    },
    broken: () => {
      throw new Error("There is no oven.")
    },
    uninstalled: () => {
      const message = "Cannot find package '@divisi/trainer-tinker' imported from recipe.ts"
      throw Object.assign(new Error(message), { code: "ERR_MODULE_NOT_FOUND" })
    },
    empty: () => undefined as never
  }
})

import { defineConfig, type Training } from "@divisi/cli/config"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
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
    // Its workers are down.
    down: ({ seed }) => {
      const { dryRun: _, phases, pool, ...rest } = made(seed)
      const run = { maxSteps: 5, retry: { maxAttempts: 1, baseDelayMillis: 0 } }
      const replies = [{ fail: { _tag: "Network" as const } }]
      const workers = pool.workers.map(({ id, pricing }) => ScriptedWorker.make({ id, pricing, replies }))
      return {
        ...rest,
        phases: phases.map((phase) =>
          phase.type === "grpo" ? { ...phase, rollouts: { ...phase.rollouts, run } } : phase
        ),
        pool: WorkerPool.makeUnsafe(workers)
      }
    },
    // Its policy learns no form beforehand, so that nothing can be read.
    unprepared: ({ seed }) => {
      const { phases, ...rest } = made(seed)
      return { ...rest, phases: phases.filter(({ type }) => type === "grpo") }
    },
    misspelt: ({ seed }) => ({ ...made(seed), evaluateevery: 5 }) as Training,
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

import { defineConfig, type Training } from "@divisi/cli/config"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { recipes } from "@divisi/recipes"
import * as Effect from "effect/Effect"
import { hostile } from "../hostile.ts"

const toy = await recipes.toy.load()

const training = (seed: number): Training => {
  const { pool, ...made } = toy({ seed }) as Training
  const workers = pool.workers.map((worker) => ({ ...worker, id: `${worker.id}${hostile}` }))
  return { ...made, name: hostile, pool: WorkerPool.makeUnsafe(workers) }
}

const step = (worker: number, access: ReadonlyArray<number>) => ({ worker, subtask: hostile, access })

/** Third-party text is in every field that is displayed. */
export default defineConfig({
  pool: [
    ScriptedWorker.make({ id: `answers${hostile}`, description: hostile, replies: [`42 ${hostile}`] }),
    ScriptedWorker.make({
      id: `fails${hostile}`,
      // No outage, so that runs are measured.
      replies: [{ fail: { _tag: "ContentFiltered", detail: hostile } }]
    })
  ],
  policy: {
    name: `plans${hostile}`,
    propose: () => Effect.succeed({ workflow: { steps: [step(1, []), step(0, [0])] }, notes: [hostile] })
  },
  retry: { maxAttempts: 1 },
  recipes: { [hostile]: ({ seed }) => training(seed) }
})

/** The gym recipe at small size over the embedded engine: through a server of the Tinker API as in this process. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { LocalTinkerServer } from "@divisi/testkit/engines"
import { RunFolder, Trainer } from "@divisi/trainer"
import type { Engine } from "@divisi/trainer/Engine"
import * as TinkerEngine from "@divisi/trainer-tinker/TinkerEngine"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Recipe from "../src/gym/GymRecipe.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "divisi-train-jax-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

const sizes = { finding: 4, reading: 1, learning: 1, recursing: 1, examples: 3, questions: 2, group: 3 }

const training = () => Recipe.make(sizes, { seed: 3 })

/** The losses of the warm start, and the rewards of what follows. */
const curves = (engine: Engine) =>
  Effect.gen(function* () {
    const folder = yield* temporary
    const made = training()
    yield* Trainer.start({ ...made, engine }, { ...made, seed: 3 }, { folder })
    const metrics = yield* RunFolder.readMetrics(folder)
    return {
      losses: metrics.flatMap((one) => (one.type === "warm-start" ? [one.tokenLoss] : [])),
      rewards: metrics.flatMap((one) => (one.type === "grpo" ? [one.rewardMean] : []))
    }
  })

describe("the gym recipe with the Tinker API", () => {
  it.live("trains the embedded engine behind a server to the same curve as without one", () =>
    Effect.gen(function* () {
      const local = yield* training().engine
      const server = yield* LocalTinkerServer.make({
        engine: training().engine,
        folder: yield* temporary,
        baseModel: "divisi-tiny",
        dialect: "hosted"
      })
      const remote = yield* TinkerEngine.make({
        baseUrl: server.url,
        baseModel: "divisi-tiny",
        dialect: "hosted",
        tokenizer: local.tokenizer
      })
      const here = yield* curves(local)
      const there = yield* curves(remote)
      assert.isBelow(there.losses[3]!, 0.9 * there.losses[0]!)
      assert.deepStrictEqual(there.rewards, here.rewards)
      for (const [step, loss] of there.losses.entries()) assert.closeTo(loss, here.losses[step]!, 1e-4, `step ${step}`)
    }).pipe(Effect.scoped)
  )
})

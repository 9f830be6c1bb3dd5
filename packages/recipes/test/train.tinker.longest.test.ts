/** The toy recipe of the gym, trained through a server of the Tinker API: the same curve as in this process. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { LocalTinkerServer } from "@divisi/testkit/engines"
import { RunFolder, Trainer } from "@divisi/trainer"
import type { Engine } from "@divisi/trainer/Engine"
import * as TinkerEngine from "@divisi/trainer-tinker/TinkerEngine"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Training } from "../src/Recipe.ts"
import { toy } from "../src/toy/ToyRecipe.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "divisi-train-tinker-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

const training = () => toy({ seed: 3 }) as Training & { readonly engine: Engine }

/** The rewards of a run's iterations. */
const curve = (engine: Engine) =>
  Effect.gen(function* () {
    const folder = yield* temporary
    const made = training()
    const phases = made.phases.map((phase) => (phase.type === "grpo" ? { ...phase, iterations: 6 } : phase))
    yield* Trainer.start({ ...made, engine }, { ...made, phases, seed: 3 }, { folder })
    const metrics = yield* RunFolder.readMetrics(folder)
    return metrics.flatMap((one) => (one.type === "grpo" ? [one.rewardMean] : []))
  })

describe("divisi train with the Tinker API", () => {
  for (const dialect of ["hosted", "skyrl-jax"] as const) {
    it.live(
      `learns in the gym through a server like ${dialect} as it does in this process`,
      () =>
        Effect.gen(function* () {
          const { engine } = training()
          const server = yield* LocalTinkerServer.make({
            engine: Effect.sync(() => training().engine),
            folder: yield* temporary,
            baseModel: "toy",
            dialect
          })
          const { tokenizer } = engine
          const remote = yield* TinkerEngine.make({ baseUrl: server.url, baseModel: "toy", dialect, tokenizer })
          const there = yield* curve(remote)
          const here = yield* curve(engine)
          assert.isAbove(here.at(-1)!, here[0]!)
          assert.strictEqual(there.length, here.length)
          for (const [iteration, reward] of there.entries())
            assert.closeTo(reward, here[iteration]!, 1e-9, `iteration ${iteration}`)
        }).pipe(Effect.scoped),
      // A server that takes means saves its whole table for every sampler.
      120_000
    )
  }
})

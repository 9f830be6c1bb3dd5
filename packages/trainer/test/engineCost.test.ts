/** Engines that cost money: what they charge is in the account of the run, its metrics and its limit. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Engine, EnginePricing } from "../src/Engine.ts"
import * as RunFolder from "../src/RunFolder.ts"
import * as Trainer from "../src/Trainer.ts"
import type { PhaseConfig } from "../src/TrainingConfig.ts"
import { engine, grpo, parts, warmStart } from "./world.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "divisi-trainer-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

const pricing: EnginePricing = { prefillPerMillion: 100, samplePerMillion: 1000, trainPerMillion: 3000 }

const phases: ReadonlyArray<PhaseConfig> = [{ ...warmStart, steps: 2 }, grpo({ iterations: 3 })]

/** A run without evaluations, with what the engine has seen in tokens. */
const run = Effect.fnUntraced(function* (
  given: { readonly pricing?: EnginePricing | undefined; readonly maxCostUsd?: number | undefined },
  phasesOf = phases
) {
  const folder = yield* temporary
  const inner = engine()
  const seen = { prefill: 0, sampled: 0, trained: 0 }
  const counted: Engine = {
    ...inner,
    pricing: given.pricing ?? inner.pricing,
    sampler: Effect.map(inner.sampler, (sampler) => ({
      ...sampler,
      sample: (request) =>
        Effect.tap(sampler.sample(request), (samples) =>
          Effect.sync(() => {
            seen.prefill += request.prompt.length
            for (const { tokens } of samples) seen.sampled += tokens.length
          })
        )
    })),
    forwardBackward: (data, loss) => {
      for (const { completion, prompt } of data) seen.trained += prompt.length + completion.length
      return inner.forwardBackward(data, loss)
    }
  }
  const { evaluate: _, ...rest } = parts()
  const made = { ...rest, engine: counted }
  const result = yield* Trainer.start(made, { phases: phasesOf, maxCostUsd: given.maxCostUsd }, { folder })
  return { folder, made, result, seen, metrics: yield* RunFolder.readMetrics(folder) }
})

const priceOf = ({ prefill, sampled, trained }: { prefill: number; sampled: number; trained: number }): number =>
  (100 * prefill + 1000 * sampled + 3000 * trained) / 1e6

describe("an engine with prices", () => {
  it.effect("adds its tokens to what the run has spent, and to the metrics", () =>
    Effect.gen(function* () {
      const free = yield* run({})
      const paid = yield* run({ pricing })
      const engineUsd = priceOf(paid.seen)
      assert.isAbove(engineUsd, 0)
      assert.closeTo(paid.result.spentUsd, free.result.spentUsd + engineUsd, 1e-9)
      assert.closeTo(paid.metrics.at(-1)!.costUsd, paid.result.spentUsd, 1e-9)
      assert.closeTo(
        paid.metrics.reduce((sum, { engineCostUsd }) => sum + engineCostUsd!, 0),
        engineUsd,
        1e-9
      )
      assert.isTrue(free.metrics.every((metrics) => !("engineCostUsd" in metrics)))
    })
  )

  it.effect("stops at the limit before workers are called, and resumes with a higher one", () =>
    Effect.gen(function* () {
      const whole = yield* run({ pricing }, [{ ...warmStart, steps: 6 }])
      const each = whole.result.spentUsd / 6
      const cut = yield* run({ pricing, maxCostUsd: 2.5 * each }, [{ ...warmStart, steps: 6 }])
      assert.strictEqual(cut.result.ending.type, "cost-limit")
      assert.isBelow(cut.result.iteration, 6)
      assert.isBelow(cut.result.spentUsd, 4.5 * each)
      const resumed = yield* Trainer.resume(cut.made, { folder: cut.folder, maxCostUsd: 10 * each })
      assert.deepStrictEqual([resumed.ending.type, resumed.iteration], ["finished", 6])
      assert.closeTo(resumed.spentUsd, whole.result.spentUsd, 1e-9)
    })
  )
})

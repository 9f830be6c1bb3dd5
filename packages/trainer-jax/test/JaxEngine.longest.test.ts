/** The engine over whole trainings, and compared with another. */
import fs from "node:fs"
import path from "node:path"
import type { Loss } from "@divisi/trainer/Engine"
import * as JaxEngine from "@divisi/trainer-jax/JaxEngine"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { data, learn, present } from "./learning.ts"
import { make, temporaryFolder, tokens } from "./model.ts"

describe("training", () => {
  it.effect("lowers the loss of what is shown", () =>
    Effect.gen(function* () {
      const { options } = make()
      const engine = yield* JaxEngine.make(options)
      const loss: Loss = { type: "crossEntropy" }
      const first = yield* engine.forwardBackward(data, loss)
      for (let step = 0; step < 20; step++) {
        yield* engine.step({ learningRate: 3e-3, maxGradientNorm: 1 })
        yield* engine.forwardBackward(data, loss)
      }
      const last = yield* engine.forward(data)
      const total = last.logProbs.flatMap((one) => [...one]).reduce((sum, value) => sum - value, 0)
      assert.isBelow(total, first.loss! / 3)
    })
  )
})

describe("sampler", () => {
  it.effect("gives the same bits whatever else is sampled, and in whatever order", () =>
    Effect.gen(function* () {
      const requests = [3, 17, 20, 9, 12, 11, 1].map((length, index) => {
        return { prompt: tokens(length, index), maxTokens: 8 + index, count: index < 3 ? 17 : 1, seed: 100 * index }
      })
      const engine = yield* JaxEngine.make(make().options)
      const sampler = yield* engine.sampler
      const alone = yield* Effect.forEach(requests, sampler.sample)
      yield* engine.forwardBackward(data, { type: "crossEntropy" })
      yield* engine.step({ learningRate: 0.1 })
      const other = yield* JaxEngine.make(make().options)
      const otherSampler = yield* other.sampler
      const reversed = yield* Effect.forEach(requests.toReversed(), otherSampler.sample, { concurrency: "unbounded" })
      const again = yield* Effect.forEach(requests, sampler.sample, { concurrency: "unbounded" })
      assert.deepStrictEqual(reversed.toReversed(), alone)
      assert.deepStrictEqual(again, alone)
    })
  )
})

describe("states", () => {
  it.effect("that are loaded continue without a difference, in the same engine and in another", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const engine = yield* JaxEngine.make(make().options)
      yield* learn(engine, 2)
      // A gradient that waits for its step is part of the state.
      yield* engine.forwardBackward(data.slice(0, 2), { type: "crossEntropy" })
      const saved = yield* engine.save("step-2", folder)
      assert.deepStrictEqual(saved, { reference: "step-2.safetensors", version: 2 })
      yield* learn(engine, 2)
      const expected = yield* present(engine)
      const other = yield* JaxEngine.make(make({ seed: 6 }).options)
      yield* learn(other, 1)
      for (const one of [engine, other]) {
        yield* one.load(saved, folder)
        yield* learn(one, 2)
        assert.deepStrictEqual(yield* present(one), expected)
      }
      assert.deepStrictEqual(fs.readdirSync(folder), ["step-2.safetensors"])
    })
  )

  it.effect("the same calls give the same bits", () =>
    Effect.gen(function* () {
      const run = Effect.gen(function* () {
        const engine = yield* JaxEngine.make(make().options)
        yield* learn(engine, 3)
        return yield* present(engine)
      })
      assert.deepStrictEqual(yield* run, yield* run)
    })
  )

  it.effect("that were exported are what an engine begins with", () =>
    Effect.gen(function* () {
      const file = path.join(yield* temporaryFolder, "model.gguf")
      const engine = yield* JaxEngine.make(make().options)
      yield* learn(engine, 2)
      yield* engine.export("gguf", file)
      const again = yield* JaxEngine.make({ from: file, threads: 1 })
      const { version, ...expected } = yield* present(engine)
      const { version: first, ...found } = yield* present(again)
      assert.deepStrictEqual(found, expected)
      assert.deepStrictEqual([version, first], [2, 0])
      const messages = [{ role: "user", content: "0 alpha" }] as const
      assert.deepStrictEqual(again.tokenizer.render(messages), engine.tokenizer.render(messages))
    })
  )
})

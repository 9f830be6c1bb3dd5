/** The engine over whole trainings. */
import path from "node:path"
import type { Loss } from "@divisi/trainer/Engine"
import * as JaxEngine from "@divisi/trainer-jax/JaxEngine"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { data, learn, present } from "./learning.ts"
import { make, temporaryFolder } from "./model.ts"

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

describe("states", () => {
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

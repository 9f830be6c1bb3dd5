/** Compares llama.cpp's results for a written model with the forward pass in plain TypeScript. */

import { Model, TinyModel } from "@divisi/gguf"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { temporaryFile } from "./files.ts"
import { largestDifference, logitsOf } from "./llama.ts"

const cases: ReadonlyArray<readonly [string, TinyModel.Options]> = [
  ["llama", { architecture: "llama", seed: 1 }],
  ["llama with grouped queries", { architecture: "llama", seed: 2, keyValueHeads: 2 }],
  ["qwen2", { architecture: "qwen2", seed: 3 }],
  ["qwen2 with grouped queries", { architecture: "qwen2", seed: 4, keyValueHeads: 1 }]
]

const unusual = {
  tiedEmbeddings: false,
  hiddenSize: 96,
  heads: 3,
  keyValueHeads: 1,
  layers: 3,
  feedForwardSize: 200,
  normEpsilon: 1e-6,
  ropeTheta: 500_000,
  vocabularySize: 300,
  spread: 2
}

const tokens = Array.from({ length: 24 }, (_, index) => (index * 37 + 11) % 256)

const difference = (options: TinyModel.Options, write: Model.WriteOptions = {}) =>
  Effect.gen(function* () {
    const model = TinyModel.random(options)
    const { path } = yield* Model.write(model, yield* temporaryFile("model.gguf"), write)
    const found = yield* logitsOf(path, tokens)
    return largestDifference(TinyModel.forward(model, tokens), found)
  })

describe("logits", () => {
  it.effect.each(cases)("of %s are those of llama.cpp", ([, options]) =>
    Effect.gen(function* () {
      const found = yield* difference(options)
      assert.isBelow(found, 1e-4)
    })
  )

  it.effect.each(Model.architectures)("of %s with sizes, numbers and an output layer of its own", (architecture) =>
    Effect.gen(function* () {
      const found = yield* difference({ architecture, seed: 5, ...unusual })
      assert.isBelow(found, 1e-4)
    })
  )

  it.effect("of llama whose heads are not hiddenSize / heads", () =>
    Effect.gen(function* () {
      const options = { architecture: "llama", seed: 6, headSize: 32, keyValueHeads: 2 } as const
      assert.isBelow(yield* difference(options), 1e-4)
    })
  )

  it.effect.each(Model.architectures)("of %s in F16 are near", (architecture) =>
    Effect.gen(function* () {
      const found = yield* difference({ architecture, seed: 7 }, { type: "F16" })
      assert.isBelow(found, 2e-2)
      assert.isAbove(found, 1e-5)
    })
  )
})

/** Models come out of a file as they went in. */

import { Model, Safetensors, Tensor, TinyModel } from "@divisi/gguf"
import { Tokenizer } from "@divisi/gguf/browser"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metadata from "../src/Metadata.ts"
import { temporaryFile } from "./files.ts"

const tokenizer = Tokenizer.train(["the thin thing thinks"], {
  merges: 4,
  controlTokens: ["<|endoftext|>", "<|answer|>"],
  chatTemplate: "{{ messages[0].content }}"
})

const cases: ReadonlyArray<readonly [string, TinyModel.Options]> = [
  ["llama", { architecture: "llama", seed: 1, tokenizer }],
  ["llama with unused tokens", { architecture: "llama", seed: 2, vocabularySize: 300, keyValueHeads: 2, headSize: 24 }],
  ["qwen2 with an output layer", { architecture: "qwen2", seed: 3, tiedEmbeddings: false, normEpsilon: 2 ** -20 }]
]

describe("read", () => {
  it.effect.each(cases)("%s: configuration, tokenizer and weights are those that were written", ([, options]) =>
    Effect.gen(function* () {
      const model = TinyModel.random(options)
      const { path } = yield* Model.write(model, yield* temporaryFile("model.gguf"))
      const again = yield* Model.read(path)
      assert.deepStrictEqual(again.tokenizer, model.tokenizer)
      assert.deepStrictEqual(again.tensors, model.tensors)
      assert.deepInclude(again.config, { ...model.config, ropeTheta: 10_000 })
      assert.strictEqual(again.name, model.name)
    })
  )

  it.effect("of another tokenizer is reported", () =>
    Effect.gen(function* () {
      const metadata = { "tokenizer.ggml.pre": { type: "string", value: "qwen2" } } as const
      const { path } = yield* Model.write(TinyModel.random(cases[0]![1]), yield* temporaryFile("model.gguf"), {
        metadata
      })
      const error = yield* Effect.flip(Model.read(path))
      assert.match(error.message, /Its tokenizer is gpt2 \(qwen2\)/)
    })
  )

  it.effect.each([
    ["layers without number", "llama.block_count", Metadata.uint32(2 ** 31), /too few for 2147483648 layers/],
    ["no embedding", "llama.embedding_length", Metadata.uint32(0), /"hiddenSize": 0 is not a positive/],
    ["heads that do not fit", "llama.attention.key_length", Metadata.uint32(48), /Its shape is \[64,64\]/],
    ["merges that are no texts", "tokenizer.ggml.merges", Metadata.int32s([1]), /in a different order/],
    ["tokens that are no texts", "tokenizer.ggml.tokens", Metadata.int32s([1]), /no control token/]
  ] as const)("refuses a model of %s before it reads its numbers", ([, key, value, message]) =>
    Effect.gen(function* () {
      const { path } = yield* Model.write(TinyModel.random(cases[0]![1]), yield* temporaryFile("model.gguf"), {
        metadata: { [key]: value }
      })
      const error = yield* Effect.flip(Model.read(path))
      assert.match(error.message, message)
      assert.include(error.message, path)
    })
  )
})

describe("safetensors", () => {
  it.effect("that were written are read", () =>
    Effect.gen(function* () {
      const path = yield* temporaryFile("model.safetensors")
      const tensors = TinyModel.random(cases[0]![1]).tensors
      yield* Safetensors.write(path, { tensors, metadata: { "a key": "Größe" } })
      const file = yield* Safetensors.read(path)
      assert.deepStrictEqual(file.metadata, { "a key": "Größe" })
      for (const [name, { data, shape }] of Object.entries(tensors)) {
        const found = file.tensors[name]!
        assert.deepStrictEqual(found.shape, shape)
        assert.deepStrictEqual(yield* Effect.promise(() => Tensor.collect(found)), data)
      }
    })
  )

  it.effect("of the wrong length leave no file", () =>
    Effect.gen(function* () {
      const path = yield* temporaryFile("model.safetensors")
      const odd = { shape: [2, 2], data: Float32Array.of(1, 2, 3) }
      const error = yield* Effect.flip(Safetensors.write(path, { tensors: { odd } }))
      assert.match(error.message, /"odd": Its shape \[2,2\] holds 4 numbers, not 3/)
      assert.match((yield* Effect.flip(Safetensors.read(path))).message, /no such file/)
    })
  )
})

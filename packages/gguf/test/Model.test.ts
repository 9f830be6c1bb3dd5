/** Models that do not hold together are refused by name before anything is written. */

import fs from "node:fs"
import { Model, Tensor, TinyModel } from "@divisi/gguf"
import * as GgufReader from "@divisi/gguf/GgufReader"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { temporaryFile } from "./files.ts"

const tiny = TinyModel.random({ architecture: "qwen2", seed: 1 })

const refusal = (model: Partial<Model.Model>) =>
  Effect.gen(function* () {
    const file = yield* temporaryFile("a.gguf")
    const error = yield* Effect.flip(Model.write({ ...tiny, ...model }, file))
    assert.isFalse(fs.existsSync(file))
    return error.message
  })

const query = "model.layers.1.self_attn.q_proj"

describe("a model that does not hold together", () => {
  it.effect.each([
    ["an architecture that cannot be written", { architecture: "gemma" }, /"gemma" cannot be written.*llama, qwen2/],
    ["heads that do not divide the size", { heads: 5 }, /"headSize": 12\.8/],
    ["odd heads", { heads: 64 }, /"headSize": 1 /],
    ["heads of a size that qwen2 does not have", { headSize: 32 }, /"headSize": In qwen2 .* 16, not 32/],
    ["groups that do not come out even", { keyValueHeads: 3 }, /"keyValueHeads": 3 does not divide heads, which is 4/],
    ["no layers", { layers: 0 }, /"layers": 0/],
    ["an epsilon below 0", { normEpsilon: -1 }, /"normEpsilon"/],
    [
      "fewer rows than tokens",
      { vocabularySize: 200 },
      /embed_tokens.* \[259,64\], but this config requires \[200,64\]/
    ]
  ] as ReadonlyArray<readonly [string, object, RegExp]>)("has %s", ([, config, words]) =>
    Effect.gen(function* () {
      assert.match(yield* refusal({ config: { ...tiny.config, ...config } as Model.Config }), words)
    })
  )

  it.effect("lacks a bias that qwen2 needs", () =>
    Effect.gen(function* () {
      const { [`${query}.bias`]: _, ...tensors } = tiny.tensors
      assert.match(
        yield* refusal({ tensors }),
        /"model\.layers\.1\.self_attn\.q_proj\.bias": A qwen2 model.*requires the tensor/
      )
    })
  )

  it.effect("has a bias that llama does not know", () =>
    Effect.gen(function* () {
      const config = { ...tiny.config, architecture: "llama" } as const
      assert.match(yield* refusal({ config }), /_proj\.bias": A llama model with this config has no such tensor/)
    })
  )

  it.effect("has a transposed weight", () =>
    Effect.gen(function* () {
      const name = "model.layers.0.mlp.up_proj.weight"
      const tensors = { ...tiny.tensors, [name]: { ...tiny.tensors[name]!, shape: [64, 96] } }
      assert.match(
        yield* refusal({ tensors }),
        /up_proj.weight": Its shape is \[64,96\], but this config requires \[96,64\]/
      )
    })
  )

  it.effect("has a weight whose numbers run out on the way", () =>
    Effect.gen(function* () {
      const { shape } = tiny.tensors[`${query}.weight`]!
      const tensors = { ...tiny.tensors, [`${query}.weight`]: { shape, data: () => [new Float32Array(100)] } }
      assert.match(
        yield* refusal({ tensors }),
        /attn_q\.weight": Its shape \[64,64\] holds 4096 numbers, but 100 were given/
      )
    })
  )

  it("has more tokens than rows", () => {
    const config = { ...tiny.config, vocabularySize: 258 }
    const name = "model.embed_tokens.weight"
    const tensors = { ...tiny.tensors, [name]: { shape: [258, 64], data: new Float32Array(258 * 64) } }
    const found = Model.check({ ...tiny, config, tensors })
    assert.match(Result.getOrThrow(Result.flip(found)).message, /259 tokens, the model's vocabulary only 258/)
  })
})

describe("a model that comes in pieces", () => {
  it.effect("is the same file as one in memory", () =>
    Effect.gen(function* () {
      const model = TinyModel.random({ architecture: "llama", seed: 2, keyValueHeads: 2 })
      async function* pieces(data: Float32Array) {
        for (let at = 0; at < data.length; at += 37) yield data.subarray(at, at + 37)
      }
      const tensors = Object.fromEntries(
        Object.entries(model.tensors).map(([name, { data, shape }]) => [name, { shape, data: () => pieces(data) }])
      )
      const whole = yield* Model.write(model, yield* temporaryFile("a.gguf"))
      const pieced = yield* Model.write({ ...model, tensors }, yield* temporaryFile("b.gguf"))
      assert.isTrue(fs.readFileSync(whole.path).equals(fs.readFileSync(pieced.path)))
    })
  )

  it.effect.each(["F32", "F16"] as const)("may reuse one buffer for all of them, as %s", (type) =>
    Effect.gen(function* () {
      const model = TinyModel.random({ architecture: "llama", seed: 2 })
      const buffer = new Float32Array(50)
      function* pieces(data: Float32Array) {
        for (let at = 0; at < data.length; at += buffer.length) {
          const piece = data.subarray(at, at + buffer.length)
          buffer.fill(NaN)
          buffer.set(piece)
          yield buffer.subarray(0, piece.length)
        }
      }
      const tensors = Object.fromEntries(
        Object.entries(model.tensors).map(([name, { data, shape }]) => [name, { shape, data: () => pieces(data) }])
      )
      const whole = yield* Model.write(model, yield* temporaryFile("a.gguf"), { type })
      const pieced = yield* Model.write({ ...model, tensors }, yield* temporaryFile("b.gguf"), { type })
      assert.isTrue(fs.readFileSync(whole.path).equals(fs.readFileSync(pieced.path)))
    })
  )

  it.effect("has the rows of llama's queries in llama.cpp's order, and no others", () =>
    Effect.gen(function* () {
      const config = { architecture: "llama", seed: 3, hiddenSize: 8, heads: 2, layers: 1, feedForwardSize: 4 } as const
      const model = TinyModel.random(config)
      const { path } = yield* Model.write(model, yield* temporaryFile("a.gguf"))
      const file = yield* GgufReader.read(path)
      const rowsOf = (tensor: Tensor.Tensor) =>
        Effect.promise(async () => {
          const data = await Tensor.collect(tensor)
          return Array.from({ length: 8 }, (_, row) => Array.from(data.subarray(row * 8, (row + 1) * 8)))
        })
      const stored = (name: string) => rowsOf(Result.getOrThrow(GgufReader.tensor(file, name)))
      const given = yield* rowsOf(model.tensors["model.layers.0.self_attn.q_proj.weight"]!)
      const ordered = [0, 2, 1, 3, 4, 6, 5, 7].map((row) => given[row]!)
      assert.deepStrictEqual(yield* stored("blk.0.attn_q.weight"), ordered)
      const values = yield* rowsOf(model.tensors["model.layers.0.self_attn.v_proj.weight"]!)
      assert.deepStrictEqual(yield* stored("blk.0.attn_v.weight"), values)
    })
  )
})

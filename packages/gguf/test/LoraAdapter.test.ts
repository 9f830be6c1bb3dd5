/** Adapters: the logits of a model with one are those of the merged model, and one that does not fit is refused. */

import fs from "node:fs"
import path from "node:path"
import { LoraAdapter, Model, TinyModel } from "@divisi/gguf"
import * as GgufReader from "@divisi/gguf/GgufReader"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { raw, safetensors, temporaryFolder } from "./files.ts"
import { largestDifference, logitsOf } from "./llama.ts"

interface Matrices {
  readonly a: TinyModel.TinyModel["tensors"][string]
  readonly b: TinyModel.TinyModel["tensors"][string]
}

const linear = /^(model\.layers\.\d+\.(?:self_attn|mlp)\.\w+_proj|lm_head)\.weight$/

/** Random matrices for every linear layer: those of another random model of fitting sizes. */
const changesOf = (model: TinyModel.TinyModel, rank: number, seed: number): Record<string, Matrices> => {
  const source = TinyModel.random({ ...model.config, architecture: model.config.architecture, seed, spread: 1 })
  const pool = source.tensors["model.embed_tokens.weight"]!.data
  const matrix = (shape: readonly [number, number], from: number) => ({
    shape,
    data: Float32Array.from({ length: shape[0] * shape[1] }, (_, index) => pool[(from + index) % pool.length]!)
  })
  return Object.fromEntries(
    Object.entries(model.tensors).flatMap(([name, { shape }], place) => {
      const module = linear.exec(name)?.[1]
      if (module === undefined) return []
      const [output = 0, input = 0] = shape
      return [[module, { a: matrix([rank, input], place * 101), b: matrix([output, rank], place * 211 + 17) }]]
    })
  )
}

/** `weight + scale * b * a`, the long way. */
const merge = (
  model: TinyModel.TinyModel,
  changes: Readonly<Record<string, Matrices>>,
  scaleOf: (module: string) => number
): TinyModel.TinyModel => {
  const merged = Object.entries(changes).map(([module, { a, b }]) => {
    const name = `${module}.weight`
    const { data, shape } = model.tensors[name]!
    const [rank = 0, width = 0] = a.shape
    const changed = data.map((value, index) => {
      const row = Math.floor(index / width)
      let sum = 0
      for (let k = 0; k < rank; k++) sum += b.data[row * rank + k]! * a.data[k * width + (index % width)]!
      return value + scaleOf(module) * sum
    })
    return [name, { shape, data: changed }] as const
  })
  return { ...model, tensors: { ...model.tensors, ...Object.fromEntries(merged) } }
}

const rank = 4

const config = (fields: Record<string, unknown> = {}) => ({
  peft_type: "LORA",
  base_model_name_or_path: "tiny",
  r: rank,
  lora_alpha: 8,
  bias: "none",
  target_modules: ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
  ...fields
})

const weights = (changes: Readonly<Record<string, Matrices>>) =>
  Object.fromEntries(
    Object.entries(changes).flatMap(([module, { a, b }]) => [
      [`base_model.model.${module}.lora_A.weight`, raw(a.shape, a.data)],
      [`base_model.model.${module}.lora_B.weight`, raw(b.shape, b.data)]
    ])
  )

/** A base, and an adapter for it as PEFT saves it. */
const convert = (
  { base, folder, path }: { readonly base: string; readonly folder: string; readonly path: string },
  type?: "F16"
) => LoraAdapter.convert({ base, folder, path, type })

const prepare = (options: TinyModel.Options, fields: Record<string, unknown> = {}) =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const model = TinyModel.random(options)
    const changes = changesOf(model, rank, options.seed + 100)
    const base = path.join(folder, "base.gguf")
    yield* Model.write(model, base)
    fs.writeFileSync(path.join(folder, "adapter_config.json"), JSON.stringify(config(fields)))
    fs.writeFileSync(path.join(folder, "adapter_model.safetensors"), safetensors(weights(changes)))
    return { folder, model, changes, base, path: path.join(folder, "adapter.gguf") }
  })

const tokens = Array.from({ length: 16 }, (_, index) => (index * 53 + 7) % 256)

/** How far the model with the adapter is from the merged one, and from the model alone. */
const compare = (
  options: TinyModel.Options,
  fields: Record<string, unknown> = {},
  scaleOf: (module: string) => number = () => 8 / rank
) =>
  Effect.gen(function* () {
    const prepared = yield* prepare(options, fields)
    yield* convert(prepared)
    const merged = merge(prepared.model, prepared.changes, scaleOf)
    const mergedFile = path.join(prepared.folder, "merged.gguf")
    yield* Model.write(merged, mergedFile)
    const withAdapter = yield* logitsOf(prepared.base, tokens, prepared.path)
    return {
      fromMergedFile: largestDifference(yield* logitsOf(mergedFile, tokens), withAdapter),
      fromForward: largestDifference(TinyModel.forward(merged, tokens), withAdapter),
      fromBase: largestDifference(TinyModel.forward(prepared.model, tokens), withAdapter)
    }
  })

const cases: ReadonlyArray<readonly [string, TinyModel.Options]> = [
  ["llama", { architecture: "llama", seed: 1 }],
  ["llama with grouped queries", { architecture: "llama", seed: 2, keyValueHeads: 2 }],
  ["qwen2", { architecture: "qwen2", seed: 3 }],
  ["qwen2 with grouped queries", { architecture: "qwen2", seed: 4, keyValueHeads: 2 }],
  ["llama with an output layer", { architecture: "llama", seed: 5, tiedEmbeddings: false }]
]

describe("a converted adapter", () => {
  it.effect.each(cases)("gives %s the logits of merged weights", ([, options]) =>
    Effect.gen(function* () {
      const { fromBase, fromForward, fromMergedFile } = yield* compare(options)
      assert.isBelow(fromMergedFile, 1e-4)
      assert.isBelow(fromForward, 1e-4)
      assert.isAbove(fromBase, 0.1)
    })
  )

  it.effect("may be stored in half the bytes", () =>
    Effect.gen(function* () {
      const prepared = yield* prepare({ architecture: "llama", seed: 6 })
      const whole = yield* convert(prepared)
      const single = yield* logitsOf(prepared.base, tokens, whole.path)
      const half = yield* convert(prepared, "F16")
      const difference = largestDifference(single, yield* logitsOf(prepared.base, tokens, half.path))
      assert.isBelow(half.bytes, whole.bytes * 0.6)
      assert.isBelow(difference, 2e-2)
      assert.isAbove(difference, 1e-6)
    })
  )

  it.effect("takes rank-stabilised LoRA at its word", () =>
    Effect.gen(function* () {
      const options = { architecture: "llama", seed: 6 } as const
      const { fromForward } = yield* compare(options, { use_rslora: true, lora_alpha: 2 }, () => 2 / Math.sqrt(rank))
      assert.isBelow(fromForward, 1e-4)
    })
  )

  it.effect("takes alphas of single layers at their word", () =>
    Effect.gen(function* () {
      const fields = { alpha_pattern: { "layers.1.self_attn.q_proj": 2, down_proj: 5 } }
      const scaleOf = (module: string) => {
        if (module.endsWith("layers.1.self_attn.q_proj")) return 2 / rank
        return module.endsWith("down_proj") ? 5 / rank : 8 / rank
      }
      const { fromForward } = yield* compare({ architecture: "llama", seed: 7 }, fields, scaleOf)
      assert.isBelow(fromForward, 1e-4)
    })
  )
})

describe("an adapter that cannot be used", () => {
  const refusal = (
    fields: Record<string, unknown>,
    spoil: (prepared: Effect.Success<ReturnType<typeof prepare>>) => void = () => {}
  ) =>
    Effect.gen(function* () {
      const prepared = yield* prepare({ architecture: "llama", seed: 8 }, fields)
      spoil(prepared)
      const error = yield* Effect.flip(convert(prepared))
      assert.isFalse(fs.existsSync(prepared.path))
      return { tag: error.reason._tag, message: error.message }
    })

  it.effect.each([
    ["DoRA", { use_dora: true }, /use_dora/],
    ["trained biases", { bias: "lora_only" }, /biases/],
    ["another kind", { peft_type: "IA3" }, /IA3/],
    ["whole layers", { modules_to_save: ["lm_head"] }, /modules_to_save/],
    ["alphas by a regular expression", { alpha_pattern: { "(.*)*x": 2 } }, /alpha_pattern.*not patterns/]
  ] as const)("is refused for %s", ([, fields, words]) =>
    Effect.gen(function* () {
      const { message, tag } = yield* refusal(fields)
      assert.strictEqual(tag, "Unsupported")
      assert.match(message, words)
    })
  )

  it.effect("says which rank its config promised", () =>
    Effect.gen(function* () {
      assert.match((yield* refusal({ r: 8 })).message, /q_proj\.lora_A\.weight": Its rank is 4; .* says 8/)
    })
  )

  it.effect("says which layer its weights lack", () =>
    Effect.gen(function* () {
      assert.match((yield* refusal({ target_modules: ["q_proj", "router"] })).message, /"router" was trained/)
    })
  )

  it.effect("names a matrix without its counterpart", () =>
    Effect.gen(function* () {
      const { message } = yield* refusal({}, ({ changes, folder }) => {
        const { "base_model.model.model.layers.0.mlp.up_proj.lora_B.weight": _, ...rest } = weights(changes)
        fs.writeFileSync(path.join(folder, "adapter_model.safetensors"), safetensors(rest))
      })
      assert.match(message, /layers\.0\.mlp\.up_proj\.lora_B\.weight/)
    })
  )

  it.effect("names a tensor that is not a LoRA matrix", () =>
    Effect.gen(function* () {
      const { message } = yield* refusal({}, ({ changes, folder }) => {
        const stray = { "base_model.model.lm_head.weight": raw([1], Float32Array.of(1)) }
        fs.writeFileSync(path.join(folder, "adapter_model.safetensors"), safetensors({ ...weights(changes), ...stray }))
      })
      assert.match(message, /lm_head\.weight.*would be lost/)
    })
  )

  it.effect("says which of its files is missing", () =>
    Effect.gen(function* () {
      const { message, tag } = yield* refusal({}, ({ folder }) => fs.rmSync(path.join(folder, "adapter_config.json")))
      assert.strictEqual(tag, "Missing")
      assert.include(message, "adapter_config.json")
    })
  )

  it.effect("reports that its config is not JSON", () =>
    Effect.gen(function* () {
      const spoiled = yield* refusal({}, ({ folder }) =>
        fs.writeFileSync(path.join(folder, "adapter_config.json"), "[1")
      )
      assert.strictEqual(spoiled.tag, "Corrupt")
    })
  )

  it.effect.each([
    ["has other sizes", { architecture: "llama", seed: 9, hiddenSize: 32 }, /\[64,64\].*\[32,32\]/],
    ["has fewer layers", { architecture: "llama", seed: 9, layers: 1 }, /layers\.1.*no blk\.1/],
    ["groups its queries", { architecture: "llama", seed: 9, keyValueHeads: 2 }, /k_proj.*\[64,64\].*\[32,64\]/]
  ] as const)("is refused for a base that %s", ([, options, words]) =>
    Effect.gen(function* () {
      const prepared = yield* prepare({ architecture: "llama", seed: 8 })
      yield* Model.write(TinyModel.random(options), prepared.base)
      const error = yield* Effect.flip(convert(prepared))
      assert.strictEqual(error.reason._tag, "OtherBase")
      assert.match(error.message, words)
      assert.include(error.message, "base.gguf")
    })
  )

  it.effect("is refused for a base of another architecture", () =>
    Effect.gen(function* () {
      const prepared = yield* prepare({ architecture: "llama", seed: 8 })
      const base = yield* GgufReader.read(prepared.base)
      const metadata = { ...base.metadata, "general.architecture": { type: "string", value: "gemma" } as const }
      const adapter = yield* LoraAdapter.read(prepared.folder)
      const error = yield* Effect.flip(LoraAdapter.write(adapter, prepared.path, { base: { ...base, metadata } }))
      assert.match(error.message, /"gemma"; adapters are written for llama, qwen2, qwen3/)
    })
  )

  it.effect("is refused for one part of a base, and for an output layer that is the embedding", () =>
    Effect.gen(function* () {
      const prepared = yield* prepare({ architecture: "llama", seed: 8 })
      const base = yield* GgufReader.read(prepared.base)
      const adapter = yield* LoraAdapter.read(prepared.folder)
      const refused = (changes: LoraAdapter.LoraAdapter["changes"], metadata = base.metadata) =>
        Effect.flip(LoraAdapter.write({ changes }, prepared.path, { base: { ...base, metadata } }))
      const part = { ...base.metadata, "split.count": { type: "uint16", value: 4 } as const }
      assert.match((yield* refused(adapter.changes, part)).message, /one of 4 parts/)
      const [change] = Object.values(adapter.changes)
      assert.match(
        (yield* refused({ lm_head: change! })).message,
        /the output layer, which in this model is the embedding/
      )
    })
  )

  it.effect("is refused when llama.cpp would not scale it", () =>
    Effect.gen(function* () {
      assert.match((yield* refusal({ lora_alpha: 0 })).message, /alpha is 0/)
    })
  )
})

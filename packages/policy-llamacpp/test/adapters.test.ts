import path from "node:path"
import { GgufWriter, LoraAdapter, Metadata, Tensor } from "@divisi/gguf"
import * as GgufReader from "@divisi/gguf/GgufReader"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as LlamaCppModel from "../src/LlamaCppModel.ts"
import { folder, tiny } from "./model.ts"

const source = await tiny()

/** An adapter that changes the queries of the first layer. */
const adapter = Effect.fnUntraced(function* (name: string, size: number) {
  const file = path.join(folder, name)
  const matrix = (shape: ReadonlyArray<number>, step: number) => ({
    shape,
    data: Float32Array.from({ length: 128 }, (_, index) => size * Math.sin(step * index))
  })
  const change = { a: matrix([2, 64], 1), b: matrix([64, 2], 3), alpha: 2 }
  const changes = { "model.layers.0.self_attn.v_proj": change }
  yield* LoraAdapter.write({ changes }, file, { base: yield* GgufReader.read(source) })
  return file
})

const logProbs = (model: LlamaCppModel.LlamaCppModel) =>
  Effect.map(
    LlamaCppModel.sample(model, { prompt: [72, 101, 108, 108, 111], seed: 1, maxOutputTokens: 1 }),
    ({ logProbs }) => logProbs[0]!
  )

/** A tiny model of the architecture of Qwen3: attention without biases, queries and keys with a norm of their own. */
const qwen3 = Effect.fnUntraced(function* (name: string, changes: Readonly<Record<string, LoraAdapter.Change>>) {
  const qwen2 = yield* GgufReader.read(yield* Effect.promise(() => tiny({ architecture: "qwen2" }, "qwen2.gguf")))
  const metadata = Object.fromEntries(
    Object.entries(qwen2.metadata).map(([key, value]) => [key.replace(/^qwen2\./, "qwen3."), value])
  )
  const headSize =
    GgufReader.number(qwen2, "qwen2.embedding_length")! / GgufReader.number(qwen2, "qwen2.attention.head_count")!
  const norm = { shape: [headSize], data: new Float32Array(headSize).fill(1) }
  const layers = GgufReader.number(qwen2, "qwen2.block_count")!
  const kept = qwen2.tensors.filter(({ name }) => !name.endsWith(".bias"))
  const tensors = yield* Effect.forEach(kept, ({ name, shape }) =>
    Effect.promise(async () => {
      const data = Float32Array.from(await Tensor.collect(Result.getOrThrow(GgufReader.tensor(qwen2, name))))
      return { name, shape, data: merged(data, shape[1] ?? 1, changes[name]) }
    })
  )
  const norms = Array.from({ length: layers }, (_, block) =>
    ["attn_q_norm", "attn_k_norm"].map((at) => ({ ...norm, name: `blk.${block}.${at}.weight` }))
  ).flat()
  const file = path.join(folder, name)
  yield* GgufWriter.write(file, {
    metadata: { ...metadata, "general.architecture": Metadata.string("qwen3") },
    tensors: [...tensors, ...norms]
  })
  return file
})

/** A weight with a change of rank 2 added to it. */
const merged = (weight: Float32Array, columns: number, change: LoraAdapter.Change | undefined): Float32Array => {
  if (change === undefined) return weight
  const [a, b] = [change.a.data as Float32Array, change.b.data as Float32Array]
  return weight.map((value, at) => {
    const [row, column] = [Math.floor(at / columns), at % columns]
    return value + (change.alpha / 2) * (b[2 * row]! * a[column]! + b[2 * row + 1]! * a[columns + column]!)
  })
}

describe("adapters", () => {
  it.effect("give for a Qwen3 the results of the same model with the change in its weights", () =>
    Effect.gen(function* () {
      const file = yield* qwen3("qwen3.gguf", {})
      const base = yield* GgufReader.read(file)
      const wave = (shape: ReadonlyArray<number>, step: number) => ({
        shape,
        data: Float32Array.from({ length: shape[0]! * shape[1]! }, (_, index) => 0.7 * Math.sin(step * index))
      })
      const modules = { "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "mlp.down_proj": "ffn_down" }
      const changes = Object.entries(modules).map(([module, target], index) => {
        const [out, input] = base.tensors.find(({ name }) => name === `blk.0.${target}.weight`)!.shape
        const change = { a: wave([2, input!], index + 1), b: wave([out!, 2], index + 3), alpha: 2 }
        return { module: `model.layers.0.${module}`, target: `blk.0.${target}.weight`, change }
      })
      const written = path.join(folder, "qwen3-lora.gguf")
      const byModule = Object.fromEntries(changes.map(({ change, module }) => [module, change]))
      yield* LoraAdapter.write({ changes: byModule }, written, { base: yield* LoraAdapter.base(file) })
      const whole = yield* qwen3(
        "qwen3-merged.gguf",
        Object.fromEntries(changes.map(({ change, target }) => [target, change]))
      )
      const settings = { gpu: "none", contextTokens: 256, sequences: 1 } as const
      const [plain, expected] = [
        yield* LlamaCppModel.load({ source: file, ...settings }),
        yield* LlamaCppModel.load({ source: whole, ...settings })
      ]
      const tuned = yield* LlamaCppModel.withAdapters(plain, [{ path: written }])
      const [without, within, asWritten] = [yield* logProbs(plain), yield* logProbs(tuned), yield* logProbs(expected)]
      assert.approximately(within, asWritten, 1e-3)
      assert.isAbove(Math.abs(within - without), 1e-2)
    })
  )

  it.effect(
    "are applied with their scale, several at a time, each set in a context of its own on the same weights",
    () =>
      Effect.gen(function* () {
        const base = yield* LlamaCppModel.load({ source, gpu: "none", contextTokens: 256, sequences: 1 })
        const one = yield* adapter("one.gguf", 1)
        const two = yield* adapter("two.gguf", 0.5)
        const of = (adapters: ReadonlyArray<LlamaCppModel.Adapter>) =>
          Effect.flatMap(LlamaCppModel.withAdapters(base, adapters), logProbs)
        const none = yield* logProbs(base)
        assert.approximately(yield* of([{ path: one, scale: 0 }]), none, 1e-6)
        const all = yield* Effect.all([
          of([{ path: one }]),
          of([{ path: one, scale: 0.5 }]),
          of([{ path: two }]),
          of([{ path: one }, { path: two }])
        ])
        assert.strictEqual(new Set([none, ...all].map((value) => value.toFixed(5))).size, 5)
        assert.approximately(yield* logProbs(base), none, 1e-6)
      })
  )

  it.effect("share the weights, and leave memory with their scope", () =>
    Effect.gen(function* () {
      const base = yield* LlamaCppModel.load({ source, gpu: "none", contextTokens: 256, sequences: 1 })
      const file = yield* adapter("scoped.gguf", 1)
      const tuned = yield* Effect.scoped(
        Effect.gen(function* () {
          const [first, second] = yield* Effect.all([
            LlamaCppModel.withAdapters(base, [{ path: file }]),
            LlamaCppModel.withAdapters(base, [{ path: file }])
          ])
          assert.strictEqual(first, second)
          assert.strictEqual(first.llama, base.llama)
          return first
        })
      )
      assert.isTrue(tuned.runtime.scheduler.context.disposed)
      assert.isFalse(base.llama.disposed)
    })
  )
})

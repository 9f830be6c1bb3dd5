import path from "node:path"
import * as GgufReader from "@divisi/gguf/GgufReader"
import * as LoraAdapter from "@divisi/gguf/LoraAdapter"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
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

describe("adapters", () => {
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

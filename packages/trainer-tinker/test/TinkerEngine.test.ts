import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { GgufWriter, Metadata } from "@divisi/gguf"
import type { Datum, Engine, Loss } from "@divisi/trainer/Engine"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { connect, data, names, serve, tokenizer, toy } from "./world.ts"

const losses: ReadonlyArray<Loss> = [
  { type: "crossEntropy" },
  { type: "importanceSampling" },
  { type: "clippedRatio", low: 0.2, high: 0.2 },
  { type: "sequenceRatio", low: 0.2, high: 0.3 }
]

const adam = { learningRate: 0.1, beta1: 0.9, beta2: 0.99 }

/** Returns an engine's results for data after a step, and the norm of the step's gradient. */
const learn = (engine: Engine, calls: ReadonlyArray<ReadonlyArray<Datum>>, loss: Loss) =>
  Effect.gen(function* () {
    const passes = yield* Effect.forEach(calls, (part) => engine.forwardBackward(part, loss))
    const { gradientNorm } = yield* engine.step(adam)
    const after = yield* engine.forward(data)
    return {
      losses: passes.map((pass) => pass.loss!),
      gradientNorm: gradientNorm!,
      after: after.logProbs.map((one) => Array.from(one))
    }
  })

const close = (left: number, right: number) =>
  assert.isBelow(Math.abs(left - right), 1e-9 * Math.max(1, Math.abs(right)))

const same = (left: Effect.Success<ReturnType<typeof learn>>, right: Effect.Success<ReturnType<typeof learn>>) => {
  close(left.gradientNorm, right.gradientNorm)
  for (const [index, loss] of left.losses.entries()) close(loss, right.losses[index]!)
  for (const [index, values] of left.after.entries()) {
    for (const [at, value] of values.entries()) close(value, right.after[index]![at]!)
  }
}

describe("TinkerEngine", () => {
  for (const name of names) {
    describe(name, () => {
      it.live("computes the very sums of an engine in this process, whatever the server's reduction", () =>
        Effect.gen(function* () {
          for (const loss of losses) {
            const server = yield* serve({ dialect: name })
            const engine = yield* connect(server, { dialect: name })
            const local = toy()
            // One call a step, then several, more and fewer: what was planned for fits none of them.
            const steps = [[data], [data.slice(0, 1), data.slice(1, 2), data.slice(2)], [data], [data.slice(1)]]
            for (const calls of steps) same(yield* learn(engine, calls, loss), yield* learn(local, calls, loss))
          }
        }).pipe(Effect.scoped)
      )

      it.live("samples what an engine in this process samples", () =>
        Effect.gen(function* () {
          const engine = yield* connect(yield* serve({ dialect: name }), { dialect: name })
          const request = { prompt: tokenizer.encode("hi"), maxTokens: 6, count: 3, seed: 11 }
          const draw = (from: Engine) => Effect.flatMap(from.sampler, (sampler) => sampler.sample(request))
          assert.deepStrictEqual(yield* draw(engine), yield* draw(toy()))
        }).pipe(Effect.scoped)
      )
    })
  }

  it.live("refuses a base whose adapter could not be exported before it asks the server for anything", () =>
    Effect.gen(function* () {
      const server = yield* serve({ dialect: "hosted" })
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-base-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => fs.rmSync(folder, { recursive: true })))
      const file = path.join(folder, "base.gguf")
      const metadata = { "general.architecture": Metadata.string("deepseek2") }
      yield* GgufWriter.write(file, { metadata, tensors: [] })
      const error = yield* Effect.flip(connect(server, { dialect: "hosted", baseGguf: file }))
      assert.match(error.message, /could not be exported as gguf-lora\..*"deepseek2"; adapters are written for llama/)
      assert.deepStrictEqual(server.counts(), {})
    }).pipe(Effect.scoped)
  )
})

/** The engine, held to the forward pass in plain TypeScript, to finite differences and to llama.cpp. */
import fs from "node:fs"
import path from "node:path"
import type { Datum, Loss } from "@divisi/trainer/Engine"
import * as JaxEngine from "@divisi/trainer-jax/JaxEngine"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { data, present } from "./learning.ts"
import { difference, distributions, make, temporaryFolder, tokenizer, tokens } from "./model.ts"

describe("forward", () => {
  it.effect.each([
    ["tied", {}],
    ["with grouped queries and an output layer", { keyValueHeads: 2, tiedEmbeddings: false, headSize: 12, layers: 3 }]
  ] as const)("log-probabilities of a model %s are those of the forward pass in TypeScript", ([, config]) =>
    Effect.gen(function* () {
      const model = make(config)
      const engine = yield* JaxEngine.make(model.options)
      const { entropies, logProbs } = yield* engine.forward(data)
      for (const [place, { completion, prompt }] of data.entries()) {
        const expected = distributions(model, prompt, completion)
        assert.isBelow(difference(logProbs[place]!, expected.logProbs), 1e-4)
        assert.isBelow(difference(entropies![place]!, expected.entropies), 1e-4)
      }
    })
  )
})

describe("sampler", () => {
  it.effect.each(["embedded", "llamacpp"] as const)("%s: its log-probabilities are those of the engine", (sampling) =>
    Effect.gen(function* () {
      const engine = yield* JaxEngine.make({ ...make().options, sampling })
      const sampler = yield* engine.sampler
      for (const prompt of [tokens(30, 1), tokens(1, 2)]) {
        const samples = yield* sampler.sample({ prompt, maxTokens: 20, count: 5, seed: 1 })
        assert.strictEqual(samples.length, 5)
        const { logProbs } = yield* engine.forward(samples.map(({ tokens }) => ({ prompt, completion: tokens })))
        for (const [place, sample] of samples.entries()) {
          assert.isBelow(difference(sample.logProbs, logProbs[place]!), 1e-4)
        }
      }
    })
  )
})

describe("states", () => {
  it.effect("of another model, and files that are not states, are refused and change nothing", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const engine = yield* JaxEngine.make(make().options)
      const before = yield* present(engine)
      const other = yield* JaxEngine.make(make({ layers: 1 }).options)
      const saved = yield* other.save("other", folder)
      fs.writeFileSync(path.join(folder, "cut"), fs.readFileSync(path.join(folder, saved.reference)).subarray(0, 9000))
      const failure = (reference: string) => Effect.flip(engine.load({ reference, version: 0 }, folder))
      assert.match((yield* failure(saved.reference)).message, /does not fit: it belongs to the model .*"layers":1/)
      assert.match((yield* failure("cut")).message, /The file has 9000 bytes/)
      const missing = yield* failure("nothing.safetensors")
      assert.strictEqual(missing.reason._tag, "Expired")
      assert.match((yield* Effect.flip(engine.save("../up", folder))).message, /"\.\.\/up" is not a valid file name/)
      assert.deepStrictEqual(yield* present(engine), before)
    })
  )
})

describe("requests", () => {
  const refused: ReadonlyArray<readonly [string, Datum, Loss, RegExp]> = [
    [
      "without a prompt",
      { prompt: [], completion: [1] },
      { type: "crossEntropy" },
      /datum 0: its prompt has no tokens/
    ],
    ["without a completion", { prompt: [1], completion: [] }, { type: "crossEntropy" }, /its completion has no tokens/],
    ["of strange tokens", { prompt: [1], completion: [999] }, { type: "crossEntropy" }, /999 is not a token in a voc/],
    [
      "too long",
      { prompt: tokens(120, 1), completion: tokens(9, 1) },
      { type: "crossEntropy" },
      /129 tokens do not fit/
    ],
    [
      "with too few weights",
      { prompt: [1], completion: [2, 3], weights: [1] },
      { type: "crossEntropy" },
      /1 weights for 2 tokens/
    ],
    [
      "without advantages",
      { prompt: [1], completion: [2] },
      { type: "importanceSampling" },
      /no advantages, which imp/
    ],
    [
      "without probabilities",
      { prompt: [1], completion: [2], advantages: [1] },
      { type: "clippedRatio", low: 0.2, high: 0.2 },
      /no logProbs, which clippedRatio/
    ]
  ]

  it.effect.each(refused)("%s are refused", ([, datum, loss, words]) =>
    Effect.gen(function* () {
      const engine = yield* JaxEngine.make(make().options)
      assert.match((yield* Effect.flip(engine.forwardBackward([datum], loss))).message, words)
    })
  )

  it.effect("that fail add nothing to the gradient, and a gradient that is not a number changes no weights", () =>
    Effect.gen(function* () {
      const loss: Loss = { type: "importanceSampling" }
      const engine = yield* JaxEngine.make(make().options)
      const before = yield* present(engine)
      const [first] = data
      const spoilt = { ...first!, advantages: tokens(5, 1).map(() => NaN), logProbs: tokens(5, 1) }
      yield* engine.forwardBackward([spoilt], loss)
      const error = yield* Effect.flip(engine.step({ learningRate: 1 }))
      assert.match(error.message, /the gradient is not finite; the weights were not changed/)
      assert.deepStrictEqual(yield* present(engine), before)
      yield* Effect.flip(engine.forwardBackward([first!, { prompt: [1], completion: [] }], loss))
      assert.deepInclude(yield* engine.step({ learningRate: 1 }), { gradientNorm: 0, version: 1 })
      assert.deepStrictEqual((yield* present(engine)).samples, before.samples)
    })
  )

  it.effect("are cut so that they fit into the memory, and give the same", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 11 }, (_, index) => {
        return { prompt: tokens(20, 1), completion: tokens(2 + index, index + 2) }
      })
      const gradients: Array<number> = []
      for (const memoryBytes of [1e9, 7.5e6]) {
        const engine = yield* JaxEngine.make({ ...make().options, memoryBytes })
        const { logProbs } = yield* engine.forwardBackward(many, { type: "crossEntropy" })
        assert.deepStrictEqual(
          logProbs.map(({ length }) => length),
          many.map(({ completion }) => completion.length)
        )
        gradients.push((yield* engine.step({ learningRate: 1 })).gradientNorm!)
      }
      assert.approximately(gradients[0]! / gradients[1]!, 1, 1e-5)
    })
  )

  it.effect("settings that make no sense are refused", () =>
    Effect.gen(function* () {
      const { options } = make()
      const problem = (changed: object) =>
        Effect.map(Effect.flip(JaxEngine.make({ ...options, ...changed })), ({ message }) => message)
      assert.match(yield* problem({ threads: 0 }), /"threads" must be a whole number from 1 to 1024, not 0/)
      assert.match(yield* problem({ memoryBytes: 5e9 }), /"memoryBytes" must be a whole number from 1 to 3000000000/)
      assert.match(
        yield* problem({ config: { ...make().config, architecture: "qwen2" } }),
        /llama architecture, not qwen2/
      )
      assert.match(yield* problem({ config: { ...make().config, heads: 5 }, tensors: undefined }), /"headSize": 6.4/)
      assert.match(yield* problem({ tokenizer: { ...tokenizer, chatTemplate: "{{ x }}" } }), /pass `render`/)
      assert.match(yield* problem({ from: "missing.gguf" }), /"from" and "config" cannot be used together/)
      const missing = yield* Effect.flip(JaxEngine.make({ from: "missing.gguf" }))
      assert.match(missing.message, /missing\.gguf: There is no such file/)
    })
  )
})

import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import * as Decoder from "../src/Decoder.ts"
import * as Model from "../src/Model.ts"
import * as TinyModel from "../src/TinyModel.ts"
import { temporaryFile } from "./files.ts"
import { largestDifference } from "./llama.ts"

const cases: ReadonlyArray<readonly [string, TinyModel.Options]> = [
  ["llama", { architecture: "llama", seed: 1 }],
  ["llama whose heads are not hiddenSize / heads", { architecture: "llama", seed: 6, headSize: 32, keyValueHeads: 2 }],
  ["qwen2 with grouped queries", { architecture: "qwen2", seed: 4, keyValueHeads: 1 }],
  [
    "sizes that are no multiples of anything, with an output layer of its own",
    {
      architecture: "llama",
      seed: 5,
      tiedEmbeddings: false,
      hiddenSize: 90,
      heads: 3,
      keyValueHeads: 1,
      layers: 3,
      feedForwardSize: 201,
      normEpsilon: 1e-6,
      ropeTheta: 500_000,
      vocabularySize: 301
    }
  ]
]

const tokens = Array.from({ length: 37 }, (_, index) => (index * 37 + 11) % 256)

/** The logits after every token, appended in pieces of a length. */
const inPieces = (decoder: Decoder.Decoder, length: number) => {
  const cache = decoder.cache()
  const logits: Array<Float32Array> = []
  for (let at = 0; at < tokens.length; at += length) {
    logits.push(decoder.append(cache, tokens.slice(at, at + length)).slice())
  }
  return logits
}

describe("Decoder", () => {
  it.each(cases)("gives the logits of the whole forward pass: %s", (_, options) => {
    const model = TinyModel.random(options)
    const found = inPieces(Decoder.make(model), 1)
    assert.isBelow(largestDifference(TinyModel.forward(model, tokens), found), 1e-5)
  })

  it("gives the same bits however tokens are cut into calls, and after others were taken back", () => {
    const decoder = Decoder.make(TinyModel.random({ architecture: "llama", seed: 2, feedForwardSize: 97 }))
    const last = inPieces(decoder, 1).at(-1)!
    for (const length of [3, 16, 19, 37]) assert.deepStrictEqual(inPieces(decoder, length).at(-1), last)
    const cache = decoder.cache()
    decoder.append(cache, [...tokens.slice(0, 20), 7, 7, 7])
    cache.truncate(20)
    assert.deepStrictEqual(decoder.append(cache, tokens.slice(20)), last)
  })

  it("continues from another cache's state, which stays unchanged", () => {
    const decoder = Decoder.make(TinyModel.random({ architecture: "llama", seed: 2 }))
    const last = inPieces(decoder, 37)[0]!
    const [first, second] = [decoder.cache(), decoder.cache()]
    decoder.append(first, tokens.slice(0, 30))
    decoder.append(second, [1, 2, 3])
    second.copy(first, 25)
    assert.deepStrictEqual(second.tokens, tokens.slice(0, 25))
    decoder.append(second, [9, 9])
    assert.deepStrictEqual(decoder.append(first, tokens.slice(30)), last)
    second.truncate(25)
    assert.deepStrictEqual(decoder.append(second, tokens.slice(25)), last)
  })

  it("runs weights in half precision as they are read", () =>
    Effect.gen(function* () {
      const model = TinyModel.random({ architecture: "llama", seed: 7 })
      const { path } = yield* Model.write(model, yield* temporaryFile("half.gguf"), { type: "F16" })
      const read = yield* Model.read(path)
      const found = inPieces(Decoder.make(read), 1)
      assert.isBelow(largestDifference(TinyModel.forward(read, tokens), found), 1e-5)
      assert.isAbove(largestDifference(TinyModel.forward(model, tokens), found), 1e-5)
    }).pipe(Effect.scoped, Effect.runPromise))

  it("says what it cannot append, and which tensor a model lacks", () => {
    const model = TinyModel.random({ architecture: "llama", seed: 1, contextLength: 8 })
    const decoder = Decoder.make(model)
    const cache = decoder.cache()
    assert.throws(() => decoder.append(cache, tokens.slice(0, 9)), /9 tokens; the limit is 1 to 8/)
    assert.throws(() => decoder.append(cache, []), RangeError)
    assert.throws(() => decoder.append(cache, [1, 259]), /259 is not a token in a vocabulary of 259/)
    assert.throws(() => decoder.append(cache, [-1]), RangeError)
    assert.deepStrictEqual(cache.tokens, [])
    const { "model.norm.weight": _, ...rest } = model.tensors
    assert.throws(() => Decoder.make({ ...model, tensors: rest }), /lacks the tensor model\.norm\.weight/)
  })
})

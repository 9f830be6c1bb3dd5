/** Random models: the same for the same seed, and fit to be asked. */

import { TinyModel } from "@divisi/gguf"
import { assert, describe, it } from "@effect/vitest"

describe("a random model", () => {
  it("is the same for the same seed and another for another", () => {
    const make = (seed: number) => TinyModel.random({ architecture: "llama", seed })
    assert.deepStrictEqual(make(4).tensors, make(4).tensors)
    assert.notDeepEqual(make(4).tensors, make(5).tensors)
  })

  it("has weights that are normally distributed", () => {
    const { data, shape } = TinyModel.random({ architecture: "llama", seed: 4 }).tensors["model.embed_tokens.weight"]!
    const mean = data.reduce((sum, value) => sum + value, 0) / data.length
    const variance = data.reduce((sum, value) => sum + value * value, 0) / data.length
    assert.approximately(mean, 0, 0.005)
    assert.approximately(variance * shape[1]!, 1, 0.05)
    assert.approximately(data.filter((value) => Math.abs(value) < 1 / 8).length / data.length, 0.683, 0.02)
  })

  it("sees what came before, not what comes after", () => {
    const model = TinyModel.random({ architecture: "qwen2", seed: 6, keyValueHeads: 2 })
    const long = TinyModel.forward(model, [1, 2, 3, 4])
    assert.deepStrictEqual(TinyModel.forward(model, [1, 2, 3]), long.slice(0, 3))
    assert.notDeepEqual(TinyModel.forward(model, [2, 1, 3])[2], long[2])
  })

  it("refuses invalid tokens", () => {
    const model = TinyModel.random({ architecture: "llama", seed: 6 })
    assert.throws(() => TinyModel.forward(model, [259]), /259 is not a token in a vocabulary of 259/)
  })
})

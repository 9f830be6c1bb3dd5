/**
 * The sampler's guarantee: the bits of a request are the same, no matter how many other requests are computed with it.
 */
import type { Model } from "@divisi/gguf"
import { assert, describe, it } from "@effect/vitest"
import * as ExactSampler from "../../src/internal/exactSampler.ts"
import * as Initial from "../../src/internal/initial.ts"
import * as Library from "../../src/internal/library.ts"
import * as State from "../../src/internal/state.ts"
import * as ThreadTask from "../../src/internal/threadTask.ts"
import { tokens } from "../model.ts"

const base = { architecture: "llama", layers: 2, contextLength: 640, tiedEmbeddings: true } as const

/** Sizes that jax-js multiplies in different ways: multiples of 16, of 4, and neither. */
const configs: ReadonlyArray<Model.Config> = [
  { ...base, hiddenSize: 128, heads: 4, vocabularySize: 1000, feedForwardSize: 256 },
  { ...base, hiddenSize: 32, heads: 4, vocabularySize: 271, feedForwardSize: 48 },
  { ...base, hiddenSize: 48, heads: 6, keyValueHeads: 2, vocabularySize: 300, feedForwardSize: 100 },
  { ...base, hiddenSize: 90, heads: 5, headSize: 18, vocabularySize: 333, feedForwardSize: 201, layers: 1 }
]

const part = (place: number, count: number, length: number): ExactSampler.Part => {
  return { prompt: tokens(length + 3 * place, place), count, maxTokens: 20, seed: 50 * place }
}

describe("requests", () => {
  it.each(configs)("have the same bits alone and with others: $hiddenSize numbers, $heads heads", async (config) => {
    const { snapshot } = State.make(config, Initial.initial(config, 1))
    const memory = ThreadTask.make(await Library.load())
    const sample = async (parts: ReadonlyArray<ExactSampler.Part>) => {
      const weights = memory.weights.has(snapshot.id) ? undefined : snapshot
      const task = { type: "sample", parts, endToken: 7 } as const
      const found = await ThreadTask.run(memory, { id: snapshot.id, weights, forget: [], task })
      return found as ThreadTask.Results["sample"]
    }
    for (const [count, length] of [
      [1, 40],
      [3, 40],
      [5, 100],
      [12, 100],
      [16, 300]
    ] as const) {
      const queue = Array.from({ length: 7 }, (_, place) => ({ part: part(place, count, length) }))
      const seen = new Set<number>()
      for (const first of queue.slice()) {
        const taken = ExactSampler.take(queue, first, 1)
        if (taken.length === 0) continue
        seen.add(taken.length)
        const together = await sample(taken.map(({ part }) => part))
        for (const [place, { part }] of taken.entries()) {
          const [alone] = await sample([part])
          assert.deepStrictEqual(together[place], alone, `${count} completions, ${taken.length} prompts`)
        }
      }
      // Pending parts are taken in sequence; with few completions, as many as there are slots.
      assert.deepStrictEqual([...seen], count === 1 ? [7] : count < 5 ? [1] : [4, 2, 1])
    }
  })
})

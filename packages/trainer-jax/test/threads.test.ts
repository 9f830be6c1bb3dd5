/** Threads: the same numbers, but for rounding, and the same bits with the same number of them. */
import { assert, describe, it } from "@effect/vitest"
import * as JaxEngine from "@tutti/trainer-jax/JaxEngine"
import * as Effect from "effect/Effect"
import { difference, distributions, make, tokens } from "./model.ts"

const prompt = tokens(60, 1)
const data = Array.from({ length: 8 }, (_, index) => ({ prompt, completion: tokens(30, index + 2) }))

const train = (options: JaxEngine.Options) =>
  Effect.scoped(
    Effect.gen(function* () {
      const engine = yield* JaxEngine.make(options)
      const first = yield* engine.forwardBackward(data, { type: "crossEntropy" })
      const step = yield* engine.step({ learningRate: 1e-2 })
      const sampler = yield* engine.sampler
      return { first, step, samples: yield* sampler.sample({ prompt, maxTokens: 8, count: 4, seed: 1 }) }
    })
  )

describe("two threads", () => {
  it.effect("compute what the forward pass in TypeScript does, and the same bits each time", () =>
    Effect.gen(function* () {
      const model = make({ vocabularySize: 512 })
      const options = { ...model.options, threads: 2 }
      const one = yield* train(options)
      for (const [place, { completion }] of data.entries()) {
        const { logProbs } = distributions(model, prompt, completion)
        assert.isBelow(difference(one.first.logProbs[place]!, logProbs), 1e-4)
      }
      assert.deepStrictEqual(yield* train(options), one)
    })
  )

  it.effect("are not mixed with one", () =>
    Effect.gen(function* () {
      const { options } = make()
      yield* Effect.scoped(JaxEngine.make({ ...options, threads: 2 }))
      const error = yield* Effect.flip(Effect.scoped(JaxEngine.make({ ...options, threads: 1 })))
      assert.match(error.message, /could not start: jax-js .* runs with 2 threads in this process, and 1 are asked for/)
    })
  )
})

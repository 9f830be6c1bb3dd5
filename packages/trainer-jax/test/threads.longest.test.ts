/** Threads: however many there are, what is computed has the same bits, and is what the forward pass in TypeScript says. */

import * as JaxEngine from "@divisi/trainer-jax/JaxEngine"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Pool from "effect/Pool"
import * as Operations from "../src/internal/operations.ts"
import { core, difference, distributions, make, tokens } from "./model.ts"

const prompts = [60, 20, 41].map((length) => tokens(length, length))

const data = Array.from({ length: 12 }, (_, index) => {
  return { prompt: prompts[index % 3]!, completion: tokens(3 + 2 * index, index + 2) }
})

const loss = { type: "crossEntropy" } as const

const train = (options: JaxEngine.Options) =>
  Effect.scoped(
    Effect.gen(function* () {
      const engine = yield* JaxEngine.make(options)
      const first = yield* engine.forwardBackward(data, loss)
      yield* engine.step({ learningRate: 1e-2 })
      const second = yield* engine.forwardBackward(data, loss)
      const step = yield* engine.step({ learningRate: 1e-2 })
      const sampler = yield* engine.sampler
      const requests = [4, 1, 20, 1, 1, 3, 9, 12, 12].map((count, index) =>
        sampler.sample({ prompt: prompts[index % 3]!, maxTokens: 8, count, seed: index })
      )
      const samples = yield* Effect.all(requests, { concurrency: "unbounded" })
      return { first, second, step, samples }
    })
  )

describe("threads", () => {
  it.live("of any number compute the same bits, which are right", () =>
    Effect.gen(function* () {
      const model = make({ vocabularySize: 512 })
      const one = yield* train(model.options)
      for (const [place, { completion, prompt }] of data.entries()) {
        const { logProbs } = distributions(model, prompt, completion)
        assert.isBelow(difference(one.first.logProbs[place]!, logProbs), 1e-4)
      }
      assert.notDeepEqual(one.second.logProbs, one.first.logProbs)
      for (const threads of [2, 3]) assert.deepStrictEqual(yield* train({ ...model.options, threads }), one)
    })
  )

  it.live("sample from the weights of their moment, also when these have been replaced many times", () =>
    Effect.gen(function* () {
      const engine = yield* JaxEngine.make({ ...make().options, threads: 2 })
      const request = { prompt: prompts[0]!, maxTokens: 8, count: 4, seed: 1 }
      const sampler = yield* engine.sampler
      const before = yield* sampler.sample(request)
      for (let step = 0; step < 6; step++) {
        yield* engine.forwardBackward(data, loss)
        yield* engine.step({ learningRate: 1e-1 })
      }
      const later = yield* engine.sampler
      assert.notDeepEqual(yield* later.sample(request), before)
      assert.deepStrictEqual(yield* sampler.sample(request), before)
    })
  )

  it.live("that hold too much are replaced, which changes nothing", () =>
    Effect.gen(function* () {
      const model = make()
      const learn = (mostBytes: number) =>
        Effect.scoped(
          Effect.gen(function* () {
            const inside = yield* core(model, { mostBytes })
            const present = Pool.use(inside.threads.pool, ({ worker }) => Effect.succeed(worker.threadId))
            const before = yield* present
            yield* Operations.forwardBackward(inside, data, loss)
            return { gradient: inside.state.gradient, isReplaced: (yield* present) !== before }
          })
        )
      const [kept, replaced] = [yield* learn(1e9), yield* learn(1)]
      assert.deepStrictEqual([kept.isReplaced, replaced.isReplaced], [false, true])
      assert.deepStrictEqual(replaced.gradient, kept.gradient)
    })
  )

  it.live("continue for others after one caller has left", () =>
    Effect.gen(function* () {
      const engine = yield* JaxEngine.make({ ...make().options, threads: 1 })
      const sampler = yield* engine.sampler
      const request = (seed: number) => sampler.sample({ prompt: prompts[0]!, maxTokens: 8, seed })
      const alone = yield* request(3)
      const [first] = yield* Effect.all(
        [request(3), Effect.timeoutOption(request(4), 1), Effect.timeoutOption(request(5), 5), request(6)],
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(first, alone)
    })
  )
})

/**
 * Checks that memory stays flat: samples, learns and steps as training does, for some minutes, and reports the
 * process's memory.
 *
 *     node --expose-gc --conditions=@divisi/source packages/trainer-jax/bench/memory.ts [--minutes 20] [--sampling llamacpp]
 */
import * as JaxEngine from "@divisi/trainer-jax/JaxEngine"
import * as Effect from "effect/Effect"
import { configOf, load, number, print, text, tokenizer, tokens } from "./options.ts"

const minutes = number("minutes", 20)
const every = number("every", 30)
const vocabularySize = 1000
const sampling = text("sampling", "embedded") === "llamacpp" ? "llamacpp" : "embedded"

const program = Effect.gen(function* () {
  const engine = yield* JaxEngine.make({
    config: configOf(text("size", "128x3"), vocabularySize),
    tokenizer,
    threads: number("threads", 1),
    sampling
  })
  const start = performance.now()
  let told = start
  for (let iteration = 0; performance.now() - start < minutes * 60_000; iteration++) {
    const prompts = [0, 1].map((place) => tokens(100 + ((iteration * 37) % 150), iteration * 2 + place, 250))
    const data = yield* Effect.scoped(
      Effect.gen(function* () {
        const sampler = yield* engine.sampler
        const groups = yield* Effect.forEach(
          prompts,
          (prompt) => sampler.sample({ prompt, maxTokens: 24, count: 16, seed: iteration }),
          { concurrency: "unbounded" }
        )
        return groups.flatMap((samples, place) =>
          samples.map(({ logProbs, tokens }, index) => {
            const advantages = tokens.map(() => (index % 2 === 0 ? 1 : -1))
            return { prompt: prompts[place]!, completion: tokens, logProbs, advantages }
          })
        )
      })
    )
    yield* engine.forwardBackward(data, { type: "clippedRatio", low: 0.2, high: 0.2 })
    yield* engine.step({ learningRate: 1e-4, maxGradientNorm: 1 })
    if (performance.now() - told < every * 1000 && iteration > 0) continue
    told = performance.now()
    globalThis.gc?.()
    const { external, heapUsed, rss } = process.memoryUsage()
    const megabytes = (bytes: number) => Math.round(bytes / 1e6)
    const seconds = Math.round((told - start) / 1000)
    print({
      seconds,
      iteration,
      rss: megabytes(rss),
      heap: megabytes(heapUsed),
      external: megabytes(external),
      load: load()
    })
  }
})

await Effect.runPromise(Effect.scoped(program))

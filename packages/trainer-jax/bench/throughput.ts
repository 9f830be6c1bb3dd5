/**
 * How fast the engine trains: tokens of completions per second, with shared prompts and with the prompt repeated for
 * each completion.
 *
 *     node --conditions=@divisi/source packages/trainer-jax/bench/throughput.ts [--size 128x3] [--threads 1] [--groups 4]
 */
import type { Datum } from "@divisi/trainer/Engine"
import * as JaxEngine from "@divisi/trainer-jax/JaxEngine"
import * as Effect from "effect/Effect"
import { configOf, load, number, print, text, tokenizer, tokens } from "./options.ts"

const size = text("size", "128x3")
const threads = number("threads", 1)
const groups = number("groups", 4)
const passes = number("passes", 3)
const vocabularySize = number("vocabulary", 1000)
const [promptTokens, completions, completionTokens] = [256, 16, 48]
const config = configOf(size, vocabularySize)

const data: ReadonlyArray<Datum> = Array.from({ length: groups }, (_, group) => {
  const prompt = tokens(promptTokens, group, vocabularySize)
  return Array.from({ length: completions }, (_, place) => {
    const completion = tokens(completionTokens, group * 100 + place, vocabularySize)
    const numbers = completion.map(() => 0.5)
    return { prompt, completion, advantages: numbers, logProbs: completion.map(() => -7) }
  })
}).flat()

/** The first token tells the prompts apart, so that nothing is shared. */
const repeated = data.map((datum, place) => ({ ...datum, prompt: [place, ...datum.prompt.slice(1)] }))

const loss = { type: "clippedRatio", low: 0.2, high: 0.2 } as const

const measure = Effect.fnUntraced(function* (data: ReadonlyArray<Datum>) {
  const engine = yield* JaxEngine.make({ config, tokenizer, threads })
  const seconds = Effect.fnUntraced(function* (run: Effect.Effect<unknown, unknown>) {
    const start = performance.now()
    yield* run
    return (performance.now() - start) / 1000
  })
  const step = engine.step({ learningRate: 1e-4, maxGradientNorm: 1 })
  const first = yield* seconds(Effect.andThen(engine.forwardBackward(data, loss), step))
  const cpu = process.cpuUsage()
  let backward = 0
  let stepping = 0
  for (let pass = 0; pass < passes; pass++) {
    backward += yield* seconds(engine.forwardBackward(data, loss))
    stepping += yield* seconds(step)
  }
  const { system, user } = process.cpuUsage(cpu)
  yield* engine.forward(data)
  const forward = yield* seconds(engine.forward(data))
  const learned = groups * completions * completionTokens
  const used = data.length * completionTokens + new Set(data.map(({ prompt }) => prompt)).size * promptTokens
  return {
    "completion tokens per second": Math.round((learned * passes) / backward),
    "completion tokens per second of a processor": Math.round((learned * passes) / ((system + user) / 1e6)),
    "computed tokens per second": Math.round((used * passes) / backward),
    "forward, completion tokens per second": Math.round(learned / forward),
    "step, milliseconds": Math.round((stepping * 1000) / passes),
    "first pass, seconds": Number(first.toFixed(2)),
    "resident memory, megabytes": Math.round(process.memoryUsage().rss / 1e6)
  }
}, Effect.scoped)

const results = await Effect.runPromise(
  Effect.gen(function* () {
    return { shared: yield* measure(data), repeated: yield* measure(repeated) }
  })
)
print({ size, threads, groups, load: load(), ...results })

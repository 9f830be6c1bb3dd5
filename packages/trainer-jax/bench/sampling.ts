/**
 * How fast completions are sampled, by the engine itself and by llama.cpp, and what a new sampler costs.
 *
 *     node --conditions=@divisi/source packages/trainer-jax/bench/sampling.ts [--sampling llamacpp] [--prompt 200] [--singles]
 */
import type { Engine } from "@divisi/trainer/Engine"
import * as JaxEngine from "@divisi/trainer-jax/JaxEngine"
import * as Effect from "effect/Effect"
import { configOf, load, number, print, text, tokenizer, tokens } from "./options.ts"

const sampling = text("sampling", "embedded") === "llamacpp" ? "llamacpp" : "embedded"
const sequences = number("sequences", 16)
const promptTokens = number("prompt", 200)
const maxTokens = number("tokens", 48)
const prompts = number("prompts", 8)
const isSingle = process.argv.includes("--singles")

const round = Effect.fnUntraced(function* (engine: Engine, index: number) {
  const start = performance.now()
  const sampler = yield* engine.sampler
  const opened = performance.now()
  const before = process.cpuUsage()
  const requests = Array.from({ length: prompts * (isSingle ? 16 : 1) }, (_, place) => ({
    prompt: tokens(promptTokens, place + index * 1000, 250),
    count: isSingle ? 1 : 16,
    maxTokens,
    seed: place * 100
  }))
  const found = yield* Effect.forEach(requests, sampler.sample, { concurrency: "unbounded" })
  const ended = performance.now()
  const { system, user } = process.cpuUsage(before)
  const sampled = found.flat().reduce((sum, { tokens }) => sum + tokens.length, 0)
  return {
    "opened in milliseconds": Math.round(opened - start),
    "tokens per second": Math.round((sampled * 1000) / (ended - opened)),
    "tokens per second of a processor": Math.round((sampled * 1e6) / (system + user))
  }
}, Effect.scoped)

const program = Effect.gen(function* () {
  const config = configOf(text("size", "128x3"), 1000)
  const engine = yield* JaxEngine.make({ config, tokenizer, threads: number("threads", 1), sequences, sampling })
  yield* round(engine, 0)
  const second = yield* round(engine, 1)
  const resident = Math.round(process.memoryUsage().rss / 1e6)
  const shape = { promptTokens, maxTokens, prompts, isSingle, "resident memory, megabytes": resident }
  print({ sampling, sequences: sampling === "llamacpp" ? sequences : undefined, ...shape, ...second, load: load() })
})

await Effect.runPromise(Effect.scoped(program))

/**
 * Holds a real server of the Tinker API to what a run needs of it: supervised learning, reinforcement learning, saving,
 * resuming, and an adapter that llama.cpp loads and that says there what it said at the server.
 *
 *     node --conditions=@divisi/source scripts/skyrl-check.ts URL --tokenizer FOLDER [--base-gguf FILE]
 *       [--base-model NAME] [--dialect skyrl-jax|skyrl-fsdp|hosted] [--rank 8] [--rate 0.01] [--wire json|protobuf]
 *
 * A slow server is waited for: the first pass of each length is compiled, and a large model takes minutes to load.
 */
import fs from "node:fs/promises"
import os from "node:os"
import path from "node:path"
import { parseArgs } from "node:util"
import * as LlamaCppModel from "@divisi/policy-llamacpp/LlamaCppModel"
import type { Datum, Engine } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Dialect from "../src/Dialect.ts"
import * as HuggingFaceTokenizer from "../src/HuggingFaceTokenizer.ts"
import * as TinkerClient from "../src/TinkerClient.ts"
import * as TinkerEngine from "../src/TinkerEngine.ts"

// -------------------------------------------------------------------------------------------------------------------
// Options
// -------------------------------------------------------------------------------------------------------------------

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    tokenizer: { type: "string" },
    "base-gguf": { type: "string" },
    "base-model": { type: "string" },
    dialect: { type: "string" },
    rank: { type: "string", default: "8" },
    rate: { type: "string", default: "0.01" },
    wire: { type: "string", default: "json" }
  }
})
const [url] = positionals
if (url === undefined || values.tokenizer === undefined) {
  console.error("Give the server's URL and --tokenizer FOLDER; see the head of this file.")
  process.exit(2)
}

const apiKey = process.env.TINKER_API_KEY
const wire = values.wire === "protobuf" ? "protobuf" : "json"
const rate = Number(values.rate)

// -------------------------------------------------------------------------------------------------------------------
// Checks
// -------------------------------------------------------------------------------------------------------------------

let failures = 0
const started = performance.now()

const check = (what: string, isTrue: boolean, detail: string) => {
  if (!isTrue) failures += 1
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${isTrue ? "ok  " : "FAIL"} ${seconds.padStart(7)} s  ${what}: ${detail}`)
}

const mean = (numbers: ReadonlyArray<number>) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length
const short = (numbers: ReadonlyArray<number>) => numbers.map((number) => number.toFixed(3)).join(" ")

// -------------------------------------------------------------------------------------------------------------------
// Learning
// -------------------------------------------------------------------------------------------------------------------

/** Fifty questions with their answers. */
const examplesOf = ({ tokenizer }: Engine): ReadonlyArray<Datum> =>
  Array.from({ length: 50 }, (_, index) => ({
    prompt: tokenizer.render([{ role: "user", content: `What is ${index} plus 1?` }]),
    completion: [...tokenizer.encode(`The answer is ${index + 1}.`), tokenizer.endToken]
  }))

/** So that the loss is the mean over all tokens. */
const averaged = (data: ReadonlyArray<Datum>): ReadonlyArray<Datum> => {
  const tokens = data.reduce((sum, { completion }) => sum + completion.length, 0)
  return data.map((datum) => ({ ...datum, weights: datum.completion.map(() => 1 / tokens) }))
}

const supervise = (engine: Engine, data: ReadonlyArray<Datum>) =>
  Effect.gen(function* () {
    const losses: Array<number> = []
    for (let step = 0; step < 8; step++) {
      losses.push((yield* engine.forwardBackward(data, { type: "crossEntropy" })).loss!)
      yield* engine.step({ learningRate: rate })
    }
    return losses
  })

/** A reward that any model can raise: the share of tokens with an even number. */
const rewardOf = (tokens: ReadonlyArray<number>) => mean(tokens.map((token) => (token % 2 === 0 ? 1 : 0)))

const questions = 4
const groupSize = 8

const iterate = (engine: Engine, iteration: number) =>
  Effect.gen(function* () {
    const prompts = Array.from({ length: questions }, (_, index) =>
      engine.tokenizer.render([{ role: "user", content: `Say something about ${index}.` }])
    )
    const groups = yield* Effect.scoped(
      Effect.flatMap(engine.sampler, (sampler) =>
        Effect.forEach(
          prompts,
          (prompt, index) =>
            sampler.sample({ prompt, maxTokens: 12, count: groupSize, seed: 1000 * iteration + groupSize * index }),
          { concurrency: "unbounded" }
        )
      )
    )
    const rewards = groups.map((group) => group.map(({ tokens }) => rewardOf(tokens)))
    const data = groups.flatMap((group, index) =>
      group.map(({ logProbs, tokens }, at): Datum => {
        const advantage = rewards[index]![at]! - mean(rewards[index]!)
        const weight = 1 / (questions * groupSize * tokens.length)
        return {
          prompt: prompts[index]!,
          completion: tokens,
          logProbs,
          advantages: tokens.map(() => advantage),
          weights: tokens.map(() => weight)
        }
      })
    )
    const { logProbs } = yield* engine.forwardBackward(data, { type: "clippedRatio", low: 0.2, high: 0.2 })
    const distance = mean(
      data.flatMap((datum, at) =>
        datum.completion.map((_, token) => Math.abs(logProbs[at]![token]! - datum.logProbs![token]!))
      )
    )
    const { gradientNorm } = yield* engine.step({ learningRate: rate })
    return { reward: mean(rewards.flat()), distance, gradientNorm }
  })

const reinforce = (engine: Engine) =>
  Effect.forEach(Array.from({ length: 10 }), (_, iteration) => iterate(engine, iteration))

// -------------------------------------------------------------------------------------------------------------------
// The adapter
// -------------------------------------------------------------------------------------------------------------------

/** Returns a completion that llama.cpp samples with the adapter on its base, and its log-probabilities. */
const served = (gguf: string, adapter: string, prompt: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const model = yield* LlamaCppModel.load({
      source: gguf,
      gpu: "none",
      adapters: [{ path: adapter, scale: 1 }],
      flashAttention: false,
      keyValueType: "F32"
    })
    return yield* LlamaCppModel.sample(model, { prompt, seed: 5, maxOutputTokens: 12 })
  }).pipe(Effect.scoped)

const exported = (engine: Engine, gguf: string | undefined, folder: string) =>
  Effect.gen(function* () {
    if (!engine.capabilities.exports.includes("peft")) {
      check("export", true, "this server gives whole models away, no adapters: skipped")
      return
    }
    const peft = path.join(folder, "peft")
    yield* engine.export("peft", peft)
    const config = JSON.parse(yield* Effect.promise(() => fs.readFile(path.join(peft, "adapter_config.json"), "utf8")))
    check(
      "adapter as PEFT",
      Array.isArray(config.target_modules),
      `${config.target_modules}, alpha ${config.lora_alpha}`
    )
    if (gguf === undefined) return
    const file = path.join(folder, "adapter.gguf")
    yield* engine.export("gguf-lora", file)
    const prompt = engine.tokenizer.render([{ role: "user", content: "Say something about 3." }])
    const { logProbs, tokens } = yield* served(gguf, file, prompt)
    const pass = yield* engine.forward([{ prompt, completion: tokens }])
    const farthest = Math.max(...tokens.map((_, at) => Math.abs(pass.logProbs[0]![at]! - logProbs[at]!)))
    check("adapter in llama.cpp", farthest < 0.05, `log-probabilities differ by at most ${farthest.toExponential(1)}`)
  })

// -------------------------------------------------------------------------------------------------------------------
// The run
// -------------------------------------------------------------------------------------------------------------------

const clientOptions: TinkerClient.Options = {
  baseUrl: url,
  wire,
  apiKey: apiKey === undefined ? undefined : Redacted.make(apiKey),
  dialect:
    values.dialect !== undefined && values.dialect in Dialect.dialects ? (values.dialect as Dialect.Name) : undefined,
  onNotice: (notice) => console.log(`note           ${notice}`)
}

/** A server that still starts is waited for. */
const firstModel = Effect.scoped(
  Effect.gen(function* () {
    const client = yield* TinkerClient.make({ ...clientOptions, retry: { patienceMillis: 60_000 } })
    const [model] = yield* client.models
    return model?.model_name
  })
).pipe(Effect.retry(Schedule.spaced(5_000).pipe(Schedule.upTo({ times: 60 }))))

const program = Effect.gen(function* () {
  const baseModel = values["base-model"] ?? (yield* firstModel) ?? "unknown"
  const tokenizer = yield* HuggingFaceTokenizer.load({ folder: values.tokenizer! })
  const gguf = values["base-gguf"]
  const engine = yield* TinkerEngine.make({
    ...clientOptions,
    baseModel,
    tokenizer,
    lora: { rank: Number(values.rank), seed: 1 },
    baseGguf: gguf
  })
  check("open", true, `${baseModel}, which is ${engine.dialect.name}`)

  const examples = averaged(examplesOf(engine))
  const losses = yield* supervise(engine, examples)
  check("supervised learning", losses.at(-1)! < losses[0]!, short(losses))

  const iterations = yield* reinforce(engine)
  check(
    "reinforcement learning",
    iterations.every(({ reward }) => Number.isFinite(reward)),
    `rewards ${short(iterations.map(({ reward }) => reward))}`
  )
  const distances = iterations.map(({ distance }) => distance)
  check("samplers agree with the trainer", Math.max(...distances) < 0.05, `|log p - log q| ${short(distances)}`)

  const saved = yield* engine.save("check", os.tmpdir())
  const before = yield* engine.forward(examples)
  yield* engine.forwardBackward(examples, { type: "crossEntropy" })
  yield* engine.step({ learningRate: rate })
  const continued = (yield* engine.forwardBackward(examples, { type: "crossEntropy" })).loss!
  yield* engine.load(saved, os.tmpdir())
  const again = yield* engine.forward(examples)
  const farthest = Math.max(
    ...before.logProbs.flatMap((one, at) =>
      Array.from(one, (value, token) => Math.abs(value - again.logProbs[at]![token]!))
    )
  )
  check(
    "resume",
    farthest < 1e-3,
    `${saved.reference}: log-probabilities differ by at most ${farthest.toExponential(1)}`
  )
  yield* engine.forwardBackward(examples, { type: "crossEntropy" })
  yield* engine.step({ learningRate: rate })
  const resumed = (yield* engine.forwardBackward(examples, { type: "crossEntropy" })).loss!
  check(
    "optimiser state",
    Math.abs(resumed - continued) < 1e-3,
    `loss after one step ${continued.toFixed(5)}, resumed ${resumed.toFixed(5)}`
  )

  const folder = yield* Effect.promise(() => fs.mkdtemp(path.join(os.tmpdir(), "skyrl-check-")))
  yield* exported(engine, gguf, folder)
  yield* Effect.promise(() => fs.rm(folder, { recursive: true }))
}).pipe(Effect.scoped)

await Effect.runPromise(program).catch((cause: unknown) => check("run", false, String(cause)))
console.log(failures === 0 ? "All checks passed." : `${failures} checks failed.`)
process.exit(failures === 0 ? 0 : 1)

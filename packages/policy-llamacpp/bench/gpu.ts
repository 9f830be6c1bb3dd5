/**
 * A model of the paper's size with random weights on this machine: tokens per second of one run and of many, memory,
 * and the time to the first token, cold and warm. Compared with node-llama-cpp's own loop for one run.
 *
 *     node --conditions=@divisi/source bench/gpu.ts                  # 7.6 billion weights in F16: 15 GB of disk and of memory
 *     node --conditions=@divisi/source bench/gpu.ts --size small     # the same with half a million, as in CI
 *     node --conditions=@divisi/source bench/gpu.ts --model x.gguf   # a model that is here
 *     node --conditions=@divisi/source bench/gpu.ts --gpu vulkan     # not the machine's best
 *     node --conditions=@divisi/source bench/gpu.ts --top-k 40       # of the likeliest tokens; of all without it
 */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { WorkerStream } from "@divisi/core/streams"
import { Model, Tensor, TinyModel } from "@divisi/gguf"
import { Tokenizer } from "@divisi/gguf/browser"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as LlamaCppModel from "../src/LlamaCppModel.ts"
import { option, print } from "./tinyModel.ts"

const text = (name: string, otherwise: string): string => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? otherwise : process.argv[at + 1]!
}

const isSmall = text("size", "7b") === "small"
const tokens = option("tokens", isSmall ? 16 : 128)
const many = option("sequences", isSmall ? 4 : 32)
const sampling = { temperature: 1, topK: option("top-k", 0), topP: 1 }

/** The sizes of Qwen2.5-7B. */
const shape = {
  architecture: "qwen2",
  vocabularySize: 152_064,
  hiddenSize: 3584,
  layers: 28,
  heads: 28,
  keyValueHeads: 4,
  feedForwardSize: 18_944,
  contextLength: 32_768,
  normEpsilon: 1e-6,
  ropeTheta: 1_000_000
} as const

/** A piece of every matrix: numbers around 0; which they are does not change how fast they are. */
const piece = Float32Array.from({ length: 1 << 18 }, (_, index) => Math.sin(index * 1.7) / 64)

const matrix = (shape: ReadonlyArray<number>): Tensor.Tensor => ({
  shape,
  data: function* () {
    for (let left = Tensor.size(shape); left > 0; left -= piece.length) yield piece.subarray(0, left)
  }
})

/** Tokens of one, two and three letters, as many as the model has, so that whatever it samples is text. */
const tokenizer = (): Tokenizer.Tokenizer => {
  const letters = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"]
  const pairs = letters.flatMap((left) => letters.map((right) => [left, right]))
  const triples = pairs.flatMap((pair) => letters.map((right) => [pair.join(""), right]))
  const merges = [...pairs, ...triples].map((merge) => merge.join(" "))
  const { tokens } = Tokenizer.makeUnsafe()
  return Tokenizer.makeUnsafe({
    merges: merges.slice(0, shape.vocabularySize - tokens.length),
    chatTemplate: Tokenizer.chatMl
  })
}

const large = (): Model.Model => ({
  config: shape,
  tokenizer: tokenizer(),
  tensors: Object.fromEntries(Object.entries(Model.shapes(shape)).map(([name, shape]) => [name, matrix(shape)]))
})

const small = () => {
  const sizes = { hiddenSize: 128, layers: 3, heads: 4, keyValueHeads: 2, feedForwardSize: 256, contextLength: 4096 }
  return TinyModel.random({ architecture: "qwen2", seed: 1, ...sizes })
}

/** Writes the model; matrices are made while they are written, so that none of them has to be in memory. */
const write = async (): Promise<string> => {
  const folder = fs.mkdtempSync(path.join(text("folder", os.tmpdir()), "divisi-gpu-"))
  process.once("exit", () => fs.rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, "random.gguf")
  await Effect.runPromise(isSmall ? Model.write(small(), file) : Model.write(large(), file, { type: "F16" }))
  return file
}

const seconds = (from: number) => Number(((performance.now() - from) / 1000).toFixed(3))

const program = Effect.gen(function* () {
  const writing = performance.now()
  const source = text("model", "") || (yield* Effect.promise(write))
  const written = seconds(writing)
  const loading = performance.now()
  const gpu = text("gpu", "auto") as "auto" | "cuda" | "vulkan" | "metal" | "none"
  const model = yield* LlamaCppModel.load({ source, gpu, contextTokens: 2048, sequences: many, gpuLayers: "max" })
  const loaded = seconds(loading)
  const worker = LlamaCppModel.worker(model, sampling)
  const system = {
    role: "system",
    content: "Rules of a plan, and examples of plans. ".repeat(isSmall ? 10 : 50)
  } as const
  const run = (index: number) =>
    Effect.gen(function* () {
      const startedAt = performance.now()
      let first = 0
      let count = 0
      const messages = [system, { role: "user" as const, content: `Question ${index}?` }]
      yield* Stream.runForEach(
        WorkerStream.generate(worker, { messages, maxOutputTokens: tokens, seed: index }),
        (part) =>
          Effect.sync(() => {
            if (first === 0) first = seconds(startedAt)
            if (part.type === "finish") count = part.usage.outputTokens
          })
      )
      return { first, count, seconds: seconds(startedAt) }
    })
  const cold = yield* run(0)
  const warm = yield* run(1)
  const start = performance.now()
  const runs = yield* Effect.forEach(
    Array.from({ length: many }, (_, index) => index + 2),
    run,
    { concurrency: many }
  )
  const together = seconds(start)
  const { sequence } = model.runtime.scheduler.slots[0]!
  const direct = yield* Effect.promise(async () => {
    const prompt = model.llama.tokenize(`${system.content}Question?`)
    await sequence.clearHistory()
    await sequence.evaluateWithoutGeneratingNewTokens(prompt)
    const start = performance.now()
    let count = 0
    const options = { ...sampling, seed: 1, yieldEogToken: true }
    for await (const _ of sequence.evaluate(model.llama.tokenize("A"), options)) if (++count >= tokens) break
    return Math.round(count / seconds(start))
  })
  print({
    model: { parameters: model.parameters, backend: model.backend, gpuLayers: model.gpuLayers, threads: model.threads },
    gpu: yield* Effect.promise(() => model.llama.llama.getGpuDeviceNames()),
    topK: sampling.topK,
    promptTokens: model.llama.tokenize(system.content).length,
    seconds: { writing: written, loading: loaded, firstTokenCold: cold.first, firstTokenWarm: warm.first },
    tokensPerSecond: {
      oneRun: Math.round((warm.count - 1) / Math.max(warm.seconds - warm.first, 0.001)),
      oneRunDirect: direct,
      [`${many}Runs`]: Math.round(runs.reduce((sum, { count }) => sum + count, 0) / together)
    },
    memory: {
      resident: process.memoryUsage().rss,
      gpu: (yield* Effect.promise(() => model.llama.llama.getVramState())).used
    }
  })
})

await Effect.runPromise(Effect.scoped(program))

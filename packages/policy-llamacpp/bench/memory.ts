/**
 * The memory of a process that makes plans without end.
 *
 *     node --expose-gc --conditions=@divisi/source bench/memory.ts [--plans 20000]
 */
import { WorkerStream } from "@divisi/core/streams"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as LlamaCppModel from "../src/LlamaCppModel.ts"
import { option, print, tinyModel } from "./tinyModel.ts"

const plans = option("plans", 20_000)
const step = Math.ceil(plans / 10)
const format = { type: "workflow", poolSize: 7, maxSteps: 3, access: "binary", allowEmpty: false } as const

const program = Effect.gen(function* () {
  const source = yield* Effect.promise(() => tinyModel({ hiddenSize: 32, layers: 1, heads: 2, feedForwardSize: 32 }))
  const model = yield* LlamaCppModel.load({ source, gpu: "none", contextTokens: 512, sequences: 16 })
  const worker = LlamaCppModel.worker(model, { reasoningTokens: 2, temperature: 1 })
  const run = (index: number) =>
    Stream.runDrain(
      WorkerStream.generate(worker, {
        messages: [{ role: "user", content: `Question ${index}` }],
        maxOutputTokens: 12,
        seed: index,
        format
      })
    )
  const megabytes: Array<{ plans: number; resident: number; heap: number }> = []
  const measure = (done: number) => {
    globalThis.gc?.()
    const { heapUsed, rss } = process.memoryUsage()
    megabytes.push({ plans: done, resident: Math.round(rss / 1e6), heap: Math.round(heapUsed / 1e6) })
  }
  for (let from = 0; from < plans; from += step) {
    const indices = Array.from({ length: Math.min(step, plans - from) }, (_, index) => from + index)
    for (let at = 0; at < indices.length; at += 500) {
      yield* Effect.forEach(indices.slice(at, at + 500), run, { concurrency: "unbounded", discard: true })
    }
    // Native memory of what was collected is given back in the turns after.
    yield* Effect.sleep(50)
    measure(from + indices.length)
  }
  print({ plans, megabytes })
})

await Effect.runPromise(Effect.scoped(program))

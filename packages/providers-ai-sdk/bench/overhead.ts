/**
 * Measures the overhead of a worker's call over `streamText` of the AI SDK with the same model: CPU time of this
 * process for the same streams, alternating within one run, and the memory retained after many calls. Prints JSON.
 *
 *   node --conditions=@divisi/source --expose-gc bench/overhead.ts [--calls 1000] [--rounds 7] [--memory 100000]
 */

import { fork } from "node:child_process"
import { parseArgs } from "node:util"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { WorkerStream } from "@divisi/core/streams"
import { streamText } from "ai"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { aiSdk } from "../src/index.ts"

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "1000" },
    rounds: { type: "string", default: "7" },
    concurrency: { type: "string", default: "100" },
    deltas: { type: "string", default: "60" },
    memory: { type: "string", default: "0" }
  }
})

const child = fork(new URL("server.ts", import.meta.url), [values.deltas], {
  execArgv: ["--conditions=@divisi/source"],
  stdio: ["ignore", "pipe", "inherit", "ipc"]
})
const port = await new Promise<number>((resolve) => child.stdout?.once("data", (data) => resolve(Number(data))))

const model = createOpenAICompatible({ name: "lab", baseURL: `http://127.0.0.1:${port}`, includeUsage: true })(
  "model-1"
)
const worker = aiSdk(model)
const prompt = "Say something."

/** Each reads a whole answer and says how long it is. */
const contenders = {
  bare: async () => {
    let characters = 0
    for await (const part of streamText({ model, prompt, maxRetries: 0 }).textStream) characters += part.length
    return characters
  },
  ours: async () => {
    let characters = 0
    const read = Stream.runForEachArray(
      WorkerStream.generate(worker, { messages: [{ role: "user", content: prompt }] }),
      (parts) =>
        Effect.sync(() => {
          for (const part of parts) if (part.type === "text") characters += part.text.length
        })
    )
    await Effect.runPromise(read)
    return characters
  }
}

/** Makes so many calls, so many at once; all the characters that were read. */
const many = async (count: number, call: () => Promise<number>) => {
  let started = 0
  let characters = 0
  const lane = async () => {
    while (started < count) {
      started += 1
      const read = await call()
      characters += read
    }
  }
  await Promise.all(Array.from({ length: Math.min(Number(values.concurrency), count) }, lane))
  return characters
}

/** CPU milliseconds of a call. */
const measure = async (call: () => Promise<number>) => {
  const calls = Number(values.calls)
  const before = process.cpuUsage()
  const characters = await many(calls, call)
  const { system, user } = process.cpuUsage(before)
  return { millis: (user + system) / 1000 / calls, characters }
}

const median = (numbers: ReadonlyArray<number>) =>
  [...numbers].sort((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? Number.NaN

const rounds: Array<{ readonly bare: number; readonly ours: number }> = []
await measure(contenders.bare)
await measure(contenders.ours)
for (let round = 0; round < Number(values.rounds); round++) {
  const bare = await measure(contenders.bare)
  const ours = await measure(contenders.ours)
  if (bare.characters !== ours.characters) throw new Error("The contenders did not read the same text.")
  rounds.push({ bare: bare.millis, ours: ours.millis })
}

const heap = () => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const heaps: Array<number> = []
for (let part = 0; part < 5 && Number(values.memory) > 0; part++) {
  await many(Number(values.memory) / 5, contenders.ours)
  heaps.push(heap())
}

console.log(
  JSON.stringify({
    calls: Number(values.calls),
    concurrency: Number(values.concurrency),
    bareMillisPerCall: median(rounds.map(({ bare }) => bare)),
    oursMillisPerCall: median(rounds.map(({ ours }) => ours)),
    overhead: median(rounds.map(({ bare, ours }) => ours / bare)) - 1,
    heapMegabytes: heaps.map((bytes) => Number((bytes / 1024 / 1024).toFixed(2)))
  })
)
child.kill()

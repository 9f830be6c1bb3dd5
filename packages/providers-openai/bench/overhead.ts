/**
 * What a call costs over the bare SDK: CPU time of this process for the same streams, side by side in one run, and what
 * memory is kept after many calls. Prints JSON.
 *
 *   node --conditions=@divisi/source --expose-gc bench/overhead.ts [--calls 2000] [--rounds 7] [--concurrency 100] [--memory 100000]
 */
import { fork } from "node:child_process"
import { parseArgs } from "node:util"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import OpenAI from "openai"
import { openai, openaiChat } from "../src/index.ts"

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "1000" },
    rounds: { type: "string", default: "7" },
    concurrency: { type: "string", default: "100" },
    deltas: { type: "string", default: "60" },
    memory: { type: "string", default: "0" }
  }
})
const calls = Number(values.calls)
const rounds = Number(values.rounds)
const concurrency = Number(values.concurrency)

const serve = async () => {
  const child = fork(new URL("server.ts", import.meta.url), [values.deltas], {
    execArgv: ["--conditions=@divisi/source"],
    stdio: ["ignore", "pipe", "inherit", "ipc"]
  })
  const port = await new Promise<number>((resolve) => child.stdout?.once("data", (data) => resolve(Number(data))))
  return { baseURL: `http://127.0.0.1:${port}/v1`, stop: () => child.kill() }
}

/** Runs a call so many times, so many at once. */
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
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, lane))
  return characters
}

const messages = [{ role: "user" as const, content: "Say something." }]

const contenders = (baseURL: string) => {
  const client = new OpenAI({ baseURL, apiKey: "sk-bench", maxRetries: 0, logLevel: "off" })
  const ours = (worker: ReturnType<typeof openai>) => () => {
    let characters = 0
    // As core's executor reads a worker.
    const count = Stream.runForEachArray(worker.generate({ messages }), (parts) =>
      Effect.sync(() => {
        for (const part of parts) if (part.type === "text") characters += part.text.length
      })
    )
    return Effect.runPromise(count).then(() => characters)
  }
  return {
    responses: {
      bare: async () => {
        let characters = 0
        const body = { model: "gpt-5", input: messages, stream: true, store: false } as const
        for await (const event of await client.responses.create(body)) {
          if (event.type === "response.output_text.delta") characters += event.delta.length
        }
        return characters
      },
      ours: ours(openai("gpt-5", { baseURL, apiKey: "sk-bench" }))
    },
    chat: {
      bare: async () => {
        let characters = 0
        const body = { model: "gpt-5", messages, stream: true, stream_options: { include_usage: true } } as const
        for await (const chunk of await client.chat.completions.create(body)) {
          characters += chunk.choices[0]?.delta.content?.length ?? 0
        }
        return characters
      },
      ours: ours(openaiChat("gpt-5", { baseURL, apiKey: "sk-bench" }))
    }
  }
}

/** CPU milliseconds of a call. */
const measure = async (call: () => Promise<number>) => {
  const before = process.cpuUsage()
  const characters = await many(calls, call)
  const { system, user } = process.cpuUsage(before)
  return { millis: (user + system) / 1000 / calls, characters }
}

const median = (numbers: ReadonlyArray<number>) =>
  [...numbers].sort((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? Number.NaN

const compare = async (pair: { bare: () => Promise<number>; ours: () => Promise<number> }) => {
  const millis = { bare: [] as Array<number>, ours: [] as Array<number> }
  await many(calls, pair.bare)
  await many(calls, pair.ours)
  for (let round = 0; round < rounds; round++) {
    // Taken in turns, so that what else the machine does falls on both.
    const order = round % 2 === 0 ? (["bare", "ours"] as const) : (["ours", "bare"] as const)
    const results = { bare: 0, ours: 0 }
    for (const who of order) {
      const { characters, millis: one } = await measure(pair[who])
      millis[who].push(one)
      results[who] = characters
    }
    if (results.bare !== results.ours) throw new Error("The contenders did not read the same text.")
  }
  const ratios = millis.ours.map((one, index) => one / (millis.bare[index] ?? Number.NaN))
  return {
    bareMillisPerCall: median(millis.bare),
    oursMillisPerCall: median(millis.ours),
    overhead: median(ratios) - 1,
    overheadByRound: ratios.map((ratio) => Number((ratio - 1).toFixed(3)))
  }
}

const heap = () => {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const keep = async (count: number, call: () => Promise<number>) => {
  await many(Math.min(2000, count), call)
  const samples = [heap()]
  for (let part = 0; part < 5; part++) {
    await many(count / 5, call)
    samples.push(heap())
  }
  const [first = 0, ...rest] = samples
  return {
    calls: count,
    heapMegabytes: samples.map((bytes) => Number((bytes / 1024 / 1024).toFixed(2))),
    bytesKeptPerCall: ((rest.at(-1) ?? 0) - first) / count
  }
}

const server = await serve()
const { chat, responses } = contenders(server.baseURL)
const memory = Number(values.memory)
const report = {
  node: process.version,
  calls,
  rounds,
  concurrency,
  deltas: Number(values.deltas),
  ...(memory > 0
    ? { memory: { responses: await keep(memory, responses.ours) } }
    : { responses: await compare(responses), chat: await compare(chat) })
}
console.log(JSON.stringify(report, null, 2))
server.stop()

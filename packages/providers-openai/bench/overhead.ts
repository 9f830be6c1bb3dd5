/**
 * Measures the cost of a call: CPU time of this process for the same answers, of bare clients and of workers, side by
 * side in one run; and the memory retained after many calls. A short stream arrives in one packet, a long one in many.
 * Prints JSON, in microseconds per call.
 *
 *   node --conditions=@divisi/source --expose-gc bench/overhead.ts [--calls 1000] [--rounds 7] [--concurrency 100] [--memory 100000]
 */
import { fork } from "node:child_process"
import { parseArgs } from "node:util"
import { WorkerStream } from "@divisi/core/streams"
import type { Worker } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import OpenAI from "openai"
import { openai, openaiChat, openaiCompatible } from "../src/index.ts"

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
  return { url: `http://127.0.0.1:${port}`, stop: () => child.kill() }
}

/** A call, which gives how many characters it read. */
type Call = () => Promise<number>

/** Runs a call so many times, so many at once. */
const many = async (count: number, call: Call) => {
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

/** As core's executor reads a worker. */
const ofWorker =
  (worker: Worker): Call =>
  () => {
    let characters = 0
    const count = Stream.runForEachArray(WorkerStream.generate(worker, { messages }), (parts) =>
      Effect.sync(() => {
        for (const part of parts) if (part.type === "text") characters += part.text.length
      })
    )
    return Effect.runPromise(count).then(() => characters)
  }

// Imported once `fetch` has been used: before that, undici would take its place.
await fetch("data:,").then((response) => response.text())
const { request } = await import("undici")

/** The least that can be done: the events of a packet are split where they end, and read. */
const bareUndici = (url: string): Call => {
  const options = { model: "gpt-5", messages, stream: true, stream_options: { include_usage: true } }
  const headers = { "content-type": "application/json", authorization: "Bearer sk-bench" }
  return async () => {
    const { body } = await request(url, { method: "POST", headers, body: JSON.stringify(options) })
    let characters = 0
    let rest = ""
    body.setEncoding("utf8")
    for await (const text of body) {
      const events = (rest + text).split("\n\n")
      rest = events.pop() ?? ""
      for (const event of events) {
        if (event === "data: [DONE]") continue
        const chunk = JSON.parse(event.slice(6)) as OpenAI.ChatCompletionChunk
        characters += chunk.choices[0]?.delta.content?.length ?? 0
      }
    }
    return characters
  }
}

const contenders = (
  url: string,
  shape: "call" | "stream"
): Readonly<Record<string, Readonly<Record<string, Call>>>> => {
  const baseURL = `${url}/${shape}/v1`
  const client = new OpenAI({ baseURL, apiKey: "sk-bench", maxRetries: 0, logLevel: "off" })
  return {
    responses: {
      bareSdk: async () => {
        let characters = 0
        const body = { model: "gpt-5", input: messages, stream: true, store: false } as const
        for await (const event of await client.responses.create(body)) {
          if (event.type === "response.output_text.delta") characters += event.delta.length
        }
        return characters
      },
      openai: ofWorker(openai("gpt-5", { baseURL, apiKey: "sk-bench" }))
    },
    chat: {
      bareSdk: async () => {
        let characters = 0
        const body = { model: "gpt-5", messages, stream: true, stream_options: { include_usage: true } } as const
        for await (const chunk of await client.chat.completions.create(body)) {
          characters += chunk.choices[0]?.delta.content?.length ?? 0
        }
        return characters
      },
      openaiChat: ofWorker(openaiChat("gpt-5", { baseURL, apiKey: "sk-bench" })),
      openaiCompatible: ofWorker(openaiCompatible({ model: "gpt-5", baseURL, apiKey: "sk-bench" })),
      bareUndici: bareUndici(`${baseURL}/chat/completions`)
    }
  }
}

/** CPU microseconds of a call. */
const measure = async (call: Call) => {
  const before = process.cpuUsage()
  const characters = await many(calls, call)
  const { system, user } = process.cpuUsage(before)
  return { micros: (user + system) / calls, characters }
}

const median = (numbers: ReadonlyArray<number>) =>
  [...numbers].sort((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? Number.NaN

/** The median of each contender. They take turns, each round from another one on, so that what else the machine does falls on all. */
const compare = async (contenders: Readonly<Record<string, Call>>) => {
  const all = Object.entries(contenders)
  const micros = new Map(all.map(([name]) => [name, [] as Array<number>]))
  for (const [, call] of all) await many(calls, call)
  for (let round = 0; round < rounds; round++) {
    const read = new Set<number>()
    for (let turn = 0; turn < all.length; turn++) {
      const [name, call] = all[(round + turn) % all.length]!
      const measured = await measure(call)
      micros.get(name)?.push(measured.micros)
      read.add(measured.characters)
    }
    if (read.size !== 1) throw new Error("The contenders did not read the same text.")
  }
  return Object.fromEntries([...micros].map(([name, measured]) => [name, Math.round(median(measured))]))
}

const heap = () => {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const keep = async (count: number, call: Call) => {
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

const shapes = ["call", "stream"] as const

const report = async (url: string) => {
  const reported: Record<string, unknown> = {}
  for (const shape of shapes) {
    const ofShape: Record<string, unknown> = {}
    for (const [api, calls] of Object.entries(contenders(url, shape))) ofShape[api] = await compare(calls)
    reported[shape] = ofShape
  }
  return reported
}

const memoryOf = async (url: string, count: number) => {
  const { chat, responses } = contenders(url, "stream")
  return {
    memory: {
      openai: await keep(count, responses!.openai!),
      openaiCompatible: await keep(count, chat!.openaiCompatible!)
    }
  }
}

const server = await serve()
const memory = Number(values.memory)
const about = { node: process.version, calls, rounds, concurrency, deltas: Number(values.deltas) }
const found = memory > 0 ? await memoryOf(server.url, memory) : await report(server.url)
console.log(JSON.stringify({ ...about, ...found }, null, 2))
server.stop()

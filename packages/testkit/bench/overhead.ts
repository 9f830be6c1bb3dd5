/**
 * Measures the overhead of a call over the bare SDK: CPU time of this process for the same streams, side by side in one
 * run; and the memory retained after many calls. Each provider's `bench/overhead.ts` describes the two contenders.
 */

import { fork } from "node:child_process"
import { parseArgs } from "node:util"
import { WorkerStream } from "@divisi/core/streams"
import type { Worker } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/** A call that gives how many characters it has read. */
type Call = () => Promise<number>

/** The contenders. */
export interface Contenders {
  readonly bare: Call
  readonly worker: Worker
}

const options = () => {
  const { values } = parseArgs({
    options: {
      calls: { type: "string", default: "1000" },
      rounds: { type: "string", default: "7" },
      concurrency: { type: "string", default: "100" },
      deltas: { type: "string", default: "60" },
      memory: { type: "string", default: "0" }
    }
  })
  return {
    calls: Number(values.calls),
    rounds: Number(values.rounds),
    concurrency: Number(values.concurrency),
    deltas: Number(values.deltas),
    memory: Number(values.memory)
  }
}

type Options = ReturnType<typeof options>

/** The question of every call. */
export const question = "Say something."

const serve = async (dialect: string, deltas: number) => {
  const child = fork(new URL("server.ts", import.meta.url), [dialect, String(deltas)], {
    execArgv: ["--conditions=@divisi/source"],
    stdio: ["ignore", "pipe", "inherit", "ipc"]
  })
  const port = await new Promise<number>((resolve) => child.stdout?.once("data", (data) => resolve(Number(data))))
  return { url: `http://127.0.0.1:${port}`, stop: () => child.kill() }
}

/** As core's executor reads a worker. */
const ours =
  (worker: Worker): Call =>
  () => {
    let characters = 0
    const read = Stream.runForEachArray(
      WorkerStream.generate(worker, { messages: [{ role: "user", content: question }] }),
      (parts) =>
        Effect.sync(() => {
          for (const part of parts) if (part.type === "text") characters += part.text.length
        })
    )
    return Effect.runPromise(read).then(() => characters)
  }

const many = async (count: number, call: Call, concurrency: number) => {
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

/** CPU milliseconds of a call. */
const measure = async (call: Call, { calls, concurrency }: Options) => {
  const before = process.cpuUsage()
  const characters = await many(calls, call, concurrency)
  const { system, user } = process.cpuUsage(before)
  return { millis: (user + system) / 1000 / calls, characters }
}

const median = (numbers: ReadonlyArray<number>) =>
  [...numbers].sort((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? Number.NaN

const compare = async (calls: { readonly bare: Call; readonly ours: Call }, settings: Options) => {
  const millis = { bare: [] as Array<number>, ours: [] as Array<number> }
  for (const call of [calls.bare, calls.ours]) await many(settings.calls, call, settings.concurrency)
  for (let round = 0; round < settings.rounds; round++) {
    // Taken in turns, so that what else the machine does falls on both.
    const order = round % 2 === 0 ? (["bare", "ours"] as const) : (["ours", "bare"] as const)
    const read = { bare: 0, ours: 0 }
    for (const who of order) {
      const one = await measure(calls[who], settings)
      millis[who].push(one.millis)
      read[who] = one.characters
    }
    if (read.bare !== read.ours) throw new Error("The contenders did not read the same text.")
  }
  const ratios = millis.ours.map((one, index) => one / (millis.bare[index] ?? Number.NaN))
  return {
    bareMillisPerCall: median(millis.bare),
    oursMillisPerCall: median(millis.ours),
    overhead: median(ratios) - 1,
    // Other load on the machine only adds time: on a busy one, the fastest rounds are more accurate than the median.
    overheadOfFastest: Math.min(...millis.ours) / Math.min(...millis.bare) - 1,
    overheadByRound: ratios.map((ratio) => Number((ratio - 1).toFixed(3)))
  }
}

const heap = () => {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const keep = async (call: Call, { concurrency, memory }: Options) => {
  await many(Math.min(2000, memory), call, concurrency)
  const samples = [heap()]
  for (let part = 0; part < 5; part++) {
    await many(memory / 5, call, concurrency)
    samples.push(heap())
  }
  return {
    heapMegabytes: samples.map((bytes) => Number((bytes / 1024 / 1024).toFixed(2))),
    bytesKeptPerCall: ((samples.at(-1) ?? 0) - (samples[0] ?? 0)) / memory
  }
}

/**
 * Measures and prints JSON. `--memory N` measures the memory retained after N calls instead; it needs `--expose-gc`.
 */
export const main = async (dialect: string, make: (url: string) => Contenders): Promise<void> => {
  const settings = options()
  const server = await serve(dialect, settings.deltas)
  const { bare, worker } = make(server.url)
  const found =
    settings.memory > 0 ? await keep(ours(worker), settings) : await compare({ bare, ours: ours(worker) }, settings)
  console.log(JSON.stringify({ worker: worker.id, node: process.version, ...settings, ...found }, null, 2))
  server.stop()
}

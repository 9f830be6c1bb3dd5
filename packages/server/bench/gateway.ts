/**
 * Measures the overhead of a gateway in front of a model: this server, a bare `node:http` proxy and other gateways,
 * with the same upstream and the same load. Each is a separate process, and each round runs them one after another.
 * Prints JSON.
 *
 * `node --conditions=@divisi/source bench/gateway.ts [--requests 4000] [--rounds 3] [--connections 32] [--seconds 60]
 * [--peers llms,portkey,litellm] [--served sqlite,postgres] [--folder DIR] [--memory 0]`
 *
 * Request times are for one connection, in addition to the upstream's time without a gateway. CPU and memory of the
 * gateway's process are read from /proc, so both are absent on systems other than Linux. `--memory N` finally sends N
 * requests to this server and reports its memory on the way. `--served` adds an installed `divisi serve`.
 */
import { type ChildProcess, fork } from "node:child_process"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import type { Load, Loaded } from "./load.ts"
import { peers, type Running, start } from "./peers.ts"
import * as Served from "./served.ts"

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "4000" },
    rounds: { type: "string", default: "3" },
    connections: { type: "string", default: "32" },
    seconds: { type: "string", default: "60" },
    peers: { type: "string", default: "llms,portkey,litellm" },
    served: { type: "string", default: "" },
    folder: { type: "string", default: path.join(os.tmpdir(), "divisi-bench-peers") },
    memory: { type: "string", default: "0" }
  }
})

const requests = Number(values.requests)
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)

// -------------------------------------------------------------------------------------------------------------------
// Processes
// -------------------------------------------------------------------------------------------------------------------

const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

const forked = (name: string, given: ReadonlyArray<string>): ChildProcess =>
  fork(script(name), given, {
    execArgv: ["--conditions=@divisi/source", "--expose-gc"],
    stdio: ["ignore", "pipe", "inherit", "ipc"]
  })

const listening = async (name: string, given: ReadonlyArray<string> = []): Promise<Running> => {
  const child = forked(name, given)
  const port = await new Promise<number>((resolve) => child.stdout?.once("data", (data) => resolve(Number(data))))
  return { child, port }
}

const sent = (load: Load): Promise<Loaded> =>
  new Promise((resolve, reject) => {
    const child = forked("load.ts", [JSON.stringify(load)])
    let text = ""
    child.stdout?.on("data", (data) => {
      text += data
    })
    child.once("exit", (code) => (code === 0 ? resolve(JSON.parse(text)) : reject(new Error("The load failed."))))
  })

/** CPU milliseconds of a process so far, all its threads together. */
const cpuMillis = ({ child }: Running): number => {
  if (process.platform !== "linux") return Number.NaN
  const fields = fs.readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ").at(-1)!.split(" ")
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Megabytes of memory that a process has. */
const memoryOf = ({ child }: Running): number => {
  if (process.platform !== "linux") return Number.NaN
  return Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1024
}

/** Megabytes of our own server's heap, after a collection. */
const heapOf = ({ child }: Running): Promise<number> =>
  new Promise((resolve) => {
    child.once("message", (bytes) => resolve(Number(bytes) / 2 ** 20))
    child.send("heap")
  })

// -------------------------------------------------------------------------------------------------------------------
// Contenders
// -------------------------------------------------------------------------------------------------------------------

interface Contender {
  readonly name: string
  readonly running: Running
  readonly model: string
  readonly headers: Readonly<Record<string, string>>
}

interface Measured {
  readonly perSecond: number
  readonly cpuMicros: number
  readonly failed: number
  readonly p50Millis: number
  readonly firstByteMillis: number
}

const bodyOf = (model: string, stream: boolean): string =>
  JSON.stringify({ model, messages: [{ role: "user", content: "How are you today?" }], stream })

const measure = async ({ headers, model, running }: Contender, stream: boolean): Promise<Measured> => {
  const load = { port: running.port, path: "/v1/chat/completions", headers, body: bodyOf(model, stream), seconds }
  const before = cpuMillis(running)
  const many = await sent({ ...load, connections: Number(values.connections), requests })
  const cpuMicros = ((cpuMillis(running) - before) * 1000) / many.requests
  const alone = await sent({ ...load, connections: 1, requests: Math.ceil(requests / 8) })
  return {
    perSecond: many.requests / many.seconds,
    cpuMicros,
    failed: many.failed + alone.failed,
    p50Millis: alone.p50,
    firstByteMillis: alone.firstByteP50
  }
}

const median = (numbers: ReadonlyArray<number>): number =>
  numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? Number.NaN

const round = (number: number, digits = 0): number | null =>
  Number.isFinite(number) ? Number(number.toFixed(digits)) : null

const rowOf = (all: ReadonlyArray<Measured>, direct: ReadonlyArray<Measured>) => {
  const of = (rows: ReadonlyArray<Measured>, name: keyof Measured) => median(rows.map((row) => row[name]))
  return {
    perSecond: round(of(all, "perSecond")),
    cpuMicros: round(of(all, "cpuMicros")),
    addedP50Micros: round((of(all, "p50Millis") - of(direct, "p50Millis")) * 1000),
    firstByteMillis: round(of(all, "firstByteMillis"), 3),
    failed: all.reduce((sum, { failed }) => sum + failed, 0)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// The bench
// -------------------------------------------------------------------------------------------------------------------

const upstream = await listening("upstream.ts")
const bare = await listening("bare.ts", [`${upstream.port}`])
const ours = await listening("divisi.ts", [`${upstream.port}`])

const own: ReadonlyArray<Contender> = [
  { name: "upstream", running: upstream, model: "stand-in", headers: {} },
  { name: "bare hop", running: bare, model: "stand-in", headers: {} },
  { name: "divisi worker/up", running: ours, model: "worker/up", headers: {} },
  { name: "divisi, a plan of one step", running: ours, model: "divisi", headers: {} }
]

const skipped: Record<string, string> = {}
const others: Array<Contender> = []
/** A contender whose start may fail: what it needs is not on every machine. */
const add = async (contender: Omit<Contender, "running">, running: () => Promise<Running>) => {
  try {
    others.push({ ...contender, running: await running() })
  } catch (error) {
    skipped[contender.name] = error instanceof Error ? error.message.split("\n")[0]! : String(error)
  }
}
for (const keeping of Served.keepings.filter((one) => values.served.split(",").includes(one))) {
  const contender = { name: `divisi serve, ${keeping}`, model: "divisi", headers: {} }
  await add(contender, () => Served.start(keeping, upstream.port))
}
for (const peer of peers.filter(({ name }) => values.peers.split(",").includes(name))) {
  const contender = { name: peer.name, model: peer.model, headers: peer.headers(upstream.port) }
  await add(contender, () => start(peer, values.folder, upstream.port))
}

const contenders = [...own, ...others]
const found = new Map<string, { readonly json: Array<Measured>; readonly streams: Array<Measured> }>()
for (const { name } of contenders) found.set(name, { json: [], streams: [] })

// The first round warms up, and is not counted.
for (let at = 0; at <= rounds; at += 1) {
  for (const contender of contenders) {
    const json = await measure(contender, false)
    const streams = await measure(contender, true)
    if (at === 0) continue
    found.get(contender.name)!.json.push(json)
    found.get(contender.name)!.streams.push(streams)
  }
}

const direct = found.get("upstream")!
const rows = contenders.map(({ name, running }) => {
  const { json, streams } = found.get(name)!
  return {
    name,
    json: rowOf(json, direct.json),
    streams: rowOf(streams, direct.streams),
    memoryMegabytes: round(memoryOf(running))
  }
})

/** A whole answer of one worker, a Conductor stream, and a stored response. */
const kinds = [
  { path: "/v1/chat/completions", body: bodyOf("worker/up", false) },
  { path: "/v1/chat/completions", body: bodyOf("divisi", true) },
  { path: "/v1/responses", body: JSON.stringify({ model: "divisi", input: "How are you today?" }) }
]

/** How large our own server is as it answers a great many requests, a third of them of each kind. */
const sizes: Array<{
  readonly requests: number
  readonly failed: number
  readonly heapMegabytes: number | null
  readonly memoryMegabytes: number | null
}> = []
const total = Number(values.memory)
while ((sizes.at(-1)?.requests ?? 0) < total) {
  let { failed, requests } = sizes.at(-1) ?? { failed: 0, requests: 0 }
  for (const kind of kinds) {
    const load = { port: ours.port, headers: {}, ...kind, connections: 32, requests: Math.ceil(total / 30) }
    const done = await sent({ ...load, seconds: 3_600 })
    failed += done.failed
    requests += done.requests
  }
  const memoryMegabytes = round(memoryOf(ours), 1)
  sizes.push({ requests, failed, memoryMegabytes, heapMegabytes: round(await heapOf(ours), 1) })
  console.error(JSON.stringify(sizes.at(-1)))
}

const about = { cpus: os.cpus().length, load: os.loadavg()[0], node: process.version, requests, rounds }
console.log(JSON.stringify({ about, rows, skipped, memory: sizes }, undefined, 2))
for (const { running } of contenders) running.child.kill()

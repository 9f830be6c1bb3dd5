/**
 * `pnpm bench:engines`: compares Divisi, DBOS and plain Effect workflows, each in a separate process on the same
 * Postgres, with the same plan and the same vendor. Measures runs per second and CPU time without faults, and the
 * number of calls that are paid for twice if the process is killed halfway and restarted.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import os from "node:os"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Engine from "./Engine.ts"

const engines = ["divisi", "dbos", "effect"]

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "300" },
    rounds: { type: "string", default: "3" },
    "at-once": { type: "string", default: "50" },
    /** //Latency of a call in the part with a kill. */
    "call-millis": { type: "string", default: "200" }
  }
})
const [size, rounds, atOnce, callMillis] = [values.runs, values.rounds, values["at-once"], values["call-millis"]].map(
  Number
) as [number, number, number, number]

// -------------------------------------------------------------------------------------------------------------------
// The vendor
// -------------------------------------------------------------------------------------------------------------------

/** Number of times that each call was made, and the calls that are not answered yet. */
const books = new Map<string, number>()
const inFlight = new Set<string>()
let waitMillis = 0

const vendor = createServer(async (request, response) => {
  let text = ""
  for await (const part of request) text += part
  const [, run] = /(run-[\w-]+)/.exec(text) ?? []
  // The last step mentioned, because a request can include earlier steps.
  const step = [...text.matchAll(/step (\d+)/g)].at(-1)?.[1]
  const call = `${run}/${step}`
  books.set(call, (books.get(call) ?? 0) + 1)
  inFlight.add(call)
  if (waitMillis > 0) await new Promise((resolve) => setTimeout(resolve, waitMillis))
  inFlight.delete(call)
  response.end(`${run} is answered`)
})
vendor.keepAliveTimeout = 60_000
vendor.listen(0, "127.0.0.1")
await once(vendor, "listening")
const { port } = vendor.address() as { port: number }

// -------------------------------------------------------------------------------------------------------------------
// Measurements
// -------------------------------------------------------------------------------------------------------------------

interface Result {
  readonly right: number
  readonly seconds: number
  readonly cpuMillis: number
}

interface Started {
  readonly child: ChildProcess
  /** Resolves with `undefined` if the process is killed. */
  readonly execute: (runs: ReadonlyArray<string>) => Promise<Result | undefined>
  readonly stop: () => Promise<void>
}

const start = async (engine: string, url: string): Promise<Started> => {
  const given = JSON.stringify({ engine, url, atOnce, vendor: `http://127.0.0.1:${port}/` })
  const child = spawn(
    process.execPath,
    ["--conditions=@divisi/source", fileURLToPath(new URL("child.ts", import.meta.url)), given],
    { stdio: ["ignore", "ignore", "inherit", "ipc"] }
  )
  const ended = once(child, "close").then(() => undefined)
  const next = () => Promise.race([once(child, "message").then(([message]) => message), ended])
  if ((await next()) !== "ready") throw new Error(`${engine} does not start`)
  return {
    child,
    execute: (runs) => {
      child.send(runs)
      return next()
    },
    stop: async () => {
      child.kill("SIGKILL")
      await ended
    }
  }
}

const runsOf = (name: string, count: number) => Array.from({ length: count }, (_, at) => `run-${name}-${at}`)

const twice = () => [...books.values()].reduce((sum, count) => sum + count - 1, 0)

const check = (engine: string, result: Result | undefined): Result => {
  if (result?.right !== size) throw new Error(`${engine}: ${result?.right} of ${size} runs have their answer`)
  return result
}

const without = async (engine: string, url: string, round: number): Promise<Result> => {
  waitMillis = 0
  const started = await start(engine, url)
  await started.execute(runsOf(`warm-${round}`, atOnce))
  const result = check(engine, await started.execute(runsOf(`round-${round}`, size)))
  await started.stop()
  return result
}

const withKill = async (engine: string, url: string, round: number) => {
  books.clear()
  waitMillis = callMillis
  const runs = runsOf(`killed-${round}`, size)
  const first = await start(engine, url)
  const killed = first.execute(runs)
  while (books.size < (size * Engine.steps) / 2) await new Promise((resolve) => setTimeout(resolve, 1))
  first.child.kill("SIGKILL")
  const lost = inFlight.size
  const since = performance.now()
  await killed
  const second = await start(engine, url)
  check(engine, await second.execute(runs))
  const seconds = (performance.now() - since) / 1000
  await second.stop()
  return { lost, twice: twice(), seconds }
}

const median = (values: ReadonlyArray<number>) => values.toSorted((left, right) => left - right)[values.length >> 1]!

const list = (values: ReadonlyArray<number>, digits = 0) => values.map((value) => value.toFixed(digits)).join(", ")

const server = await PostgresServer.start()
try {
  const load = () => os.loadavg()[0]!.toFixed(1)
  const before = load()
  const plain = new Map(engines.map((engine) => [engine, [] as Array<Result>]))
  const faulty = new Map(
    engines.map((engine) => [engine, [] as Array<{ lost: number; twice: number; seconds: number }>])
  )
  for (let round = 0; round < rounds; round++) {
    for (let at = 0; at < engines.length; at++) {
      const engine = engines[(at + round) % engines.length]!
      plain.get(engine)!.push(await without(engine, server.url, round))
      faulty.get(engine)!.push(await withKill(engine, server.url, round))
      process.stderr.write(`round ${round + 1}, ${engine}: done\n`)
    }
  }
  console.log(`${size} runs of ${Engine.steps} steps, ${atOnce} at once, ${rounds} rounds, load ${before} to ${load()}`)
  console.log(
    "| engine | runs/s | CPU a run, ms | in flight at the kill | calls paid twice | s from the kill to the end |"
  )
  console.log("|---|--:|--:|--:|--:|--:|")
  for (const engine of engines) {
    const [one, two] = [plain.get(engine)!, faulty.get(engine)!]
    const cells = [
      engine,
      median(one.map(({ seconds }) => size / seconds)).toFixed(0),
      median(one.map(({ cpuMillis }) => cpuMillis / size)).toFixed(1),
      list(two.map(({ lost }) => lost)),
      list(two.map(({ twice }) => twice)),
      list(
        two.map(({ seconds }) => seconds),
        1
      )
    ]
    console.log(`| ${cells.join(" | ")} |`)
  }
} finally {
  server.stop()
}
process.exit()

/**
 * How often the bodies of runs begin when many are submitted at once, how much memory the servers use, and how long a
 * takeover lasts after `kill -9`. It starts Postgres and two servers. `TOGETHER` is the number of submissions at the same time, and
 * `TAKEOVERS` the number of servers that are killed, one after the other.
 *
 *     RUNS=2000 REFRESH=3000 EXPIRE=12000 TOGETHER=200 TAKEOVERS=1 node --conditions=@divisi/source packages/cluster/bench/placing.ts
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Postgres from "../src/Postgres.ts"
import { ClusterRuns } from "../src/runs.ts"

const number = (name: string, or: number) => Number(process.env[name] ?? or)
const [runs, refreshMillis, expireMillis] = [number("RUNS", 2_000), number("REFRESH", 3_000), number("EXPIRE", 12_000)]
const [takeovers, together] = [number("TAKEOVERS", 1), number("TOGETHER", 200)]
const fixture = fileURLToPath(new URL("../test/fixtures/runner.ts", import.meta.url))
const root = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-placing-"))

const start = async (options: object): Promise<ChildProcess> => {
  const given = JSON.stringify({ port: await PostgresServer.freePort(), refreshMillis, expireMillis, ...options })
  const child = spawn(process.execPath, ["--expose-gc", "--conditions=@divisi/source", fixture, given], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  await once(child.stdout!, "data")
  return child
}

/** The heap of a server after a collection, in megabytes. */
const heapOf = async (child: ChildProcess): Promise<number> => {
  const answered = once(child.stdout!, "data")
  child.kill("SIGUSR2")
  return Number(/heap (\d+)/.exec(String((await answered)[0]))?.[1])
}

const seconds = (since: number) => ((performance.now() - since) / 1000).toFixed(1)

const measure = (url: string, schema: string, callMillis: number) =>
  Effect.gen(function* () {
    const books = path.join(root, schema)
    fs.writeFileSync(books, "")
    const place = { url: Redacted.make(url), schema }
    const options = { url, schema, books, callMillis, steps: 5 }
    const servers = [yield* Effect.promise(() => start(options)), yield* Effect.promise(() => start(options))]
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const server of servers) server.kill("SIGKILL")
      })
    )
    const client = yield* ClusterRuns.make({ ...place, refreshMillis, expireMillis, patienceMillis: 300_000 })
    const { run } = yield* Postgres.open({ ...place, maxConnections: 2 })
    const one = (statement: string) =>
      Effect.map(
        run((session) => session.query(statement)),
        ([row]) => Number(row?.[0])
      )
    return { books, client, one, servers }
  })

const placing = (url: string) =>
  Effect.gen(function* () {
    const { client, one, servers } = yield* measure(url, "burst", 0)
    const since = performance.now()
    yield* Effect.forkChild(
      Effect.forEach(
        Array.from({ length: runs }, (_, at) => `run-${at}`),
        (id) => client.submit(id, "question"),
        { concurrency: together, discard: true }
      )
    )
    const memory: Array<string> = []
    const measured = 8
    let ended = 0
    while (ended < runs) {
      yield* Effect.sleep(1_000)
      ended = yield* one(`SELECT count(*)::int FROM burst.runs WHERE head LIKE '%"ending":"answered"%'`)
      if (ended < (runs * memory.length) / measured) continue
      memory.push(`${ended}: ${(yield* Effect.promise(() => Promise.all(servers.map(heapOf)))).join(", ")}`)
    }
    const begun = yield* one("SELECT sum(epoch)::int FROM burst.runs")
    console.log(`${runs} runs in ${seconds(since)} s, ${begun} bodies begun (${refreshMillis}/${expireMillis} ms)`)
    yield* Effect.sleep(30_000)
    memory.push(`30 s later: ${(yield* Effect.promise(() => Promise.all(servers.map(heapOf)))).join(", ")}`)
    console.log(`runs ended: MB of heap of the servers after a collection\n  ${memory.join("\n  ")}`)
  })

const takeover = (url: string, schema: string) =>
  Effect.gen(function* () {
    const { client, one, servers } = yield* measure(url, schema, 500)
    yield* Effect.forEach(
      Array.from({ length: 40 }, (_, at) => `run-${at}`),
      (id) => client.submit(id, "question"),
      { concurrency: 20 }
    )
    const victim = servers[0]!
    const owned = `FROM ${schema}.runs WHERE owner LIKE '% ${victim.pid} %' AND head NOT LIKE '%"ending"%'`
    let left = 0
    while (left < 10) left = yield* one(`SELECT count(*)::int ${owned}`)
    victim.kill("SIGKILL")
    const since = performance.now()
    const first = left
    while (left === first) left = yield* one(`SELECT count(*)::int ${owned}`)
    const begun = seconds(since)
    while (left > 0) left = yield* one(`SELECT count(*)::int ${owned}`)
    console.log(`${first} runs of a killed server were taken over after ${begun} to ${seconds(since)} s`)
  })

const server = await PostgresServer.start()
try {
  if (runs > 0) await Effect.runPromise(Effect.scoped(placing(server.url)))
  for (let trial = 0; trial < takeovers; trial += 1) {
    await Effect.runPromise(Effect.scoped(takeover(server.url, `takeover_${trial}`)))
  }
} finally {
  server.stop()
  fs.rmSync(root, { recursive: true, force: true })
}
process.exit(0)

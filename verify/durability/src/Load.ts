/**
 * Measures the load of runs on a cluster server and its database. The server's heap is measured after garbage
 * collection, after each part of the runs and after a pause: memory that grows with each part is retained per run.
 */
import { type ChildProcess, spawn } from "node:child_process"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { createInterface, type Interface } from "node:readline"
import { fileURLToPath } from "node:url"
import { Postgres } from "@divisi/cluster"
import { ClusterRuns } from "@divisi/cluster/runs"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"

/** A measurement. */
export interface Options {
  readonly runs: number
  /** The number of equal parts. Default: 5. */
  readonly parts?: number | undefined
  /** The pause after the runs, in seconds. Effect's cluster retains a run for about 20 seconds. Default: 75. */
  readonly pauseSeconds?: number | undefined
}

/** The memory of the server after some runs, in bytes: its heap after a collection, and the memory of the process. */
export interface Point {
  readonly runs: number
  readonly seconds: number
  readonly heapBytes: number
  readonly processBytes: number
}

const program = fileURLToPath(new URL("machines/server.ts", import.meta.url))

const steps = 5

/** The CPU time that a process has used, in seconds. */
const cpuSeconds = ({ pid }: ChildProcess): number => {
  const [user, system] = fs
    .readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ")
    .slice(11)
  return (Number(user) + Number(system)) / 100
}

/** The next line of a server that begins with a word. */
const lineOf = (lines: Interface, word: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const look = (line: string) => {
      if (!line.startsWith(word)) return
      lines.off("line", look)
      resolve(line.slice(word.length).trim())
    }
    lines.on("line", look).once("close", () => reject(new Error("the server has ended")))
  })

/** The work of the database. */
export interface Found {
  readonly runs: number
  readonly runsPerSecond: number
  /** The seconds of CPU time of the server. */
  readonly serverSeconds: number
  readonly commits: number
  /** The connections of the server. */
  readonly connections: number
  readonly rows: number
  readonly bytes: number
}

/** The commits, and the sums of all tables with their indexes. */
const sums = `SELECT
  (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database())::double precision,
  (SELECT sum((xpath('/row/c/text()', query_to_xml(
    format('SELECT count(*) AS c FROM %I.%I', schemaname, relname), true, true, '')))[1]::text::bigint)
    FROM pg_stat_user_tables)::double precision,
  (SELECT sum(pg_total_relation_size(relid)) FROM pg_stat_user_tables)::double precision`

/** The number of connections from a process to a port of a local database. */
const connectionsOf = ({ pid }: ChildProcess, port: number): number => {
  const inodes = fs.readdirSync(`/proc/${pid}/fd`).map((file) => {
    try {
      return fs.readlinkSync(`/proc/${pid}/fd/${file}`)
    } catch {
      return ""
    }
  })
  const remote = `:${port.toString(16).toUpperCase().padStart(4, "0")}`
  const fields = fs
    .readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
  return fields.filter((field) => field[2]?.endsWith(remote) && inodes.includes(`socket:[${field[9]}]`)).length
}

/** Executes runs on one server, and measures both. */
export const run = async (options: Options, onPoint: (point: Point) => void): Promise<Found> => {
  const { parts = 5, pauseSeconds = 75, runs } = options
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-load-"))
  const books = path.join(root, "books")
  const database = await PostgresServer.start()
  let child: ChildProcess | undefined
  try {
    const given = {
      url: database.url,
      host: "127.0.0.1",
      port: await PostgresServer.freePort(),
      books,
      callMillis: 0,
      steps
    }
    const args = ["--expose-gc", "--conditions=@divisi/source", program, JSON.stringify({ ...given, limitUsd: runs })]
    const server = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
    child = server
    const lines = createInterface({ input: server.stdout })
    await lineOf(lines, "ready")
    const began = performance.now()
    const measure = async (done: number) => {
      const seconds = Math.round((performance.now() - began) / 1000)
      const line = lineOf(lines, "memory ")
      server.kill("SIGUSR2")
      const [heapBytes = 0, processBytes = 0] = (await line).split(" ").map(Number)
      onPoint({ runs: done, seconds, heapBytes, processBytes })
    }
    const place = { url: Redacted.make(database.url), patienceMillis: 120_000 }
    const operation = Effect.gen(function* () {
      const { run } = yield* Postgres.open({ ...place, maxConnections: 1 })
      const look = Effect.map(
        run((session) => session.query(sums)),
        ([row]) => (row ?? []).map(Number)
      )
      const client = yield* ClusterRuns.make(place)
      const one = (at: number) =>
        client
          .submit(`run-${at}`, `question ${at}`)
          .pipe(Effect.andThen(Stream.runDrain(client.follow(`run-${at}`))), Effect.andThen(client.result(`run-${at}`)))
      const [commitsBefore = 0, rowsBefore = 0, bytesBefore = 0] = yield* look
      const cpuBefore = cpuSeconds(server)
      const size = Math.ceil(runs / parts)
      let [seconds, connections] = [0, 0]
      for (let from = 0; from < runs; from += size) {
        const part = Array.from({ length: Math.min(size, runs - from) }, (_, at) => from + at)
        const since = performance.now()
        yield* Effect.forEach(part, one, { concurrency: 50, discard: true })
        seconds += (performance.now() - since) / 1000
        connections = Math.max(connections, connectionsOf(server, Number(new URL(database.url).port)))
        yield* Effect.promise(() => measure(from + part.length))
      }
      const serverSeconds = cpuSeconds(server) - cpuBefore
      // Statistics of the database arrive late.
      yield* Effect.sleep(pauseSeconds * 1_000)
      yield* Effect.promise(() => measure(runs))
      const [commits = 0, rows = 0, bytes = 0] = yield* look
      return {
        runs,
        runsPerSecond: runs / seconds,
        serverSeconds,
        commits: commits - commitsBefore,
        connections,
        rows: rows - rowsBefore,
        bytes: bytes - bytesBefore
      }
    })
    return await Effect.runPromise(Effect.scoped(operation))
  } finally {
    child?.kill("SIGKILL")
    database.stop()
    fs.rmSync(root, { recursive: true, force: true })
  }
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1)

/** The result as lines. */
export const format = ({ bytes, commits, connections, rows, runs, runsPerSecond, serverSeconds }: Found): string =>
  [
    `${runs} runs of ${steps} calls: ${runsPerSecond.toFixed(1)} runs/s, ${((serverSeconds / runs) * 1000).toFixed(1)} ms of CPU time of the server per run`,
    `database: ${connections} connections of the server; per run ${(commits / runs).toFixed(1)} commits, ${(rows / runs).toFixed(1)} rows, ${(bytes / runs / 1000).toFixed(1)} kB`
  ].join("\n")

/** A point as a line. */
export const formatPoint = ({ heapBytes, processBytes, runs, seconds }: Point): string =>
  `${seconds} s, ${runs} runs: ${megabytes(heapBytes)} MB of heap, ${megabytes(processBytes)} MB of memory`

/**
 * Cluster runs under faults: servers on one Postgres, with different clocks, are killed, frozen, drained and
 * disconnected at random, and the database crashes or its disk is full. Finally, the records of the vendor, the journal
 * and the account are compared.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import fs from "node:fs"
import { connect } from "node:net"
import os from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { Postgres, PostgresAccounts } from "@divisi/cluster"
import { ClusterRuns } from "@divisi/cluster/runs"
import { Seed } from "@divisi/core"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Disk from "./disks/Disk.ts"
import * as Network from "./machines/Network.ts"

/** A faulty operation. */
export interface Options {
  readonly seed: number
  readonly runs: number
  readonly faults: number
  /** The number of servers. Default: 4. */
  readonly servers?: number | undefined
  /** After so many minutes no run and no fault begins. Default: no limit. */
  readonly minutes?: number | undefined
  /** Fails if the runs have not ended after so many seconds. Default: no limit. */
  readonly limitSeconds?: number | undefined
  /** The number of faults at the same time, each at a different server. Default: 1. */
  readonly lanes?: number | undefined
}

/** The faults of one server. Those of the database follow. */
const ofServers = ["kill", "freeze", "drain", "cut", "partition"] as const
const ofDatabase = ["crash", "full"] as const
const kinds = [...ofServers, ...ofDatabase]

type Kind = (typeof kinds)[number]

/** The share of faults of the database: 1 of so many. */
const databaseShare = 12

/** The counts, and the violated conditions. */
export interface Found {
  readonly problems: ReadonlyArray<string>
  readonly seed: number
  readonly runs: number
  readonly answered: number
  readonly seconds: number
  readonly faults: Readonly<Record<Kind, number>>
  readonly calls: number
  /** Calls that began more than once, and the calls in flight at kills, freezes and partitions. */
  readonly twice: number
  readonly inFlight: number
  /**
   * The calls whose answers were lost at these faults: those in flight, and those not yet in the journal. `unwrittenLines`:
   * the most lines of the vendor's books between such an answer and the fault.
   */
  readonly lost: { readonly open: number; readonly unwritten: number; readonly unwrittenLines: number }
  readonly streams: number
  readonly account: { readonly calls: number; readonly costUsd: number; readonly open: number }
  /** The longest drain, in seconds. */
  readonly drainSeconds: number
  /** Kinds of faults that this machine does not allow. */
  readonly untried: ReadonlyArray<string>
}

const steps = 6

const costOf = (calls: number) => calls * 10e-6

/** Whether Postgres is installed. */
export const isPossible = (): boolean => PostgresServer.find() !== undefined

/** Whether a server accepts connections at the address of a URL. */
const accepts = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false))
    socket.once("connect", () => socket.destroy())
  })

const [program, clock] = ["machines/server.ts", "chaos/clock.ts"].map((file) =>
  fileURLToPath(new URL(file, import.meta.url))
) as [string, string]

/** The clocks of the servers, in minutes relative to the clock of the database. */
const clockMinutes = [0, -47, 95, 26 * 60]

/** Starts a server, and waits until it executes runs. */
const start = async (options: object, clockMillis: number, within: ReadonlyArray<string>): Promise<ChildProcess> => {
  const given = JSON.stringify({ ...options, port: await PostgresServer.freePort(), callMillis: 300, steps })
  const [command = "", ...args] = [
    ...within,
    process.execPath,
    "--conditions=@divisi/source",
    "--import",
    clock,
    program,
    given
  ]
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, CHAOS_CLOCK_MILLIS: `${clockMillis}` }
  })
  let output = ""
  await new Promise<void>((resolve, reject) => {
    child.stdout!.on("data", (data) => {
      output += data
      if (output.includes("ready\n")) resolve()
    })
    child.once("exit", () => reject(new Error(output)))
  })
  return child
}

const placeOf = (call: string) => call.replace(/\/\d+$/, "")

/** The books of the vendor. */
const readBooks = (books: string) => {
  const begun = new Map<string, number>()
  const open = new Map<string, Set<string>>()
  /** Attempts by name: their process, and the numbers of the lines of their begin and end. */
  const attempts = new Map<string, { pid: string; begin: number; end: number }>()
  let number = 0
  for (const line of fs.readFileSync(books, "utf8").split("\n")) {
    const [what, call, pid] = line.split(" ")
    if (call === undefined || pid === undefined) continue
    const own = open.get(pid) ?? new Set()
    open.set(pid, own)
    number += 1
    if (what === "begin") attempts.set(call, { pid, begin: number, end: Number.POSITIVE_INFINITY })
    else attempts.get(call)!.end = number
    if (what === "begin") {
      begun.set(placeOf(call), (begun.get(placeOf(call)) ?? 0) + 1)
      own.add(call)
    } else own.delete(call)
  }
  return { begun, attempts, lines: number, openOf: ({ pid }: ChildProcess) => open.get(`${pid}`)?.size ?? 0 }
}

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Freezes a process. The signal is handled some time after it was sent. */
const freeze = async (child: ChildProcess): Promise<void> => {
  child.kill("SIGSTOP")
  const isFrozen = () => /^\d+ \(.*\) [Tt] /s.test(fs.readFileSync(`/proc/${child.pid}/stat`, "utf8"))
  while (!isFrozen()) await sleep(5)
}

/** The maximum time in which a server has to drain, in milliseconds. */
const drainMillis = 90_000

/** Returns whether a process ended in time. Clears its timer, so that it does not keep this process alive. */
const hasEnded = (child: ChildProcess): Promise<boolean> =>
  once(child, "exit", { signal: AbortSignal.timeout(drainMillis) }).then(
    () => true,
    () => false
  )

/** A disk for the database that can be full. */
const mounted = (root: string): Disk.Disk | undefined => {
  if (process.platform !== "linux" || !Disk.isRoot) return undefined
  try {
    return Disk.mount(path.join(root, "disk"), 600)
  } catch {
    return undefined
  }
}

/** Submits the runs while servers fail, and compares the books. */
export const run = async (options: Options, onFault: (text: string) => void): Promise<Found> => {
  const {
    faults,
    lanes = 1,
    limitSeconds = Number.POSITIVE_INFINITY,
    runs: planned,
    seed,
    servers: count = 4
  } = options
  const { minutes = limitSeconds / 60 } = options
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-machines-"))
  fs.chmodSync(root, 0o755)
  const books = path.join(root, "books")
  fs.writeFileSync(books, "")
  const network = Network.isPossible() ? Network.open(count) : undefined
  const disk = mounted(root)
  const untried = [...(network === undefined ? ["partition"] : []), ...(disk === undefined ? ["full"] : [])]
  const database = await PostgresServer.start({
    address: network?.gateway,
    folder: disk?.folder,
    settings: { max_wal_size: "96MB" }
  })
  // Above all that can be charged, unless calls are repeated without need.
  const limitUsd = costOf(planned * steps) * 2 + 1
  const url = network === undefined ? database.url : database.url.replace("127.0.0.1", network.gateway)
  const problems: Array<string> = []
  const counts: Record<Kind, number> = { kill: 0, freeze: 0, drain: 0, cut: 0, partition: 0, crash: 0, full: 0 }
  const began = performance.now()
  const submitted: Array<number> = []
  const running = new Set<string>()
  /** The processes that were killed, frozen or cut off, and the lines of the vendor's books at that time. */
  const losses: Array<{ readonly pid: string; readonly lines: number }> = []
  let [harmed, inFlight, done, drainSeconds] = [0, 0, 0, 0]
  const isOver = () => performance.now() - began > minutes * 60_000
  const servers: Array<ChildProcess> = []
  const startAt = (at: number) =>
    start(
      { url, books, limitUsd, host: network?.addressOf(at) ?? "127.0.0.1" },
      clockMinutes[at % clockMinutes.length]! * 60_000,
      network?.within(at) ?? []
    )
  try {
    servers.push(await startAt(0))
    servers.push(...(await Promise.all(Array.from({ length: count - 1 }, (_, at) => startAt(at + 1)))))

    let atDatabase = Promise.resolve()
    /** One fault of the database at a time. */
    const harmDatabase = (kind: (typeof ofDatabase)[number], millis: number): Promise<void> => {
      const harm = async () => {
        if (kind === "crash") return database.restart("immediate")
        // The database may use the last pages at the same time.
        try {
          disk!.fill(0)
        } catch {}
        await sleep(millis)
        disk!.empty()
        // The database may have ended, or may be ending, because it cannot write its log.
        for (;;) {
          await sleep(1_000)
          if (await accepts(database.url)) return
          try {
            database.begin()
          } catch {}
        }
      }
      atDatabase = atDatabase.then(harm)
      return atDatabase
    }

    const harmServer = async (kind: (typeof ofServers)[number], at: number, millis: number): Promise<string> => {
      const victim = servers[at]!
      const open = () => readBooks(books).openOf(victim)
      const lose = () => {
        losses.push({ pid: `${victim.pid}`, lines: readBooks(books).lines })
        const left = open()
        inFlight += left
        return left
      }
      if (kind === "kill") {
        victim.kill("SIGKILL")
        await once(victim, "exit")
        const left = lose()
        servers[at] = await startAt(at)
        return `${left} calls in flight`
      }
      if (kind === "drain") {
        const since = performance.now()
        victim.kill("SIGTERM")
        const isEnded = await hasEnded(victim)
        const seconds = (performance.now() - since) / 1000
        drainSeconds = Math.max(drainSeconds, seconds)
        const left = open()
        if (!isEnded) {
          problems.push(`a drained server did not end in ${drainMillis / 1000} s, with ${left} calls in flight`)
          victim.kill("SIGKILL")
          await once(victim, "exit")
        }
        if (left > 0) problems.push(`a drained server left ${left} calls`)
        servers[at] = await startAt(at)
        return `${seconds.toFixed(1)} s`
      }
      if (kind === "freeze") await freeze(victim)
      else network!.setCut(at, true)
      const left = lose()
      await sleep(millis)
      if (kind === "freeze") victim.kill("SIGCONT")
      else network!.setCut(at, false)
      return `${(millis / 1000).toFixed(1)} s, ${left} calls in flight`
    }

    const harming = async (lane: number, postgres: Postgres.Postgres): Promise<void> => {
      const draw = Seed.draw(seed * 1_000 + lane)
      const own = Array.from({ length: count }, (_, at) => at).filter((at) => at % lanes === lane)
      while (harmed < faults && !isOver()) {
        harmed += 1
        const at = own[Seed.below(draw, own.length)]!
        const possible: ReadonlyArray<Kind> = (Seed.below(draw, databaseShare) === 0 ? ofDatabase : ofServers).filter(
          (kind) => !untried.includes(kind)
        )
        const kind = possible[Seed.below(draw, possible.length)]!
        const millis = 6_000 + Seed.below(draw, 10_000)
        counts[kind] += 1
        const number = harmed
        let detail = ""
        if (kind === "cut") {
          const cut = `SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity
            WHERE application_name LIKE 'divisi%' AND pid <> pg_backend_pid() AND pid % 3 = ${Seed.below(draw, 3)}`
          await Effect.runPromise(Effect.ignore(postgres.run((session) => session.query(cut))))
        } else if (kind === "crash" || kind === "full") await harmDatabase(kind, millis / 4)
        else detail = `server ${at}, ${await harmServer(kind, at, millis)}`
        const seconds = Math.round((performance.now() - began) / 1000)
        onFault(`${seconds} s, ${done} runs: fault ${number}, ${kind}${detail === "" ? "" : ` (${detail})`}`)
        await sleep(500 + Seed.below(draw, 1_500))
      }
    }

    const operation = Effect.gen(function* () {
      const place = { url: Redacted.make(database.url), graceMillis: 3_000, patienceMillis: 120_000 }
      const postgres = yield* Postgres.open({ ...place, maxConnections: 2 })
      const client = yield* ClusterRuns.make(place)
      const one = Effect.fnUntraced(function* (at: number) {
        const id = `run-${at}`
        // The runs are spread over the faults.
        while (at > ((harmed + 1) / Math.max(1, faults)) * planned && !isOver()) yield* Effect.sleep(50)
        if (isOver()) return undefined
        submitted.push(at)
        running.add(id)
        yield* client.submit(id, `question ${at}`)
        const items = yield* Stream.runCollect(client.follow(id))
        const numbers = items.flatMap(({ seq }) => (seq === undefined ? [] : [seq]))
        if (numbers.some((number, position) => number !== position)) problems.push(`the stream of ${id} has a gap`)
        const { detail, ending } = yield* client.result(id)
        if (ending !== "answered") problems.push(`${id} ended as ${ending}: ${detail}`)
        done += 1
        running.delete(id)
        return ending
      })
      const harm = Effect.promise(() =>
        Promise.all(Array.from({ length: lanes }, (_, lane) => harming(lane, postgres)))
      )
      const each = Effect.forEach(
        Array.from({ length: planned }, (_, at) => at),
        one,
        { concurrency: 60 }
      )
      const [endings] = yield* Effect.all([each, harm], { concurrency: 2 })
      const answers = new Map<string, number>()
      const answered = new Set<string>()
      for (const at of submitted) {
        const entries = yield* client.journal.read(`run-${at}`)
        const own = entries.filter(({ type }) => type === "answered")
        if (own.length !== steps) problems.push(`run-${at} has ${own.length} answers in its journal`)
        for (const entry of own) if ("call" in entry) answers.set(entry.call, (answers.get(entry.call) ?? 0) + 1)
        for (const entry of own) if ("call" in entry) answered.add(`${entry.call}/${entry.attempt}`)
      }
      const received = [...answers.values()].filter((count) => count > 1).length
      if (received > 0) problems.push(`${received} received answers were paid for twice`)
      for (const server of servers) server.kill("SIGTERM")
      yield* Effect.promise(() => Promise.all(servers.map((server) => once(server, "exit"))))
      const accounts = yield* PostgresAccounts.make(postgres)
      const all = yield* accounts.open({ name: "all" })
      const { open, total } = yield* all.standing
      return { answered: endings.filter((ending) => ending === "answered").length, names: answered, open, total }
    })
    const limited = Effect.timeoutOption(operation, Duration.seconds(limitSeconds))
    const found = await Effect.runPromise(Effect.scoped(limited))
    if (Option.isNone(found))
      throw new Error(`These runs had not ended after ${limitSeconds} s: ${[...running].join(", ")}`)
    const { answered, names, open, total } = found.value
    const { attempts, begun } = readBooks(books)
    /**
     * The calls that a fault lost: their process was killed, frozen or cut off between their begin and the entry of their
     * answer in the journal, which never came. The answer of `unwritten` ones had reached the process.
     */
    const lost = { open: 0, unwritten: 0, unwrittenLines: 0 }
    for (const [name, { begin, end, pid }] of attempts) {
      if (names.has(name)) continue
      const faults = losses.filter((loss) => loss.pid === pid && begin <= loss.lines)
      if (faults.some(({ lines }) => end > lines)) lost.open += 1
      else if (faults.length > 0) {
        lost.unwritten += 1
        lost.unwrittenLines = Math.max(lost.unwrittenLines, Math.min(...faults.map(({ lines }) => lines - end)))
      } else problems.push(`the answer to ${name} was lost without a fault of its server`)
    }
    const runs = submitted.length
    const calls = [...begun.values()].reduce((sum, count) => sum + count, 0)
    const twice = calls - begun.size
    if (begun.size !== runs * steps) problems.push(`the vendor has ${begun.size} calls instead of ${runs * steps}`)
    const allowed = lost.open + lost.unwritten
    if (twice > allowed) problems.push(`${twice} calls were made twice, ${allowed} were lost at faults`)
    if (open !== 0) problems.push(`${open} reservations are open`)
    if (total.costUsd < costOf(calls) - 1e-9) problems.push("the account has less than the vendor")
    if (total.costUsd > limitUsd) problems.push(`the account of ${limitUsd} USD has ${total.costUsd} USD`)
    return {
      problems,
      seed,
      runs,
      answered,
      seconds: Math.round((performance.now() - began) / 1000),
      faults: counts,
      calls,
      twice,
      inFlight,
      lost,
      streams: runs,
      drainSeconds: Math.round(drainSeconds * 10) / 10,
      untried,
      account: { calls: total.calls, costUsd: Math.round(total.costUsd * 1e6) / 1e6, open }
    }
  } finally {
    for (const server of servers) {
      server.kill("SIGCONT")
      server.kill("SIGKILL")
    }
    disk?.empty()
    database.stop()
    disk?.unmount()
    network?.close()
    fs.rmSync(root, { recursive: true, force: true })
  }
}

/** The result as lines. */
export const format = (found: Found): string => {
  const { account, answered, calls, drainSeconds, faults, inFlight, lost, problems, runs, seconds, seed, streams } =
    found
  const sum = Object.values(faults).reduce((sum, one) => sum + one)
  const each = Object.entries(faults).map(([kind, count]) => `${count} ${kind}`)
  return [
    ...problems,
    `seed ${seed}: ${answered} of ${runs} runs answered in ${seconds} s, ${sum} faults (${each.join(", ")})`,
    ...(found.untried.length > 0 ? [`not possible on this machine: ${found.untried.join(", ")}`] : []),
    `vendor: ${calls} calls, ${found.twice} made twice, ${inFlight} in flight at kills, freezes and partitions`,
    `answers lost at these faults: ${lost.open} of calls in flight, ${lost.unwritten} that were not in the journal yet, at most ${lost.unwrittenLines} lines of the vendor before`,
    `the longest drain: ${drainSeconds} s`,
    `account: ${account.calls} calls, ${account.costUsd} USD, ${account.open} open`,
    `${streams} streams; ${problems.length} problems`
  ].join("\n")
}

import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { Journal } from "@divisi/core"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Operations from "../src/Operations.ts"
import * as Postgres from "../src/Postgres.ts"
import { ClusterRuns } from "../src/runs.ts"
import { hasPostgres } from "./database.ts"

const fixture = fileURLToPath(new URL("fixtures/runner.ts", import.meta.url))

describe.skipIf(!hasPostgres)("runs of a cluster", () => {
  let server: PostgresServer.PostgresServer
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-cluster-"))
  const children: Array<ChildProcess> = []
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => {
    for (const child of children) child.kill("SIGKILL")
    server.stop()
    fs.rmSync(root, { recursive: true })
  })

  const start = async (options: object): Promise<ChildProcess> => {
    const port = await PostgresServer.freePort()
    const given = JSON.stringify({ url: server.url, port, refreshMillis: 2_000, expireMillis: 6_000, ...options })
    const child = spawn(process.execPath, ["--conditions=@divisi/source", fixture, given], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    children.push(child)
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

  /** A cluster of its own: its books, its servers, and a client that executes no run. */
  const cluster = (name: string, servers: number, options: object = {}) =>
    Effect.gen(function* () {
      const books = path.join(root, name)
      fs.writeFileSync(books, "")
      const all = { schema: name, books, ...options }
      const before = children.length
      // Servers that stay would hold their connections during the other tests, and runs that stay would not be executed
      // again if the test is repeated.
      const ended = Effect.gen(function* () {
        for (const child of children.slice(before)) child.kill("SIGKILL")
        const { run } = yield* Postgres.open({ url: Redacted.make(server.url), maxConnections: 1 })
        yield* run((session) => session.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`))
      })
      yield* Effect.addFinalizer(() => Effect.orDie(Effect.scoped(ended)))
      const first = yield* Effect.promise(() => start(all))
      const rest = yield* Effect.promise(() => Promise.all(Array.from({ length: servers - 1 }, () => start(all))))
      const client = yield* ClusterRuns.make({
        url: Redacted.make(server.url),
        schema: name,
        graceMillis: 0,
        refreshMillis: 2_000,
        expireMillis: 6_000,
        ...("versionGroup" in options ? { versionGroup: options.versionGroup as string } : {})
      })
      const lines = () => fs.readFileSync(books, "utf8").trim().split("\n").filter(Boolean)
      /** The calls that began more than once, by their places in runs. */
      const twice = () => {
        const counts = new Map<string, number>()
        for (const line of lines()) {
          const [what, call = ""] = line.split(" ")
          const place = call.replace(/\/\d+$/, "")
          if (what === "begin") counts.set(place, (counts.get(place) ?? 0) + 1)
        }
        return { calls: counts.size, twice: [...counts.values()].filter((count) => count > 1).length }
      }
      /** The calls in flight on a server. */
      const inFlight = ({ pid }: ChildProcess) =>
        lines().reduce((sum, line) => {
          if (!line.endsWith(` ${pid}`)) return sum
          return sum + (line.startsWith("begin") ? 1 : -1)
        }, 0)
      /** The calls that a server began and whose answers are not in the journal, by their lines in the books. */
      const unanswered = ({ pid }: ChildProcess) =>
        Effect.gen(function* () {
          const own = lines().flatMap((line, at) => {
            const [what, call = "", by] = line.split(" ")
            return what === "begin" && by === `${pid}` ? [{ call, at }] : []
          })
          const answered = new Set<string>()
          for (const run of new Set(own.map(({ call }) => call.split("/")[0]!))) {
            for (const entry of yield* Effect.orDie(client.journal.read(run)))
              if (entry.type === "answered") answered.add(`${entry.call}/${entry.attempt}`)
          }
          return own.filter(({ call }) => !answered.has(call))
        })
      const more = (own: object = {}) => start({ ...all, ...own })
      return { servers: [first, ...rest], client, twice, inFlight, unanswered, lines, start: more }
    })

  const until = (condition: () => boolean): Effect.Effect<void> =>
    Effect.suspend(() => (condition() ? Effect.void : Effect.andThen(Effect.sleep(10), until(condition))))

  /** Freezes a process. The signal is handled some time after it was sent. */
  const stop = (child: ChildProcess): Effect.Effect<void> => {
    child.kill("SIGSTOP")
    return until(() =>
      spawnSync("ps", ["-o", "stat=", "-p", `${child.pid}`], { encoding: "utf8" }).stdout.startsWith("T")
    )
  }

  /** Waits until each server has its share of the locks of shards, and none moves: a shard that moves is not a fault. */
  const isSettled = Effect.gen(function* () {
    const { run } = yield* Postgres.open({ url: Redacted.make(server.url), maxConnections: 1 })
    const locks = run((session) =>
      session.query("SELECT pid, count(*)::int FROM pg_locks WHERE locktype = 'advisory' GROUP BY pid ORDER BY pid")
    )
    const shares = Effect.map(locks, (rows) => rows.filter(([, count]) => Number(count) > 20))
    let before = ""
    for (;;) {
      const now = yield* shares
      if (now.length === 2 && JSON.stringify(now) === before) return
      before = JSON.stringify(now)
      yield* Effect.sleep(1_000)
    }
  })

  const ids = (count: number) => Array.from({ length: count }, (_, at) => `run-${at}`)

  /** Runs a test. If it takes too long, its servers end with it. */
  const runTest = (signal: AbortSignal, effect: Effect.Effect<void, unknown, Scope.Scope>) =>
    Effect.runPromise(Effect.scoped(effect), { signal })

  it("are executed once each, and streamed without gaps by any member", { timeout: 60_000 }, ({ signal }) =>
    runTest(
      signal,
      Effect.gen(function* () {
        const { client, twice } = yield* cluster("once", 2)
        const names = ids(20)
        yield* Effect.forEach([...names, ...names], (id) => client.submit(id, `question ${id}`), { concurrency: 8 })
        const followed = yield* Effect.forEach(names, (id) => Stream.runCollect(client.follow(id)), {
          concurrency: "unbounded"
        })
        for (const items of followed) {
          const numbers = items.flatMap(({ seq }) => (seq === undefined ? [] : [seq]))
          assert.deepStrictEqual(numbers, [...numbers.keys()])
        }
        const ended = yield* Effect.forEach(names, client.result, { concurrency: "unbounded" })
        assert.deepStrictEqual([...new Set(ended.map(({ detail, ending }) => detail ?? ending))], ["answered"])
        assert.deepStrictEqual(twice(), { calls: 80, twice: 0 })
        // A reader that comes later, from a number on.
        const [, ...rest] = followed[0]!.filter(({ seq }) => seq !== undefined)
        const later = yield* Stream.runCollect(client.follow(names[0]!, 1))
        assert.deepStrictEqual(
          later.map(({ body }) => body),
          rest.map(({ body }) => body)
        )
        assert.isTrue(Option.isNone(yield* client.poll("another")))
      })
    )
  )

  /** Submits runs to servers whose calls take a while, harms the first once it has calls in flight, and waits. */
  const harmed = (
    name: string,
    options: object,
    harm: (all: Effect.Success<ReturnType<typeof cluster>>, victim: ChildProcess) => Effect.Effect<void>
  ) =>
    Effect.gen(function* () {
      const all = yield* cluster(name, 2, { callMillis: 150, steps: 6, ...options })
      const victim = all.servers[0]!
      yield* Effect.scoped(isSettled)
      const names = ids(16)
      yield* Effect.forEach(names, (id) => all.client.submit(id, `question ${id}`), { concurrency: 8 })
      const streams = yield* Effect.forkChild(
        Effect.forEach(names, (id) => Stream.runCollect(all.client.follow(id)), { concurrency: "unbounded" })
      )
      yield* until(() => all.inFlight(victim) > 2)
      yield* harm(all, victim)
      const ended = yield* Effect.forEach(names, all.client.result, { concurrency: "unbounded" })
      assert.deepStrictEqual([...new Set(ended.map(({ detail, ending }) => detail ?? ending))], ["answered"])
      for (const items of yield* Fiber.join(streams)) {
        const numbers = items.flatMap(({ seq }) => (seq === undefined ? [] : [seq]))
        assert.deepStrictEqual(numbers, [...numbers.keys()])
      }
      return all.twice()
    })

  it(
    "continue on another server after kill -9; only calls in flight are made twice",
    { timeout: 120_000 },
    ({ signal }) =>
      runTest(
        signal,
        Effect.gen(function* () {
          let open = 0
          const { calls, twice } = yield* harmed("killed", {}, ({ unanswered }, victim) =>
            Effect.promise(async () => {
              victim.kill("SIGKILL")
              await once(victim, "exit")
              open = (await Effect.runPromise(unanswered(victim))).length
            })
          )
          assert.strictEqual(calls, 96)
          assert.isAtMost(twice, open)
        })
      )
  )

  it("are handed over by a server that stops, which makes no call twice", { timeout: 120_000 }, ({ signal }) =>
    runTest(
      signal,
      Effect.gen(function* () {
        const steps = 20
        let open = -1
        let longest = 0
        const { calls, twice } = yield* harmed("drained", { steps }, ({ inFlight, lines }, victim) =>
          Effect.promise(async () => {
            victim.kill("SIGTERM")
            await once(victim, "exit")
            open = inFlight(victim)
            const own = lines().filter((line) => line.startsWith("begin") && line.endsWith(` ${victim.pid}`))
            for (const id of ids(16)) {
              longest = Math.max(longest, own.filter((line) => line.startsWith(`begin ${id}/`)).length)
            }
          })
        )
        assert.deepStrictEqual({ calls, twice, open }, { calls: 16 * steps, twice: 0, open: 0 })
        // It does not execute its runs to their end.
        assert.isBelow(longest, steps)
      })
    )
  )

  it(
    "are executed by a server whose address was asked to drain before it started",
    { timeout: 120_000 },
    ({ signal }) =>
      runTest(
        signal,
        Effect.gen(function* () {
          const { client, lines, servers, start } = yield* cluster("again", 1)
          const port = yield* Effect.promise(() => PostgresServer.freePort())
          const postgres = yield* Postgres.open({ url: Redacted.make(server.url), schema: "again", maxConnections: 1 })
          yield* Operations.drain(postgres, `127.0.0.1:${port}`)
          const later = yield* Effect.promise(() => start({ port }))
          servers[0]!.kill("SIGTERM")
          yield* Effect.promise(() => once(servers[0]!, "exit"))
          // A server looks for such a request every second.
          yield* Effect.sleep(1_500)
          yield* client.submit("run", "question")
          assert.strictEqual((yield* client.result("run")).ending, "answered")
          for (const line of lines()) assert.include(line, ` ${later.pid}`)
        })
      )
  )

  it("are handed over after calls that last longer than leaving the cluster", { timeout: 120_000 }, ({ signal }) =>
    runTest(
      signal,
      Effect.gen(function* () {
        const { client, lines, servers, start, twice } = yield* cluster("patient", 1, { callMillis: 8_000, steps: 1 })
        yield* client.submit("run", "question")
        yield* until(() => lines().length > 0)
        servers[0]!.kill("SIGTERM")
        yield* Effect.promise(() => once(servers[0]!, "exit"))
        assert.strictEqual(lines().length, 2)
        yield* Effect.promise(start)
        assert.strictEqual((yield* client.result("run")).ending, "answered")
        assert.deepStrictEqual(twice(), { calls: 1, twice: 0 })
      })
    )
  )

  it("are handed over by a server that took them over, which makes no call twice", { timeout: 120_000 }, ({ signal }) =>
    runTest(
      signal,
      Effect.gen(function* () {
        let open = 0
        let left = -1
        const { calls, twice } = yield* harmed("taken", { callMillis: 400 }, (all, victim) =>
          Effect.promise(async () => {
            victim.kill("SIGKILL")
            await once(victim, "exit")
            open = (await Effect.runPromise(all.unanswered(victim))).length
            await all.start()
            // The other server has begun the calls again whose answers were lost.
            while (all.twice().twice < open) await new Promise((resolve) => setTimeout(resolve, 10))
            const taker = all.servers[1]!
            taker.kill("SIGTERM")
            await once(taker, "exit")
            left = all.inFlight(taker)
          })
        )
        assert.deepStrictEqual({ calls, twice, left }, { calls: 96, twice: open, left: 0 })
      })
    )
  )

  it("leave a frozen server; only calls that were in flight are made twice", { timeout: 240_000 }, ({ signal }) =>
    runTest(
      signal,
      Effect.gen(function* () {
        let lostBy: ReadonlyArray<Effect.Effect<ReadonlyArray<{ readonly at: number }>>> = []
        let thawedAt = 0
        const { calls, twice } = yield* harmed("frozen", {}, (all, victim) =>
          Effect.gen(function* () {
            yield* stop(victim)
            // The other server has taken all runs over: each call that was in flight is made again.
            while (all.twice().twice < (yield* all.unanswered(victim)).length) yield* Effect.sleep(100)
            lostBy = all.servers.map(all.unanswered)
            thawedAt = all.lines().length
            victim.kill("SIGCONT")
          })
        )
        const [ofVictim = [], ofOther] = yield* Effect.all(lostBy)
        assert.deepStrictEqual({ calls, twice, ofOther }, { calls: 96, twice: ofVictim.length, ofOther: [] })
        // A server frozen between the check before a call and the call sends this one call when it thaws.
        assert.isAtMost(ofVictim.filter(({ at }) => at >= thawedAt).length, 1)
      })
    )
  )

  it(
    "survive a crash of the database during a handover, and no call is made twice",
    { timeout: 240_000 },
    ({ signal }) =>
      runTest(
        signal,
        Effect.gen(function* () {
          const outcome = yield* harmed("crashed", {}, ({ start }) =>
            Effect.promise(async () => {
              // The shards of both servers move to a third one.
              await start()
              server.restart("immediate")
            })
          )
          assert.deepStrictEqual(outcome, { calls: 96, twice: 0 })
        })
      )
  )

  it(
    "end once too many servers in a row were lost with them, whether they have entries or not",
    { timeout: 60_000 },
    ({ signal }) =>
      runTest(
        signal,
        Effect.gen(function* () {
          const { client } = yield* cluster("abandoned", 1, { maxTakeovers: 1 })
          yield* client.submit("whole", "question")
          yield* client.result("whole")
          // Both runs belong to a server that is gone, as its predecessor is.
          const { run } = yield* Postgres.open({ url: Redacted.make(server.url), schema: "abandoned", graceMillis: 0 })
          yield* run((session) =>
            session.query(`INSERT INTO abandoned.runs (run, epoch, owner, length, bytes, changed_at, takeovers, head)
            SELECT name, 2, '1 1 gone', 0, 0, 0, 1, NULL FROM unnest('{early,late}'::text[]) AS names (name)`)
          )
          yield* run((session) =>
            session.query(`WITH whole AS (SELECT * FROM abandoned.runs WHERE run = 'whole'), late AS (
            UPDATE abandoned.runs SET head = replace(whole.head, '"ending"', '"was"'), length = 1
            FROM whole WHERE runs.run = 'late' RETURNING runs.id
          ) INSERT INTO abandoned.batches (run, seq, entries) SELECT id, 0, '[{"type":"begun"}]' FROM late`)
          )
          for (const id of ["early", "late"]) {
            yield* client.submit(id, "question")
            const { detail, ending, reason } = yield* client.result(id)
            assert.deepStrictEqual([ending, reason], ["failed", "Abandoned"])
            assert.include(detail, "2 consecutive processes")
            const items = yield* Stream.runCollect(client.follow(id))
            assert.strictEqual(items.length, id === "early" ? 0 : 2)
            assert.match(items.at(-1)?.body ?? "", id === "early" ? /^$/ : /"run-finished".*"failed"/)
          }
          assert.strictEqual((yield* client.journal.find("late"))?.ending, "failed")
        })
      )
  )

  it("wait for another server if a vendor rejects the key of theirs", { timeout: 60_000 }, ({ signal }) =>
    runTest(
      signal,
      Effect.gen(function* () {
        const { client, servers, start, twice } = yield* cluster("rejected", 1, { isRejected: true })
        const names = ids(3)
        const followed = yield* Effect.forkChild(Stream.runCollect(client.follow(names[0]!)))
        yield* Effect.forEach(names, (id) => client.submit(id, "question"))
        assert.strictEqual((yield* Effect.promise(() => once(servers[0]!, "exit")))[0], 1)
        for (const id of names) assert.isTrue(Option.isNone(yield* client.poll(id)))
        yield* Effect.promise(() => start({ isRejected: false }))
        for (const id of names) assert.strictEqual((yield* client.result(id)).ending, "answered")
        assert.deepStrictEqual(twice(), { calls: 12, twice: 0 })
        assert.match((yield* Fiber.join(followed)).at(-1)?.body ?? "", /"run-finished".*"answered"/)
      })
    )
  )

  it("repeat rejected calls on another server if theirs leaves before they end", { timeout: 60_000 }, ({ signal }) =>
    runTest(
      signal,
      Effect.gen(function* () {
        const { client, servers, start, twice } = yield* cluster("unfinished", 1, {
          isRejected: true,
          callMillis: 400
        })
        yield* client.submit("run", "question")
        const failed = Effect.map(client.journal.read("run"), (entries) =>
          entries.filter((entry) => entry.type === "event" && entry.event.type === "step-failed")
        )
        while ((yield* failed).length < 2) yield* Effect.sleep(20)
        servers[0]!.kill("SIGTERM")
        yield* Effect.promise(() => once(servers[0]!, "exit"))
        assert.strictEqual((yield* client.journal.find("run"))?.ending, undefined)
        yield* Effect.promise(() => start({ isRejected: false }))
        assert.strictEqual((yield* client.result("run")).ending, "answered")
        assert.deepStrictEqual(twice(), { calls: 4, twice: 0 })
        const events = Journal.eventsOf(yield* client.journal.read("run"))
        assert.isFalse(events.some(({ type }) => type === "step-failed"))
      })
    )
  )

  it("are cancelled from any member, before and after they begin", { timeout: 60_000 }, ({ signal }) =>
    runTest(
      signal,
      Effect.gen(function* () {
        const { client, lines, twice } = yield* cluster("cancelled", 2, { callMillis: 200, steps: 10 })
        yield* client.cancel("early")
        yield* client.submit("early", "question")
        assert.strictEqual((yield* client.result("early")).ending, "interrupted")
        assert.deepStrictEqual(yield* Stream.runCollect(client.follow("early")), [])
        assert.deepStrictEqual(lines(), [])
        yield* client.submit("late", "question")
        yield* until(() => lines().length > 2)
        const postgres = yield* Postgres.open({ url: Redacted.make(server.url), schema: "cancelled", graceMillis: 0 })
        const { owners, servers } = yield* Operations.status(postgres)
        assert.include(
          servers.map(({ address }) => address),
          owners[0]?.address
        )
        yield* client.cancel("late")
        assert.strictEqual((yield* client.result("late")).ending, "interrupted")
        assert.strictEqual((yield* client.journal.find("late"))?.ending, "interrupted")
        assert.match(
          (yield* Stream.runCollect(client.follow("late"))).at(-1)?.body ?? "",
          /"run-finished".*"interrupted"/
        )
        assert.isBelow(twice().calls, 10)
      })
    )
  )

  it("are cancelled while no server is alive, and make no further call", { timeout: 120_000 }, ({ signal }) =>
    runTest(
      signal,
      Effect.gen(function* () {
        const { client, lines, servers, start } = yield* cluster("orphaned", 1, { callMillis: 2_000, steps: 5 })
        yield* client.submit("lost", "question")
        yield* until(() => lines().length > 0)
        servers[0]!.kill("SIGKILL")
        yield* Effect.promise(() => once(servers[0]!, "exit"))
        const calls = lines().length
        yield* client.cancel("lost")
        yield* Effect.promise(start)
        assert.strictEqual((yield* client.result("lost")).ending, "interrupted")
        assert.strictEqual((yield* client.journal.find("lost"))?.ending, "interrupted")
        assert.strictEqual(lines().length, calls)
      })
    )
  )

  it("start at their time by the database's clock, on any server", { timeout: 120_000 }, ({ signal }) =>
    runTest(
      signal,
      Effect.gen(function* () {
        const hour = 3_600_000
        const { client, lines, servers, start, twice } = yield* cluster("scheduled", 1, { clockMillis: hour })
        const postgres = yield* Postgres.open({ url: Redacted.make(server.url), schema: "scheduled", graceMillis: 0 })
        const status = Operations.status(postgres)
        const startAt = postgres.now() + 8_000
        for (const id of ["soon", "cancelled"]) yield* client.submit(id, "question", { startAt })
        yield* client.submit("late", "question", { startAt: postgres.now() + 100 * 365 * 24 * hour })
        yield* client.submit("past", "question", { startAt: 0 })
        assert.strictEqual((yield* client.result("past")).ending, "answered")
        while ((yield* status).scheduledRuns < 3) yield* Effect.sleep(50)
        // Scheduled runs need their messages.
        yield* Operations.purgeMessages(postgres, 0)
        // The only server, whose clock is an hour ahead, ends. The clock of the next one is an hour behind.
        servers[0]!.kill("SIGTERM")
        yield* Effect.promise(() => once(servers[0]!, "exit"))
        yield* Effect.promise(() => start({ clockMillis: -hour }))
        assert.strictEqual(lines().length, 8)
        yield* client.cancel("cancelled")
        assert.strictEqual((yield* client.result("cancelled")).ending, "interrupted")
        assert.strictEqual((yield* client.result("soon")).ending, "answered")
        const { startedAt = 0 } = (yield* client.journal.find("soon")) ?? {}
        assert.isAtLeast(startedAt + hour, startAt - 1_000)
        assert.deepStrictEqual(twice(), { calls: 8, twice: 0 })
        while ((yield* status).scheduledRuns > 1) yield* Effect.sleep(50)
        yield* client.cancel("late")
        assert.strictEqual((yield* client.result("late")).ending, "interrupted")
        assert.deepStrictEqual(yield* Stream.runCollect(client.follow("late")), [])
      })
    )
  )

  it(
    "are executed one at a time if a server allows one, without those that wait for tools",
    { timeout: 60_000 },
    ({ signal }) =>
      runTest(
        signal,
        Effect.gen(function* () {
          const { client, lines } = yield* cluster("narrow", 1, { callMillis: 50, concurrency: 1 })
          yield* client.submit("asks", "look it up")
          const names = ids(4)
          yield* Effect.forEach(names, (id) => client.submit(id, "question"), { concurrency: "unbounded" })
          yield* Effect.forEach(names, client.result, { concurrency: "unbounded" })
          const open: Array<string> = []
          for (const line of lines()) {
            const [what, call = ""] = line.split(" ")
            const [name = ""] = call.split("/")
            if (what === "begin") open.push(name)
            else open.splice(open.indexOf(name), 1)
            assert.isAtMost(new Set(open).size, 1)
          }
        })
      )
  )

  it("are cancelled while they wait for tools", { timeout: 60_000 }, ({ signal }) =>
    runTest(
      signal,
      Effect.gen(function* () {
        const { client, lines } = yield* cluster("refused", 1)
        yield* client.submit("asks", "look it up")
        const waiting = client.follow("asks").pipe(Stream.filter(({ body }) => body.includes('"step-waiting"')))
        yield* Stream.runCollect(Stream.take(waiting, 1))
        while ((yield* client.journal.find("asks"))?.owner !== undefined) yield* Effect.sleep(50)
        const calls = lines().length
        yield* client.cancel("asks")
        assert.strictEqual((yield* client.result("asks")).ending, "interrupted")
        assert.strictEqual((yield* client.journal.find("asks"))?.ending, "interrupted")
        yield* client.give("asks", { "call-1": "42" })
        assert.strictEqual(lines().length, calls)
        assert.isAbove((yield* Stream.runCollect(client.follow("asks"))).length, 0)
      })
    )
  )

  it("are submitted while a server drains, and make no call twice", { timeout: 120_000 }, ({ signal }) =>
    runTest(
      signal,
      Effect.gen(function* () {
        const { client, lines, servers, twice } = yield* cluster("busy", 2, { callMillis: 100, steps: 3 })
        yield* Effect.scoped(isSettled)
        const names = ids(60)
        const submitted = yield* Effect.forkChild(
          Effect.forEach(names, (id) => Effect.andThen(client.submit(id, "question"), Effect.sleep(50)), {
            concurrency: 4
          })
        )
        yield* until(() => lines().length > 20)
        servers[0]!.kill("SIGTERM")
        yield* Effect.promise(() => once(servers[0]!, "exit"))
        yield* Fiber.join(submitted)
        const ended = yield* Effect.forEach(names, client.result, { concurrency: 8 })
        assert.deepStrictEqual([...new Set(ended.map(({ detail, ending }) => detail ?? ending))], ["answered"])
        assert.deepStrictEqual(twice(), { calls: 180, twice: 0 })
      })
    )
  )

  it("are executed by the servers of their version group only", { timeout: 60_000 }, ({ signal }) =>
    runTest(
      signal,
      Effect.gen(function* () {
        const [old, next] = [
          yield* cluster("groups", 1, { versionGroup: "v1" }),
          yield* cluster("groups", 1, { versionGroup: "v2" })
        ]
        const names = ids(4)
        yield* Effect.forEach(names, (id) => next.client.submit(`${id}-2`, "question"))
        yield* Effect.forEach(names, (id) => old.client.submit(`${id}-1`, "question"))
        yield* Effect.forEach(names, (id) => next.client.result(`${id}-2`), { concurrency: "unbounded" })
        yield* Effect.forEach(names, (id) => old.client.result(`${id}-1`), { concurrency: "unbounded" })
        for (const line of next.lines()) {
          const owner = /-2\//.test(line) ? next : old
          assert.include(line, ` ${owner.servers[0]!.pid}`)
        }
      })
    )
  )

  it("leave messages until they are removed with their run", { timeout: 60_000 }, ({ signal }) =>
    runTest(
      signal,
      Effect.gen(function* () {
        const { client } = yield* cluster("purged", 1)
        const other = yield* cluster("purged", 1, { versionGroup: "v2" })
        yield* client.submit("gone", 'a "task" with \0 and \u00e9')
        yield* client.submit("waits", "look it up")
        yield* other.client.submit("other", "question")
        yield* client.result("gone")
        yield* other.client.result("other")
        const waiting = client.follow("waits").pipe(
          Stream.map(({ body }) => /"step-waiting".*?"id":"([^"]*)"/.exec(body)?.[1]),
          Stream.filter((id) => id !== undefined),
          Stream.take(1)
        )
        const [call = ""] = yield* Stream.runCollect(waiting)
        const postgres = yield* Postgres.open({ url: Redacted.make(server.url), schema: "purged", graceMillis: 0 })
        const count = (table: string) =>
          Effect.map(
            postgres.run((session) => session.query(`SELECT count(*)::int FROM purged.purged_cluster_${table}`)),
            ([row]) => Number(row?.[0])
          )
        // The suspended run is released.
        while ((yield* client.journal.find("waits"))?.owner !== undefined) yield* Effect.sleep(50)
        while ((yield* count("replies")) < 2) yield* Effect.sleep(50)
        const removed = (olderThanMillis: number, isDryRun?: boolean) =>
          Effect.map(Operations.purgeMessages(postgres, olderThanMillis, isDryRun), ({ entries }) => entries)
        const hour = 3_600_000
        // They are too young; then a run that has not changed for long is in the journal, and one is not.
        assert.strictEqual(yield* removed(hour), 0)
        yield* client.journal.remove(["gone", "other"])
        assert.strictEqual(yield* removed(hour), 0)
        for (const group of ["", "_v2"]) {
          yield* postgres.run((session) =>
            session.query(
              `UPDATE purged.purged_cluster${group}_messages SET last_read = last_read - interval '2 hours'`
            )
          )
        }
        // A suspended run is not over, even if it has not changed for long.
        yield* postgres.run((session) => session.query("UPDATE purged.runs SET changed_at = 0 WHERE run = 'waits'"))
        assert.strictEqual(yield* removed(hour, true), 2)
        assert.deepStrictEqual([yield* count("messages"), yield* count("replies")], [2, 2])
        const { bytes, entries } = yield* Operations.purgeMessages(postgres, hour)
        assert.strictEqual(entries, 2)
        assert.isAbove(bytes, 100)
        assert.deepStrictEqual([yield* count("messages"), yield* count("replies")], [1, 1])
        assert.deepStrictEqual([yield* count("v2_messages"), yield* count("v2_replies")], [0, 0])
        // The suspended run continues. Once it has not changed for as long, its messages are removed, too.
        yield* client.give("waits", { [call]: "42" })
        assert.strictEqual((yield* client.result("waits")).ending, "answered")
        while ((yield* removed(0)) === 0) yield* Effect.sleep(20)
        assert.deepStrictEqual([yield* count("messages"), yield* count("replies")], [0, 0])
        // A removed run can be submitted again.
        yield* client.submit("gone", "question")
        assert.strictEqual((yield* client.result("gone")).ending, "answered")
      })
    )
  )

  it("wait for tools without a process, and continue on another server", { timeout: 60_000 }, ({ signal }) =>
    runTest(
      signal,
      Effect.gen(function* () {
        const { client, lines, servers, start, twice } = yield* cluster("waiting", 1)
        yield* client.submit("asks", "look it up")
        yield* until(() => lines().filter((line) => line.startsWith("end")).length === 4)
        const items = client.follow("asks").pipe(
          Stream.map(({ body }) => /"step-waiting".*?"id":"([^"]*)"/.exec(body)?.[1]),
          Stream.filter((id) => id !== undefined),
          Stream.take(1)
        )
        const [call = ""] = yield* Stream.runCollect(items)
        // The run is suspended, and the only server ends.
        servers[0]!.kill("SIGTERM")
        yield* Effect.promise(() => once(servers[0]!, "exit"))
        yield* client.give("asks", { [call]: "42" })
        yield* Effect.promise(start)
        const ended = yield* client.result("asks")
        assert.strictEqual(ended.detail ?? ended.ending, "answered")
        yield* client.give("asks", { [call]: "42" })
        assert.deepStrictEqual(twice(), { calls: 5, twice: 0 })
      })
    )
  )

  it("wait for approvals, and call the tool once if it is approved", { timeout: 60_000 }, ({ signal }) =>
    runTest(
      signal,
      Effect.gen(function* () {
        const { client, lines, servers, start } = yield* cluster("approving", 1)
        const answers = { yes: true, no: false }
        for (const id of Object.keys(answers)) yield* client.submit(id, "send it")
        const calls = yield* Effect.forEach(Object.keys(answers), (id) =>
          client.follow(id).pipe(
            Stream.map(({ body }) => /"step-waiting".*?"id":"([^"]*)"/.exec(body)?.[1]),
            Stream.filter((call) => call !== undefined),
            Stream.take(1),
            Stream.runCollect
          )
        )
        servers[0]!.kill("SIGTERM")
        yield* Effect.promise(() => once(servers[0]!, "exit"))
        const sent = () => lines().filter((line) => line.startsWith("sent")).length
        assert.strictEqual(sent(), 0)
        yield* Effect.promise(start)
        for (const [at, [id, approved]] of Object.entries(answers).entries()) {
          yield* client.give(id, { [calls[at]![0]!]: { approved } })
          assert.strictEqual((yield* client.result(id)).ending, "answered")
        }
        assert.strictEqual(sent(), 1)
      })
    )
  )
})

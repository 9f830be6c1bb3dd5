/** One retention period for all that is stored: by a test clock in this process, and by the commands in files and Postgres. */
import fs from "node:fs"
import path from "node:path"
import { Baselines, Journal } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { DiskCache, DiskJournal, DiskRecords } from "@divisi/files"
import { OutcomeLog } from "@divisi/policy-router"
import { PostgresServer } from "@divisi/testkit/journals"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as TestClock from "effect/testing/TestClock"
import * as Retention from "../src/stores/Retention.ts"
import { config, divisi, inFolder, valuesOf } from "./process.ts"

const day = 86_400_000

/** A text that is found in bytes, long enough to need several pages. */
const planted = (name: string): string => `planted-${name}-${"x".repeat(20_000)}`

/** The files below a folder whose bytes have a text. */
const holding = (folder: string, text: string): ReadonlyArray<string> =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => fs.readFileSync(file).includes(text))
    .map((file) => path.relative(folder, file))
    .toSorted()

const conductor = (answer: string) => {
  const pool = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: [answer] })])
  return Conductor.make({ pool, policy: Baselines.single("a") })
}

describe("the retention period", () => {
  it.effect("holds for every store of files, whose bytes have nothing of what was removed", () =>
    Effect.promise(() =>
      inFolder((folder) => {
        const file = (name: string) => path.join(folder, name)
        const fill = (name: string) =>
          Effect.gen(function* () {
            const journal = yield* DiskJournal.make({ file: file("runs.sqlite") })
            yield* conductor(planted(`answer-${name}`)).run(planted(`question-${name}`), { runId: name, journal })
            const records = yield* DiskRecords.make({ file: file("runs.sqlite.responses") })
            records.set(name, planted(`response-${name}`))
            const cache = yield* DiskCache.make({ file: file("cache.sqlite") })
            const usage = { inputTokens: 1, outputTokens: 1 }
            const entry = { text: planted(`cached-${name}`), finishReason: "stop" as const, usage }
            yield* cache.lookup(name, Effect.succeed(entry))
            const at = yield* Clock.currentTimeMillis
            yield* OutcomeLog.append(file("outcomes.jsonl"), {
              type: "rating",
              version: OutcomeLog.version,
              at,
              run: name,
              score: 1,
              source: "user",
              note: planted(`note-${name}`)
            })
          }).pipe(Effect.scoped)
        const program = Effect.gen(function* () {
          yield* fill("old")
          yield* TestClock.adjust("2 days")
          yield* fill("new")
          const files = { journal: Option.some(file("runs.sqlite")) }
          const stores = yield* Retention.storesOf({ files, cache: file("cache.sqlite") })
          const counts = (purged: ReadonlyArray<Retention.Purged>) =>
            purged.map(({ entries, store }) => `${store} ${entries}`)
          const all = ["runs 1", "responses 1", "outcomes 1", "cache 1"]
          const old = ["answer", "question", "response", "note", "cached"].map((name) => `planted-${name}-old`)
          assert.deepStrictEqual(counts(yield* Retention.purge(stores, day, true)), all)
          for (const text of old) assert.isNotEmpty(holding(folder, text), text)
          // Another process has the files open, and has read and written what is removed.
          const journal = yield* DiskJournal.make({ file: file("runs.sqlite") })
          yield* journal.read("old")
          const records = yield* DiskRecords.make({ file: file("runs.sqlite.responses") })
          assert.isDefined(records.get("old"))
          const sizes = () => ["runs.sqlite", "runs.sqlite.responses"].map((name) => fs.statSync(file(name)).size)
          const purged = yield* Retention.purge(stores, day)
          assert.deepStrictEqual(counts(purged), all)
          assert.isTrue(purged.every(({ bytes }) => bytes > 20_000))
          for (const text of old) assert.deepStrictEqual(holding(folder, text), [], text)
          for (const text of old) assert.isNotEmpty(holding(folder, text.replace("-old", "-new")), text)
          const before = sizes()
          assert.deepStrictEqual(
            (yield* Retention.purge(stores, 0)).map(({ entries }) => entries),
            [0, 0, 0, 0]
          )
          yield* TestClock.adjust("2 days")
          yield* Retention.purge(stores, day)
          assert.isTrue(
            sizes().every((size, at) => size < before[at]!),
            "the files are smaller"
          )
        })
        const outcomes = ConfigProvider.fromUnknown({ DIVISI_OUTCOMES: file("outcomes.jsonl") })
        return Effect.runPromise(
          program.pipe(
            Effect.scoped,
            Effect.provideService(ConfigProvider.ConfigProvider, outcomes),
            Effect.provide(TestClock.layer())
          )
        )
      })
    )
  )

  it.effect("is applied at the start and each hour, also after a store that fails", () =>
    Effect.gen(function* () {
      const journal = Journal.makeMemory()
      const run = (runId: string) => conductor("42").run("6 times 7?", { runId, journal })
      const kept = Effect.map(journal.list(), (runs) => runs.map(({ run }) => run).toSorted())
      const runs = (yield* Retention.storesOf({
        files: { journal: Option.none(), opened: journal },
        cache: undefined
      })).filter(({ name }) => name === "runs")
      const broken: Retention.Store = { ...runs[0]!, purge: () => Effect.fail({ message: "broken" } as never) }
      const reports: Array<string> = []
      const keeping = Retention.keeping([broken, ...runs], day, {
        onPurged: (purged) => void reports.push(Retention.textOf(purged).replace(/ \(.*/, "")),
        onFailed: (message) => void reports.push(message)
      })
      yield* run("old")
      yield* TestClock.adjust("2 days")
      yield* run("new")
      yield* Effect.forkChild(keeping, { startImmediately: true })
      assert.deepStrictEqual(yield* kept, ["new"])
      yield* TestClock.adjust("23 hours")
      yield* run("newer")
      assert.deepStrictEqual(yield* kept, ["new", "newer"])
      yield* TestClock.adjust("2 hours")
      assert.deepStrictEqual(yield* kept, ["newer"])
      assert.deepStrictEqual(
        reports.filter((line, at) => reports.indexOf(line) === at),
        ["broken", "runs 1"]
      )
    })
  )
})

const post = (url: string, body: object) => fetch(url, { method: "POST", body: JSON.stringify(body) })

/** Uses each store of a server, with content that can be found. */
const useServer = async (url: string): Promise<void> => {
  const input = planted("question")
  const response = await post(`${url}/responses`, { model: "divisi", input, store: true })
  await response.text()
  const rating = { rating: "up", note: "planted-note" }
  const rated = await post(`${url}/runs/${response.headers.get("x-divisi-run")}/rating`, rating)
  assert.strictEqual(rated.status, 200, await rated.text())
}

const purges = async (folder: string, environment: Readonly<Record<string, string>>, found: ReadonlyArray<string>) => {
  const cache = ["--cache", path.join(folder, "cache.sqlite")]
  let using: Promise<void> | undefined
  const serving = ["serve", "--port", "0", "--config", config("quick"), "--keep", "24h", ...cache]
  const served = await divisi(serving, {
    environment,
    onOutput: (output, child) => {
      const url = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(output)?.[0]
      if (url !== undefined) using ??= useServer(url).finally(() => child.kill("SIGTERM"))
    }
  })
  assert.isDefined(using, served.errors)
  await using
  const purge = async (...flags: ReadonlyArray<string>) => {
    const args = ["runs", "purge", "--config", config("quick"), "--json", ...cache, ...flags]
    const { code, errors, output } = await divisi(args, { environment })
    assert.strictEqual(code, 0, errors)
    const { stores } = valuesOf(output)[0]
    return stores.flatMap(({ entries, store }: Retention.Purged) => (entries > 0 ? [`${store} ${entries}`] : []))
  }
  assert.deepStrictEqual(await purge("--keep", "1h"), [])
  assert.deepStrictEqual(await purge("--keep", "0s", "--dry-run"), found)
  assert.deepStrictEqual(await purge("--keep", "0s"), found)
  assert.deepStrictEqual(await purge("--keep", "0s"), [])
  assert.deepStrictEqual(holding(folder, "planted-"), [])
}

const ownFiles = (folder: string) => ({
  DIVISI_RUNS: path.join(folder, "runs.sqlite"),
  DIVISI_RESPONSES: path.join(folder, "responses.sqlite"),
  DIVISI_OUTCOMES: path.join(folder, "outcomes.jsonl"),
  DIVISI_KEYS: path.join(folder, "keys.json"),
  DIVISI_ACCOUNTS: path.join(folder, "accounts.sqlite")
})

describe("divisi runs purge", () => {
  it("removes all that a server has stored in files", () =>
    inFolder((folder) => purges(folder, ownFiles(folder), ["runs 1", "responses 1", "outcomes 2", "cache 1"])))

  describe.skipIf(PostgresServer.find() === undefined)("in Postgres", () => {
    let server: PostgresServer.PostgresServer
    beforeAll(async () => {
      server = await PostgresServer.start()
    })
    afterAll(() => server.stop())

    it("removes all that servers have stored", () =>
      inFolder((folder) =>
        purges(folder, { ...ownFiles(folder), DIVISI_DATABASE: server.url }, [
          "runs 1",
          "responses 1",
          "outcomes 2",
          "cache 1"
        ])
      ))
  })

  it("needs a period, of the flag or the config, and a server one of at least 24 hours", () =>
    inFolder(async (folder) => {
      const environment = ownFiles(folder)
      const none = await divisi(["runs", "purge", "--config", "none"], { environment })
      assert.strictEqual(none.code, 2)
      assert.include(
        none.errors,
        "No retention period is set. Pass --keep, e.g. --keep 30d, or set retention in the config."
      )
      const own = path.join(folder, "own.config.mjs")
      fs.writeFileSync(own, 'export default { retention: "12h" }')
      const configured = await divisi(["runs", "purge", "--config", own, "--json"], { environment })
      assert.strictEqual(valuesOf(configured.output)[0].keepMillis, day / 2)
      assert.deepStrictEqual(fs.readdirSync(folder), ["own.config.mjs"], "no store is made")
      for (const flags of [
        ["--config", own],
        ["--config", config("quick"), "--keep", "23h"]
      ]) {
        const refused = await divisi(["serve", "--port", "0", ...flags], { environment })
        assert.strictEqual(refused.code, 2)
        assert.include(refused.errors, "repeat requests with an Idempotency-Key for 24 hours")
      }
      fs.writeFileSync(own, 'export default { retention: "soon" }')
      const wrong = await divisi(["runs", "purge", "--config", own], { environment })
      assert.strictEqual(wrong.code, 2)
      assert.include(wrong.errors, 'expected a duration such as "12h" or "30d"')
    }))
})

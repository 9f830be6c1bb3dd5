import { spawn } from "node:child_process"
import { once } from "node:events"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { ResponseCache } from "@divisi/core"
import { afterAll, assert, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import { TestClock } from "effect/testing"
import * as DiskCache from "../src/DiskCache.ts"
import { kind } from "../src/internal/answerTable.ts"

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-disk-cache-"))
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

let files = 0
const fresh = () => path.join(folder, `${files++}.sqlite`)

const answer = (text: string): ResponseCache.Answer => ({
  text,
  finishReason: "stop",
  usage: { inputTokens: 3, outputTokens: 2, cachedInputTokens: 1 }
})

const keep = (cache: ResponseCache.ResponseCache, key: string, text = key) =>
  cache.lookup(key, Effect.succeed(answer(text)))

const isKept = (cache: ResponseCache.ResponseCache, key: string) =>
  Effect.map(Effect.exit(cache.lookup(key, Effect.fail("not kept"))), (exit) => exit._tag === "Success")

const reasonOf = (options: DiskCache.Options) =>
  Effect.map(Effect.flip(Effect.scoped(DiskCache.make(options))), (error) => error)

/** Returns SQLite's own verdict on the file, and the number of its answers by count and by the running total. */
const inspect = (file: string) => {
  const database = new DatabaseSync(file)
  const one = (sql: string) => Object.values(database.prepare(sql).get() ?? {})
  const report = {
    integrity: one("PRAGMA integrity_check")[0],
    counted: one("SELECT count(*), coalesce(sum(bytes), 0) FROM answers"),
    totals: one("SELECT entries, bytes FROM totals")
  }
  database.close()
  return report
}

describe("a cache on disk", () => {
  it.effect("returns the answers that an earlier process stored", () =>
    Effect.gen(function* () {
      const file = path.join(folder, "new", "folder", "cache.sqlite")
      const whole = { ...answer("Ünïcödé 🎻"), reasoning: "because" }
      yield* Effect.scoped(
        Effect.flatMap(DiskCache.make({ file }), (cache) => cache.lookup("k", Effect.succeed(whole)))
      )
      const found = yield* Effect.scoped(
        Effect.flatMap(DiskCache.make({ file }), (cache) => cache.lookup("k", Effect.fail("asked again")))
      )
      expect(found).toEqual({ value: whole, cached: true })
      expect(fs.readdirSync(path.dirname(file))).toEqual(["cache.sqlite"])
    })
  )

  it.effect("makes equal calls that run at once only once", () =>
    Effect.gen(function* () {
      const cache = yield* DiskCache.make({ file: fresh() })
      let calls = 0
      const slow = Effect.suspend(() => {
        calls += 1
        return Effect.as(Effect.sleep(100), answer("one"))
      })
      const fiber = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 20 }), () => cache.lookup("k", slow), { concurrency: "unbounded" })
      )
      yield* TestClock.adjust(100)
      const found = yield* Fiber.join(fiber)
      expect(calls).toBe(1)
      expect(found.filter((one) => !one.cached).length).toBe(1)
    })
  )

  it.effect("keeps answers of workers, and not what they were asked", () =>
    Effect.gen(function* () {
      const file = fresh()
      const messages = [{ role: "user" as const, content: "my secret question" }]
      yield* Effect.scoped(
        Effect.flatMap(DiskCache.make({ file }), (cache) => keep(cache, ResponseCache.key("a", { messages }), "said"))
      )
      const bytes = fs.readFileSync(file).toString("latin1")
      expect([bytes.includes("said"), bytes.includes("secret")]).toEqual([true, false])
    })
  )

  it.effect("lets the answers go that were not used for longest", () =>
    Effect.gen(function* () {
      const cache = yield* DiskCache.make({ file: fresh(), maxEntries: 2 })
      yield* keep(cache, "a")
      yield* TestClock.adjust("2 minutes")
      yield* keep(cache, "b")
      yield* TestClock.adjust("2 minutes")
      yield* keep(cache, "a")
      yield* TestClock.adjust("2 minutes")
      yield* keep(cache, "c")
      expect([yield* isKept(cache, "a"), yield* isKept(cache, "b"), yield* isKept(cache, "c")]).toEqual([
        true,
        false,
        true
      ])
    })
  )

  it.effect("stays under its bytes, keeps nothing larger than them, and counts what it holds", () =>
    Effect.gen(function* () {
      const file = fresh()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const cache = yield* DiskCache.make({ file, maxBytes: 5_200 })
          yield* keep(cache, "small")
          yield* keep(cache, "huge", "x".repeat(5_200))
          expect([yield* isKept(cache, "small"), yield* isKept(cache, "huge")]).toEqual([true, false])
          for (let index = 0; index < 50; index++) {
            yield* TestClock.adjust(1)
            yield* keep(cache, `k${index}`, "é".repeat(300))
          }
          expect(yield* isKept(cache, "k49")).toBe(true)
          expect(yield* isKept(cache, "k44")).toBe(true)
          expect(yield* isKept(cache, "k40")).toBe(false)
        })
      )
      const { counted, integrity, totals } = inspect(file)
      expect([integrity, totals]).toEqual(["ok", counted])
      expect(Number(totals[1])).toBeLessThanOrEqual(5_200)
      expect(Number(totals[1])).toBeGreaterThan(4_000)
    })
  )

  it.effect("forgets answers after their time, and requests them again", () =>
    Effect.gen(function* () {
      const file = fresh()
      const cache = yield* DiskCache.make({ file, timeToLive: "1 hour" })
      yield* keep(cache, "a", "old")
      yield* keep(cache, "b", "old")
      yield* TestClock.adjust("59 minutes")
      expect(yield* isKept(cache, "a")).toBe(true)
      yield* TestClock.adjust("1 minute")
      expect(yield* keep(cache, "a", "new")).toEqual({ value: answer("new"), cached: false })
      expect((yield* keep(cache, "a")).value.text).toBe("new")
      // Expired answers make room at the next write.
      expect(inspect(file).counted[0]).toBe(1)
    })
  )

  it.effect("counts as empty, and logs it once, when its file breaks in use", () =>
    Effect.gen(function* () {
      const file = fresh()
      const said: Array<string> = []
      const logger = Logger.make(({ message }) => void said.push(String(message)))
      yield* Effect.gen(function* () {
        const cache = yield* DiskCache.make({ file })
        yield* keep(cache, "a")
        const other = new DatabaseSync(file)
        other.exec("DROP TABLE answers")
        other.close()
        expect(yield* keep(cache, "a", "made again")).toEqual({ value: answer("made again"), cached: false })
        expect(yield* keep(cache, "a", "and again")).toEqual({ value: answer("and again"), cached: false })
      }).pipe(Effect.provide(Logger.layer([logger])))
      expect(said).toHaveLength(1)
      expect(said[0]).toContain(file)
    })
  )

  it.effect("is what the reference holds once its layer is provided", () =>
    Effect.gen(function* () {
      const cache = yield* Effect.provide(
        Effect.service(ResponseCache.ResponseCache),
        DiskCache.layer({ file: ":memory:" })
      )
      assert.isDefined(cache)
    })
  )
})

describe("a file that cannot be used", () => {
  it.effect("is left as it is when it is of something else", () =>
    Effect.gen(function* () {
      const text = fresh()
      fs.writeFileSync(text, "Dear diary, ".repeat(100))
      const database = fresh()
      const other = new DatabaseSync(database)
      other.exec("CREATE TABLE people (name TEXT); INSERT INTO people VALUES ('Ada')")
      other.close()
      for (const file of [text, database]) {
        const before = fs.readFileSync(file)
        const error = yield* reasonOf({ file })
        expect(error.reason).toEqual({ _tag: "Foreign" })
        expect(error.message).toBe(
          `The response cache ${file} is not a Divisi file, or its header is damaged. The file was not changed. Choose another file.`
        )
        assert.deepStrictEqual(fs.readFileSync(file), before)
      }
    })
  )

  it.effect("is refused when a newer version wrote it", () =>
    Effect.gen(function* () {
      const file = fresh()
      const newer = new DatabaseSync(file)
      newer.exec(`CREATE TABLE something (x); PRAGMA application_id = ${kind.applicationId}; PRAGMA user_version = 99`)
      newer.close()
      expect((yield* reasonOf({ file })).message).toContain("was written by a newer version of Divisi. Update")
    })
  )

  it.effect("says where it cannot be written", () =>
    Effect.gen(function* () {
      const below = fresh()
      fs.writeFileSync(below, "a file, not a folder")
      for (const file of [path.join(below, "cache.sqlite"), folder]) {
        const error = yield* reasonOf({ file })
        expect(error.reason._tag).toBe("Unwritable")
        expect(error.message).toContain(`The response cache ${file} cannot be written (`)
      }
    })
  )

  it.effect("says when it is damaged", () =>
    Effect.gen(function* () {
      const file = fresh()
      yield* Effect.scoped(Effect.flatMap(DiskCache.make({ file }), (cache) => keep(cache, "a")))
      const bytes = fs.readFileSync(file)
      bytes.fill(0x5a, 100, 4_096)
      fs.writeFileSync(file, bytes)
      expect((yield* reasonOf({ file })).reason._tag).toBe("Damaged")
    })
  )

  it.effect("says that it is damaged where a table is not as it was made", () =>
    Effect.gen(function* () {
      for (const damage of ["ALTER TABLE answers DROP COLUMN sum", "DROP TABLE totals"]) {
        const file = fresh()
        yield* Effect.scoped(Effect.flatMap(DiskCache.make({ file }), (cache) => keep(cache, "a")))
        const database = new DatabaseSync(file)
        database.exec(damage)
        database.close()
        const { reason } = yield* reasonOf({ file })
        expect(reason._tag).toBe("Damaged")
      }
    })
  )

  it.effect("does not require SQLite before the cache is opened", () =>
    Effect.gen(function* () {
      const { getBuiltinModule } = process
      process.getBuiltinModule = undefined as never
      const error = yield* Effect.ensuring(
        reasonOf({ file: ":memory:" }),
        Effect.sync(() => {
          process.getBuiltinModule = getBuiltinModule
        })
      )
      expect(error.reason).toEqual({ _tag: "Unsupported" })
    })
  )
})

describe("several processes", () => {
  const script = fileURLToPath(new URL("fixtures/diskCacheWriter.ts", import.meta.url))

  const begin = (...given: ReadonlyArray<string>) => {
    const flags = ["--conditions=@divisi/source", "--disable-warning=ExperimentalWarning"]
    const child = spawn(process.execPath, [...flags, ...given], { stdio: ["ignore", "pipe", "pipe"] })
    let output = ""
    let errors = ""
    child.stdout.on("data", (data) => {
      output += data
    })
    child.stderr.on("data", (data) => {
      errors += data
    })
    const ended = once(child, "close").then(([code, signal]) => ({ code, signal, output, errors }))
    return { child, ended }
  }

  const start = (file: string, from: number, count: number) => begin(script, file, `${from}`, `${count}`)

  const read = (file: string, key: number) =>
    Effect.runPromise(
      Effect.scoped(
        Effect.flatMap(DiskCache.make({ file }), (cache) => cache.lookup(`key ${key}`, Effect.fail("not kept")))
      )
    )

  it("open a file at once that is not there yet", async () => {
    const own = fs.mkdtempSync(path.join(folder, "opened-"))
    const opener = fileURLToPath(new URL("fixtures/opener.ts", import.meta.url))
    const both = [begin(opener, own, "100", "one", "two"), begin(opener, own, "100", "two", "one")]
    for (const { ended } of both) {
      const { code, errors, output } = await ended
      expect({ code, errors, output }).toEqual({ code: 0, errors: "", output: "" })
    }
  })

  it("write one file at once, and each reads the answers of the others", async () => {
    const file = fresh()
    // Each overlaps half of the next one's keys.
    const results = await Promise.all([0, 1, 2, 3].map((index) => start(file, index * 100, 200).ended))
    for (const { code, errors } of results) expect({ code, errors }).toEqual({ code: 0, errors: "" })
    const { counted, integrity, totals } = inspect(file)
    expect([integrity, counted[0], totals]).toEqual(["ok", 500, counted])
    const again = await start(file, 0, 500).ended
    expect(again.output.trim().split("\n").at(-1)).toBe("made 0")
  })

  it("that are killed lose no stored answer, and leave the file intact", async () => {
    const file = fresh()
    for (let round = 0; round < 3; round++) {
      const { child, ended } = start(file, round * 1_000_000, 1_000_000)
      const beside = start(file, 10_000_000 + round * 100, 100)
      await new Promise<void>((resolve) => {
        let lines = 0
        child.stdout.on("data", (data: Buffer) => {
          lines += data.toString().split("\n").length - 1
          if (lines > 40 * (round + 1)) resolve()
        })
      })
      child.kill("SIGKILL")
      const { output, signal } = await ended
      expect(signal).toBe("SIGKILL")
      const { code, errors } = await beside.ended
      expect({ code, errors }).toEqual({ code: 0, errors: "" })
      const kept = output.slice(0, output.lastIndexOf("\n")).split("\n").map(Number)
      expect(kept.length).toBeGreaterThan(40 * (round + 1))
      const { counted, integrity, totals } = inspect(file)
      expect([integrity, totals]).toEqual(["ok", counted])
      for (const key of [kept[0]!, kept.at(-1)!]) expect((await read(file, key)).cached).toBe(true)
    }
  })
})

describe("a damaged file", () => {
  const damage = (file: string, sql: string) => {
    const database = new DatabaseSync(file)
    database.exec(sql)
    database.close()
  }

  it.effect("requests a modified answer again, logs it once, and stores the new one", () =>
    Effect.gen(function* () {
      const file = fresh()
      yield* Effect.scoped(
        Effect.flatMap(DiskCache.make({ file }), (cache) => Effect.andThen(keep(cache, "a", "41"), keep(cache, "b")))
      )
      damage(file, `UPDATE answers SET answer = replace(answer, '"41"', '"43"')`)
      const told: Array<unknown> = []
      const logger = Logger.make(({ message }) => void told.push(message))
      yield* Effect.scoped(
        Effect.gen(function* () {
          const cache = yield* DiskCache.make({ file })
          expect((yield* keep(cache, "a", "again")).value.text).toBe("again")
          expect((yield* keep(cache, "a", "not asked")).value.text).toBe("again")
          expect((yield* keep(cache, "b", "not asked")).value.text).toBe("b")
        })
      ).pipe(Effect.provide(Logger.layer([logger])))
      expect(told.flat()).toEqual([
        `The response cache ${file} contains damaged answers. Their calls will be repeated.`
      ])
    })
  )

  it.effect("loses nothing to totals that are wrong", () =>
    Effect.gen(function* () {
      for (const wrong of [2 ** 50, -(2 ** 50)]) {
        const file = fresh()
        yield* Effect.scoped(
          Effect.flatMap(DiskCache.make({ file }), (cache) => Effect.andThen(keep(cache, "a"), keep(cache, "b")))
        )
        damage(file, `UPDATE totals SET entries = ${wrong}, bytes = ${wrong}`)
        yield* Effect.scoped(
          Effect.gen(function* () {
            const cache = yield* DiskCache.make({ file, maxEntries: 10 })
            yield* keep(cache, "c")
            for (const key of ["a", "b", "c"]) expect(yield* isKept(cache, key)).toBe(true)
          })
        )
      }
    })
  )
})

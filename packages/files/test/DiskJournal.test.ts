import { spawnSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { crc32 } from "node:zlib"
import type { Journal } from "@divisi/core"
import { assert, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as DiskJournal from "../src/DiskJournal.ts"
import { folder } from "./folder.ts"
import { mountSmall } from "./fullDisk.ts"
import { start } from "./processes.ts"

const root = folder()
const disk = mountSmall()
let files = 0
const fresh = () => path.join(root, `${files++}`, "runs.sqlite")

const entry = (round: number, padding = ""): Journal.Entry => ({
  type: "found",
  call: `r/${round}`,
  attempt: 0,
  hash: "h",
  answer: { text: padding }
})

/** Begins a run and appends so many batches; returns its claim. */
const write = (journal: Journal.Journal, run: string, count: number, padding = "") =>
  Effect.gen(function* () {
    const claim = yield* journal.claim(run)
    for (let seq = 0; seq < count; seq++)
      yield* journal.append({ run, epoch: claim.epoch, seq, entries: [entry(seq, padding)] })
    return claim
  })

const reasonOf = <A, R>(effect: Effect.Effect<A, Journal.JournalError, R>) =>
  Effect.map(Effect.flip(effect), (error) => ({ ...error.reason, message: error.message }))

const openReason = (file: string) => Effect.scoped(reasonOf(DiskJournal.make({ file })))

const lengthIn = (file: string, run: string) =>
  Effect.map(
    Effect.scoped(Effect.flatMap(DiskJournal.make({ file }), (journal) => journal.read(run))),
    ({ length }) => length
  )

describe("a journal on disk", () => {
  it.live("says which process carries a run on, and gives the run to the next when that one is killed", () =>
    Effect.gen(function* () {
      const file = fresh()
      const child = start("journal.ts", file)
      yield* Effect.promise(() => child.says("appended 3"))
      const journal = yield* DiskJournal.make({ file })
      const held = yield* reasonOf(journal.claim("r"))
      expect(held).toMatchObject({ _tag: "Held", run: "r", owner: expect.stringContaining(`${child.process.pid}`) })
      yield* Effect.promise(child.kill)
      const claim = yield* journal.claim("r")
      // The acknowledged entries survive; it was still writing when it was killed.
      expect(claim.epoch).toBe(2)
      expect(claim.length).toBeGreaterThanOrEqual(3)
      expect((yield* journal.read("r")).length).toBe(claim.length)
      expect(fs.readdirSync(`${file}-owners`).filter((name) => name.endsWith(".lock"))).toHaveLength(1)
    })
  )

  it.live("writes what a thousand runs append at once in a few transactions", () =>
    Effect.gen(function* () {
      const file = fresh()
      const journal = yield* DiskJournal.make({ file })
      const runs = Array.from({ length: 1_000 }, (_, index) => `r${index}`)
      yield* Effect.forEach(runs, (run) => write(journal, run, 2), { concurrency: "unbounded" })
      const database = new DatabaseSync(file)
      expect(database.prepare("SELECT count(*) AS count, sum(length) AS length FROM runs").get()).toEqual({
        count: 1_000,
        length: 2_000
      })
      database.close()
    })
  )

  it.live("retains acknowledged entries when its disk is full, and continues when there is room", () =>
    Effect.gen(function* () {
      if (disk === undefined) return
      const file = path.join(disk, "runs.sqlite")
      const journal = yield* DiskJournal.make({ file })
      const { epoch } = yield* journal.claim("r")
      const padding = "x".repeat(20_000)
      let acknowledged = 0
      const append = Effect.suspend(() =>
        Effect.map(
          journal.append({ run: "r", epoch, seq: acknowledged, entries: [entry(acknowledged, padding)] }),
          () => {
            acknowledged += 1
          }
        )
      )
      const reason = yield* reasonOf(Effect.forever(append))
      expect(reason._tag).toBe("Full")
      expect(reason.message).toContain("the disk is full")
      expect(acknowledged).toBeGreaterThan(5)
      expect((yield* journal.read("r")).length).toBe(acknowledged)
      spawnSync("mount", ["-o", "remount,size=4m", disk])
      yield* append
      expect((yield* journal.read("r")).length).toBe(acknowledged)
    })
  )

  it.live("says what is wrong with a file that is not a journal, or that a newer version wrote", () =>
    Effect.gen(function* () {
      const text = fresh()
      fs.mkdirSync(path.dirname(text), { recursive: true })
      fs.writeFileSync(text, "a text of somebody's ".repeat(100))
      expect((yield* openReason(text))._tag).toBe("Foreign")
      const other = path.join(path.dirname(text), "other.sqlite")
      const database = new DatabaseSync(other)
      database.exec("CREATE TABLE mine (a INTEGER)")
      database.close()
      expect((yield* openReason(other))._tag).toBe("Foreign")
      const newer = path.join(path.dirname(text), "newer.sqlite")
      yield* Effect.scoped(DiskJournal.make({ file: newer }))
      const later = new DatabaseSync(newer)
      later.exec("PRAGMA user_version = 99")
      later.close()
      const reason = yield* openReason(newer)
      expect(reason._tag).toBe("Newer")
      expect(reason.message).toContain("Update Divisi")
      const folderOfThat = path.join(path.dirname(text), "a-folder")
      fs.mkdirSync(folderOfThat)
      expect((yield* openReason(folderOfThat))._tag).toBe("Unwritable")
    })
  )

  it.live("does not give entries that are damaged for those that were written, and keeps the other runs", () =>
    Effect.gen(function* () {
      const file = fresh()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const journal = yield* DiskJournal.make({ file })
          yield* write(journal, "a", 3, "abc")
          yield* write(journal, "b", 3, "abc")
          yield* write(journal, "c", 3, "abc")
        })
      )
      const database = new DatabaseSync(file)
      database.exec("UPDATE batches SET entries = replace(entries, 'abc', 'abd') WHERE run = 1 AND seq = 1")
      database.exec("DELETE FROM batches WHERE run = 3 AND seq = 2")
      database.close()
      const journal = yield* DiskJournal.make({ file })
      const reason = yield* reasonOf(journal.read("a"))
      expect(reason).toMatchObject({ _tag: "Damaged", detail: "entries of run a from 1 on" })
      expect((yield* reasonOf(journal.read("c")))._tag).toBe("Damaged")
      expect((yield* journal.read("b")).length).toBe(3)
    })
  )

  it.live("reports entries that are not a list as damaged, even if their checksum is right", () =>
    Effect.gen(function* () {
      for (const entries of ["{nope", "null", "{}", '"text"', ""]) {
        const file = fresh()
        yield* Effect.scoped(Effect.flatMap(DiskJournal.make({ file }), (journal) => write(journal, "a", 2, "abc")))
        const database = new DatabaseSync(file)
        const update = database.prepare("UPDATE batches SET entries = ?, sum = ? WHERE run = 1 AND seq = 1")
        update.run(entries, crc32(entries, crc32("a 1")))
        database.close()
        const journal = yield* DiskJournal.make({ file })
        const reason = yield* reasonOf(journal.read("a"))
        expect(reason).toMatchObject({ _tag: "Damaged", detail: "entries of run a from 1 on" })
      }
    })
  )

  it.live("reports a length that no run has as damaged", () =>
    Effect.gen(function* () {
      for (const length of [0, -3, -1e15]) {
        const file = fresh()
        yield* Effect.scoped(
          Effect.gen(function* () {
            const journal = yield* DiskJournal.make({ file })
            const { epoch } = yield* journal.claim("a")
            const head = { question: "Q", policy: "p", workers: ["a"], startedAt: 1, costUsd: 0, calls: 0 }
            yield* journal.append({ run: "a", epoch, seq: 0, entries: [entry(0)], head })
          })
        )
        const database = new DatabaseSync(file)
        database.prepare("UPDATE runs SET length = ?").run(length)
        database.close()
        const journal = yield* DiskJournal.make({ file })
        expect(yield* reasonOf(journal.read("a"))).toMatchObject({
          _tag: "Damaged",
          detail: `the length of run a, ${length}`
        })
      }
    })
  )

  it.live("says that a page is torn, and reads nothing wrong", () =>
    Effect.gen(function* () {
      const file = fresh()
      yield* Effect.scoped(
        Effect.flatMap(DiskJournal.make({ file }), (journal) => write(journal, "r", 40, "text ".repeat(400)))
      )
      const whole = fs.readFileSync(file)
      let told = 0
      for (let page = 1; page < whole.length / 4096; page += 3) {
        const torn = Buffer.from(whole)
        torn.fill(0x5a, page * 4096 + 2048, page * 4096 + 4096)
        fs.writeFileSync(file, torn)
        const opened = yield* Effect.scoped(
          Effect.result(Effect.flatMap(DiskJournal.make({ file }), (journal) => journal.read("r")))
        )
        if (opened._tag === "Failure") {
          told += 1
          assert.include(["Damaged", "Foreign"], opened.failure.reason._tag)
        } else {
          assert.deepStrictEqual(
            opened.success,
            Array.from({ length: 40 }, (_, seq) => entry(seq, "text ".repeat(400)))
          )
        }
      }
      expect(told).toBeGreaterThan(3)
      fs.writeFileSync(file, whole)
      expect(yield* lengthIn(file, "r")).toBe(40)
    })
  )
})

describe("a list of runs with a damaged head", () => {
  const head = { question: "Q", policy: "p", workers: ["a"], startedAt: 1, costUsd: 0, calls: 0, caller: "me" }
  const damages = [
    "{",
    "",
    "null",
    "[]",
    "7",
    '"text"',
    "{}",
    '{"question":7}',
    "\u0001\ufffd",
    JSON.stringify({ ...head, workers: 7 })
  ]

  it.live("has the other rows, and the damaged one with its reason", () =>
    Effect.gen(function* () {
      const file = fresh()
      const journal = yield* DiskJournal.make({ file })
      for (const run of ["before", "damaged", "after"]) {
        const { epoch } = yield* journal.claim(run)
        yield* journal.append({ run, epoch, seq: 0, entries: [entry(0)], head })
      }
      for (const damage of damages) {
        const database = new DatabaseSync(file)
        database.prepare("UPDATE runs SET head = ? WHERE run = 'damaged'").run(damage)
        database.close()
        for (const query of [{}, { caller: "me" }, { after: "after" }]) {
          const listed = yield* journal.list(query)
          const damaged = listed.filter((run) => run.damaged !== undefined)
          assert.deepStrictEqual(
            damaged.map(({ run }) => run),
            ["damaged"]
          )
          assert.include(
            listed.map(({ run }) => run),
            "before"
          )
        }
        assert.isString((yield* journal.find("damaged"))?.damaged)
        assert.lengthOf(yield* journal.read("damaged"), 1)
      }
      yield* journal.release("damaged", 1)
      assert.deepStrictEqual(yield* journal.remove(["damaged"]), ["damaged"])
    }).pipe(Effect.scoped)
  )
})

import path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { TestClock } from "effect/testing"
import * as DiskRecords from "../src/DiskRecords.ts"
import { folder } from "./folder.ts"

const place = folder()

let files = 0
const fresh = () => path.join(place, `${files++}.sqlite`)

const using = <A>(options: DiskRecords.Options, use: (records: DiskRecords.Records) => Effect.Effect<A>) =>
  Effect.scoped(Effect.flatMap(DiskRecords.make(options), use))

const change = (file: string, sql: string) => {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}

describe("texts on disk", () => {
  it.effect("are there for those who open the file later, until they are removed", () =>
    Effect.gen(function* () {
      const file = fresh()
      yield* using({ file }, (records) =>
        Effect.sync(() => {
          records.set("a", "one")
          records.set("b", "two")
          records.set("a", "three")
        })
      )
      yield* using({ file }, (records) =>
        Effect.sync(() => {
          assert.strictEqual(records.get("a"), "three")
          records.remove("b")
          assert.isUndefined(records.get("b"))
        })
      )
    })
  )

  it.effect("go when they are too old", () =>
    using({ file: fresh(), timeToLive: "1 day" }, (records) =>
      Effect.gen(function* () {
        records.set("a", "one")
        yield* TestClock.adjust("23 hours")
        records.set("b", "two")
        assert.strictEqual(records.get("a"), "one")
        yield* TestClock.adjust("1 hour")
        assert.isUndefined(records.get("a"))
        assert.strictEqual(records.get("b"), "two")
      })
    )
  )

  it.effect("go from the oldest on where there are too many", () =>
    using({ file: fresh(), maxBytes: 100_000 }, (records) =>
      Effect.gen(function* () {
        for (let at = 0; at < 641; at += 1) {
          records.set(`${at}`, "x".repeat(800))
          yield* TestClock.adjust(1)
        }
        const left = Array.from({ length: 641 }, (_, at) => at).filter((at) => records.get(`${at}`) !== undefined)
        assert.isAtMost(left.length, 100)
        assert.isAtLeast(left.length, 30)
        assert.strictEqual(left.at(-1), 640)
      })
    )
  )

  it.effect("that were changed on disk are not found", () =>
    Effect.gen(function* () {
      const file = fresh()
      yield* using({ file }, (records) => Effect.sync(() => records.set("a", "one")))
      change(file, "UPDATE records SET text = 'two'")
      assert.isUndefined(yield* using({ file }, (records) => Effect.sync(() => records.get("a"))))
    })
  )

  it.effect("are not stored in a file of another program, or of a newer version", () =>
    Effect.gen(function* () {
      const other = fresh()
      change(other, "CREATE TABLE mine (id INTEGER)")
      const reasonOf = (file: string) =>
        Effect.map(Effect.flip(using({ file }, () => Effect.void)), ({ reason }) => reason._tag)
      assert.strictEqual(yield* reasonOf(other), "Foreign")
      const newer = fresh()
      yield* using({ file: newer }, () => Effect.void)
      change(newer, "PRAGMA user_version = 2")
      assert.strictEqual(yield* reasonOf(newer), "Newer")
    })
  )
})

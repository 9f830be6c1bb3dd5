import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type * as Postgres from "../src/Postgres.ts"
import * as PostgresTasks from "../src/PostgresTasks.ts"
import { fresh, hasPostgres } from "./database.ts"

describe.skipIf(!hasPostgres)("tasks of several machines", () => {
  let server: PostgresServer.PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server.stop())

  const list = { id: "work", plan: "{}", keys: ["a", "b", "c", "d"] }

  /** Two machines on one list, and a function that makes all leases older. */
  const two = Effect.gen(function* () {
    const opened = fresh(() => server)
    const postgres: Postgres.Postgres = yield* opened
    const [one, other] = [yield* PostgresTasks.open(postgres, list), yield* PostgresTasks.open(yield* opened, list)]
    const age = (millis: number) =>
      postgres.run((session) => session.query(`UPDATE ${postgres.schema}.tasks SET until = until - ${millis}`))
    return { one, other, age }
  })

  it("are claimed by one of them at a time, in order", () =>
    Effect.gen(function* () {
      const { one, other } = yield* two
      const claims = yield* Effect.all([one.claim(2), other.claim(2)], { concurrency: 2 })
      assert.sameMembers(claims.flat(), list.keys)
      assert.deepStrictEqual([yield* one.claim(4), yield* other.claim(4)], [[], []])
    }).pipe(Effect.scoped, Effect.runPromise))

  it("are free once the lease has expired, and renewed and released only by the machine that claimed them", () =>
    Effect.gen(function* () {
      const { age, one, other } = yield* two
      assert.deepStrictEqual(yield* one.claim(2), ["a", "b"])
      yield* age(8_000)
      assert.deepStrictEqual(yield* other.renew(["a", "b"]), [])
      assert.deepStrictEqual(yield* one.renew(["a"]), ["a"])
      yield* age(3_000)
      assert.deepStrictEqual(yield* other.claim(1, ["c", "d"]), ["b"])
      // The first machine thaws.
      assert.deepStrictEqual(yield* one.renew(["a", "b"]), ["a"])
      yield* one.release(["a", "b"])
      assert.deepStrictEqual(yield* one.claim(4), ["a", "c", "d"])
    }).pipe(Effect.scoped, Effect.runPromise))

  it("have the answer that is stored first", () =>
    Effect.gen(function* () {
      const { age, one, other } = yield* two
      yield* one.claim(1)
      yield* age(11_000)
      assert.deepStrictEqual(yield* other.claim(1), ["a"])
      yield* one.answer("a", "first")
      yield* other.answer("a", "second")
      assert.deepStrictEqual([...(yield* other.answers)], [["a", "first"]])
      assert.strictEqual(yield* one.left, 3)
      assert.deepStrictEqual(yield* other.renew(["a"]), [])
    }).pipe(Effect.scoped, Effect.runPromise))
})

import type { Resilience } from "@divisi/core"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as PostgresSlots from "../src/PostgresSlots.ts"
import { fresh, hasPostgres } from "./database.ts"

/** A repeatable sequence of numbers from 0 to 1. */
const sequence = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
  return seed / 2 ** 31
}

describe.skipIf(!hasPostgres)("slots in Postgres", () => {
  let server: PostgresServer.PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server.stop())

  const run = <A, E>(program: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Effect.scoped(program))

  /** The members of several processes on one database, and a connection for SQL. */
  const members = (count: number) =>
    Effect.gen(function* () {
      const opened = fresh(() => server)
      const postgres = yield* opened
      const joined: Array<Resilience.SlotMember> = []
      for (let at = 0; at < count; at += 1)
        joined.push(yield* PostgresSlots.make(at % 2 ? yield* opened : postgres).join)
      return { postgres, joined }
    })

  /** Processes whose calls begin and end, as those of a gate. */
  const processes = (joined: ReadonlyArray<Resilience.SlotMember>, limit: number) =>
    joined.map((member) => {
      const one = { used: 0, waiting: 0, slots: 0, served: 0 }
      const begin = () => {
        while (one.waiting > 0 && one.used < one.slots) {
          one.waiting -= 1
          one.used += 1
          one.served += 1
        }
      }
      const ask = Effect.map(
        Effect.suspend(() => member.share("vendor", { limit, used: one.used, wanted: one.used + one.waiting })),
        ({ slots }) => {
          one.slots = slots
          begin()
        }
      )
      const end = () => {
        if (one.used > 0) one.used -= 1
        begin()
      }
      return { one, ask, end }
    })

  for (const [limit, count] of [
    [5, 3],
    [1, 3],
    [7, 2]
  ] as const) {
    it(`admit at most ${limit} calls of ${count} processes at a time, and starve none`, () =>
      run(
        Effect.gen(function* () {
          const { joined } = yield* members(count)
          const all = processes(joined, limit)
          const random = sequence(limit * 10 + count)
          let most = 0
          for (let turn = 0; turn < 400; turn += 1) {
            const { ask, end, one } = all[Math.floor(random() * count)]!
            // A process always has more to do than it has slots.
            one.waiting = Math.max(one.waiting, 3)
            if (random() < 0.5) end()
            else yield* ask
            most = Math.max(
              most,
              all.reduce((sum, { one }) => sum + one.used, 0)
            )
          }
          assert.strictEqual(most, limit)
          const served = all.map(({ one }) => one.served)
          assert.isAbove(Math.min(...served), Math.max(...served) / 4, served.join(", "))
        })
      ))
  }

  it("are all used by one process if no other wants any, and shared once another does", () =>
    run(
      Effect.gen(function* () {
        const { joined } = yield* members(2)
        const [one, other] = joined as [Resilience.SlotMember, Resilience.SlotMember]
        const share = (member: Resilience.SlotMember, used: number, wanted: number) =>
          Effect.map(member.share("vendor", { limit: 4, used, wanted }), ({ isContended, slots }) => [
            slots,
            isContended
          ])
        assert.deepStrictEqual(yield* share(one, 0, 9), [4, false])
        assert.deepStrictEqual(yield* share(other, 0, 2), [0, true])
        assert.deepStrictEqual(yield* share(one, 4, 9), [2, true])
        assert.deepStrictEqual(yield* share(one, 3, 9), [2, true])
        assert.deepStrictEqual(yield* share(other, 0, 2), [1, true])
        assert.deepStrictEqual(yield* share(one, 2, 9), [2, true])
        assert.deepStrictEqual(yield* share(other, 1, 2), [2, true])
        assert.deepStrictEqual(yield* other.share("another", { limit: 1, used: 0, wanted: 5 }), {
          slots: 1,
          isContended: false,
          leaseMillis: 10_000
        })
        // The other process needs none any longer.
        assert.deepStrictEqual(yield* share(other, 0, 0), [0, false])
        assert.deepStrictEqual(yield* share(one, 2, 9), [4, false])
      })
    ))

  it("are free again once a process has left, or its lease has expired", () =>
    run(
      Effect.gen(function* () {
        const { joined, postgres } = yield* members(1)
        const scope = yield* Scope.make()
        const leaving = yield* Scope.provide(PostgresSlots.make(postgres).join, scope)
        const all = { limit: 2, used: 0, wanted: 2 }
        const slots = Effect.map(joined[0]!.share("vendor", all), ({ slots }) => slots)
        yield* leaving.share("vendor", all)
        assert.strictEqual(yield* slots, 0)
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(yield* slots, 2)
        yield* joined[0]!.share("vendor", { limit: 2, used: 0, wanted: 0 })

        const dying = yield* PostgresSlots.make(postgres).join
        yield* dying.share("vendor", all)
        assert.strictEqual(yield* slots, 0)
        yield* postgres.run((session) =>
          session.query(`UPDATE ${postgres.schema}.slots SET until = until - 10000 WHERE wanted = held`)
        )
        assert.strictEqual(yield* slots, 2)
      })
    ))
})

import { PostgresServer } from "@divisi/testkit/journals"
import * as Runner from "effect/cluster/Runner"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as RunnerStorage from "effect/cluster/RunnerStorage"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Postgres from "../src/Postgres.ts"
import * as Gone from "../src/runs/gone.ts"
import { hasPostgres } from "./database.ts"

describe.skipIf(!hasPostgres)("servers that are gone", () => {
  let server: PostgresServer.PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server.stop())

  const expireMillis = 12_000
  const ago = (millis: number) => `(extract(epoch FROM clock_timestamp()) * 1000 - ${millis})`

  it("hold no lock and were not seen for a while; a later process at their address is not gone", () =>
    Effect.gen(function* () {
      const open = (address?: string) =>
        Postgres.open({ url: Redacted.make(server.url), schema: "gone", graceMillis: 0, maxConnections: 2 }, address)
      const own = yield* open("10.0.0.1:1")
      yield* open("10.0.0.2:1")
      const query = (statement: string) => own.run((session) => session.query(statement))
      const known = (process: string, millis: number) =>
        query(`INSERT INTO gone.owners (process, seen_at, since) VALUES ('${process}', ${ago(millis)}, 0)`)
      yield* known("1 1 host at 10.0.0.3:1", 3_500)
      yield* known("2 1 host at 10.0.0.4:1", 1_000)
      yield* known("3 1 host at 10.0.0.5:1", 3_500)
      yield* known("4 2 host at 10.0.0.5:1", 100)
      // An earlier process at this server's own address, and a client.
      yield* known("5 1 host at 10.0.0.1:1", 60_000)
      yield* known("6 1 host", 60_000)
      const gone = Effect.map(Gone.addresses(own, expireMillis), (all) => [...all])
      // The database itself must have run for long enough.
      const age = "SELECT extract(epoch FROM now() - pg_postmaster_start_time())::double precision * 1000"
      while (Number((yield* query(age))[0]?.[0]) < expireMillis) yield* Effect.sleep(100)
      const since = (expression: string) =>
        query(`UPDATE gone.owners SET since = ${expression} WHERE process = '${own.self}'`)
      // This process has not been seen for long enough to decide.
      yield* since(ago(0))
      assert.deepStrictEqual(yield* gone, [])
      yield* since("0")
      yield* query(`UPDATE gone.owners SET seen_at = ${ago(0)} WHERE process LIKE '4 %' OR process LIKE '2 %'`)
      assert.deepStrictEqual(yield* gone, ["10.0.0.3:1"])

      // After a start of the database, no process is gone for a while.
      yield* query("UPDATE gone.owners SET seen_at = 0 WHERE process LIKE '1 %'")
      assert.strictEqual((yield* gone).length, 1)
      assert.strictEqual((yield* Gone.addresses(own, 3_600_000)).size, 0)

      const storage = yield* RunnerStorage.makeMemory
      const runner = (host: string) =>
        Runner.make({ address: RunnerAddress.make(host, 1), groups: ["default"], weight: 1 })
      for (const host of ["10.0.0.1", "10.0.0.3"]) yield* storage.register(runner(host), true)
      const watched = yield* Gone.watch(storage, Gone.addresses(own, expireMillis).pipe(Effect.orDie)).getRunners
      assert.deepStrictEqual(
        watched.map(([{ address }, isHealthy]) => [address.host, isHealthy]),
        [
          ["10.0.0.1", true],
          ["10.0.0.3", false]
        ]
      )
    }).pipe(Effect.scoped, Effect.runPromise))
})

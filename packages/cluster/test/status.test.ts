import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Operations from "../src/Operations.ts"
import * as Postgres from "../src/Postgres.ts"
import { ClusterRuns } from "../src/runs.ts"
import { hasPostgres } from "./database.ts"

describe.skipIf(!hasPostgres)("the status of a database", () => {
  let server: PostgresServer.PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server.stop())

  it("lists the servers that were seen within a minute, by the database's clock", () =>
    Effect.gen(function* () {
      const place = { url: Redacted.make(server.url), schema: "listed", graceMillis: 0 }
      // Creates the tables.
      yield* ClusterRuns.make(place)
      const postgres = yield* Postgres.open(place)
      const query = (statement: string) => postgres.run((session) => session.query(statement))
      const seen = (host: string, seconds: number, isHealthy: boolean) => {
        const runner = JSON.stringify({ address: { host, port: 1 }, groups: ["default"], weight: 1 })
        return query(
          `INSERT INTO listed.listed_cluster_runners (address, runner, healthy, last_heartbeat)
          VALUES ('${host}', '${runner}', ${isHealthy}, now()::timestamp - interval '${seconds} seconds')`
        )
      }
      yield* seen("a", 0, true)
      yield* seen("b", 30, true)
      yield* seen("c", 0, false)
      yield* seen("d", 3_600, true)
      yield* seen("e", 86_400, false)
      const listed = Effect.map(Operations.status(postgres), ({ servers }) =>
        servers.map(({ address, isHealthy }) => [address, isHealthy])
      )
      const alive = [
        ["a:1", true],
        ["b:1", false],
        ["c:1", false]
      ]
      assert.deepStrictEqual(yield* listed, alive)
      // A server that was frozen or unreachable is listed again from its next heartbeat.
      yield* query("UPDATE listed.listed_cluster_runners SET last_heartbeat = now()::timestamp WHERE address = 'd'")
      assert.deepStrictEqual(yield* listed, [...alive, ["d:1", true]])
    }).pipe(Effect.scoped, Effect.runPromise))
})

import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Postgres from "../src/Postgres.ts"

/** Whether there is a Postgres on this machine. */
export const hasPostgres = PostgresServer.find() !== undefined

if (!hasPostgres)
  console.warn("Not tested: packages/cluster needs initdb, pg_ctl and postgres of Postgres 14 or newer.")

let schemas = 0

/** Opens a new place in a database, each time it is run: each stands for a process. */
export const fresh = (server: () => PostgresServer.PostgresServer, options: Partial<Postgres.Options> = {}) => {
  const schema = `test_${schemas++}`
  return Effect.suspend(() =>
    Postgres.open({
      url: Redacted.make(server().url),
      schema,
      graceMillis: 0,
      reconnectMillis: 0,
      maxConnections: 4,
      ...options
    })
  )
}

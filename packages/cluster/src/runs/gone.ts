/**
 * Recognizes dead servers by the database. Effect's cluster pings servers from only one of them. If that server dies
 * itself, its shards would otherwise stay where they are until its heartbeat expires.
 */
import type * as RunnerStorage from "effect/cluster/RunnerStorage"
import * as Effect from "effect/Effect"
import { addressOf, isGone } from "../internal/owner.ts"
import type { Postgres, PostgresError } from "../Postgres.ts"

/**
 * Returns the addresses of servers that hold no lock and were not seen for a quarter of `expireMillis`. An address may
 * have been used by earlier processes.
 */
export const addresses = (
  { run, schema, self }: Postgres,
  expireMillis: number
): Effect.Effect<ReadonlySet<string>, PostgresError> =>
  Effect.map(
    run((session) =>
      session.query(
        `SELECT process, ${isGone(schema, "known.process", "$1", expireMillis)} FROM ${schema}.owners AS known WHERE process LIKE '% at %'`,
        [self]
      )
    ),
    (rows) => {
      const of = (isGone: boolean) =>
        rows.flatMap(([process, gone]) => (gone === isGone ? (addressOf(String(process)) ?? []) : []))
      const present = new Set(of(false))
      return new Set(of(true).filter((address) => !present.has(address)))
    }
  )

/** Wraps a storage to report dead servers as unhealthy. */
export const watch = (
  storage: RunnerStorage.RunnerStorage["Service"],
  gone: Effect.Effect<ReadonlySet<string>>
): RunnerStorage.RunnerStorage["Service"] => ({
  ...storage,
  getRunners: Effect.zipWith(storage.getRunners, gone, (runners, gone) =>
    runners.map(([runner, isHealthy]): [typeof runner, boolean] => {
      const { host, port } = runner.address
      return [runner, isHealthy && !gone.has(`${host}:${port}`)]
    })
  )
})

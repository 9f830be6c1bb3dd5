/**
 * The database of simulated machines: a real Postgres that executes the real statements one at a time, with the
 * simulated clock. A schema with a simulated clock and lock table precedes the system's schema in `search_path`. A
 * crash empties the same tables as a Postgres crash.
 */
import { Postgres } from "@divisi/cluster"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { lockClass } from "../../../../packages/cluster/src/internal/owner.ts"

/** A row of an answer. */
export type Row = ReadonlyArray<unknown>

export interface Database {
  /** Executes a statement after those before it. */
  readonly execute: (statement: string, parameters?: ReadonlyArray<unknown>) => Promise<ReadonlyArray<Row>>
  /** Waits until all statements have been executed. */
  readonly settled: () => Promise<void>
  /** Releases the lock of a machine, as the end of its connection does. */
  readonly unlock: (machine: string) => Promise<unknown>
  readonly crash: () => Promise<unknown>
  /** The number of executed statements. */
  readonly statements: () => number
  readonly close: () => Promise<void>
}

export const schema = "divisi"

/** Takes the lock of the machine with a number. */
export const lockStatement = `INSERT INTO simulated.pg_locks SELECT 'advisory', 2, true, oid, ${lockClass}, $1::text::bigint
  FROM pg_database WHERE datname = current_database() ON CONFLICT DO NOTHING`

const setUp = `
  CREATE SCHEMA simulated;
  CREATE TABLE simulated.pg_locks (locktype text, objsubid smallint, granted boolean, database oid, classid bigint,
    objid bigint PRIMARY KEY);
  CREATE FUNCTION simulated.clock_timestamp() RETURNS timestamptz STABLE LANGUAGE sql
    AS 'SELECT to_timestamp(coalesce(nullif(current_setting(''simulated.now'', true), ''''), ''0'')::float8 / 1000)';
  CREATE FUNCTION simulated.now() RETURNS timestamptz STABLE LANGUAGE sql AS 'SELECT simulated.clock_timestamp()';
  CREATE FUNCTION simulated.pg_postmaster_start_time() RETURNS timestamptz STABLE LANGUAGE sql
    AS 'SELECT to_timestamp(coalesce(nullif(current_setting(''simulated.started'', true), ''''), ''0'')::float8 / 1000)'`

const numberOf = (machine: string) => machine.split(" ")[0]

/** Opens the database of a new Postgres server. `now` is the time of the simulation. */
export const open = async (url: string, now: () => number): Promise<Database> => {
  const place = { url: Redacted.make(url), schema, maxConnections: 1 }
  const before = Scope.makeUnsafe()
  const first = await Effect.runPromise(Scope.provide(Postgres.open(place), before))
  const name = new URL(url).pathname.slice(1)
  const statements = [...setUp.split(/;\s*$/m), `ALTER DATABASE ${name} SET search_path = simulated, pg_catalog`]
  for (const statement of statements) await Effect.runPromise(first.run((session) => session.query(statement)))
  await Effect.runPromise(Scope.close(before, Exit.void))

  const scope = Scope.makeUnsafe()
  const { run } = await Effect.runPromise(Scope.provide(Postgres.open(place), scope))
  let last: Promise<unknown> = Promise.resolve()
  let [count, startedAt, setAt] = [0, 0, Number.NaN]
  const clock = "SELECT set_config('simulated.now', $1, false), set_config('simulated.started', $2, false)"
  const execute: Database["execute"] = (statement, parameters) => {
    const at = now()
    const isSet = at === setAt
    setAt = at
    const times = [`${at}`, `${startedAt}`]
    const executed = last.then(() =>
      Effect.runPromise(
        run((session) => {
          const answer = session.query(statement, parameters)
          return isSet ? answer : Effect.andThen(session.query(clock, times), answer)
        })
      )
    )
    count += 1
    last = executed.catch(() => undefined)
    return executed
  }
  return {
    execute,
    settled: async () => {
      for (let seen: unknown; seen !== last; ) {
        seen = last
        await seen
      }
    },
    unlock: (machine) => execute("DELETE FROM simulated.pg_locks WHERE objid = $1::text::bigint", [numberOf(machine)]),
    crash: async () => {
      startedAt = now()
      setAt = Number.NaN
      await execute("DELETE FROM simulated.pg_locks")
      await execute(`DELETE FROM ${schema}.owners`)
    },
    statements: () => count,
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

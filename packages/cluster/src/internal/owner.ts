/**
 * Identifies the processes that share a database. Each holds an advisory lock, which the database releases when its
 * connection ends. A disconnected process needs a moment to reconnect, so an owner without its lock counts as dead only
 * if it was not seen for some seconds. A frozen process keeps its connection and its runs.
 */
import { randomInt } from "node:crypto"
import os from "node:os"
import { Elapsed } from "@divisi/core"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import { bounded } from "./closing.ts"
import { endStuck, type Session, sessionOf } from "./session.ts"

/** The class id of Divisi's advisory locks: "DivC". */
export const lockClass = 0x44697643

/** The class id of the advisory locks for changes of shared slots: "DivS". */
export const slotsClass = 0x44697653

/** Interval at which a process checks that it still holds its lock, in milliseconds. */
export const lookMillis = 1_000

/** Number of these checks after which connections of frozen processes are ended. */
const looksPerSweep = 5

/** How long to wait for a process without its lock, in milliseconds. Processes usually reconnect within a second. */
export const reconnectMillis = 3_000

/** Generates an owner name, which starts with the number of its lock. A cluster server's ends with its address. */
const make = (address: string | undefined): string =>
  `${randomInt(1, 2 ** 31)} ${process.pid} ${os.hostname()}${address === undefined ? "" : ` at ${address}`}`

/** Formats an owner for display, e.g. `process 4711 on a-server`. */
export const nameOf = (owner: string): string => {
  const [, pid, ...host] = owner.split(" ")
  return `process ${pid} on ${host.join(" ")}`
}

/** Returns the address of an owner that is a cluster server. */
export const addressOf = (owner: string): string | undefined => / at (\S+)$/.exec(owner)?.[1]

/** Returns an SQL condition that checks whether the owner in a column currently holds its lock. */
export const hasLock = (column: string): string => `EXISTS (
  SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND classid::bigint = ${lockClass} AND objid::bigint = split_part(${column}, ' ', 1)::bigint
)`

/**
 * SQL expression for the time in milliseconds since 1970, by the database's clock, because server clocks may differ.
 */
export const databaseNow = "(extract(epoch FROM clock_timestamp()) * 1000)"

/** Grace periods in milliseconds: after a restart of the database, and after an owner was last seen. */
export interface Patience {
  readonly graceMillis: number
  readonly reconnectMillis: number
}

/**
 * Returns an SQL condition that checks whether the owner in a column is alive. After a restart of the database, all
 * owners count as alive for a while, so that they can reconnect.
 */
export const isAlive = (schema: string, column: string, { graceMillis, reconnectMillis }: Patience): string => `(
  now() - pg_postmaster_start_time() < interval '${graceMillis} milliseconds' OR ${hasLock(column)} OR EXISTS (
    SELECT FROM ${schema}.owners AS seen WHERE seen.process = ${column} AND seen.seen_at > ${databaseNow} - ${reconnectMillis}
  )
)`

/**
 * Returns an SQL condition that checks whether the owner in a column has lost its runs to `self`: it was not seen for
 * `expireMillis`, or for half of that if it also does not hold its lock. `self` must have been seen without a gap
 * during the same period, because after a database outage no process was seen for a while and all of them reconnect. A
 * frozen process still holds its lock, but is not seen.
 */
export const isLost = (schema: string, column: string, self: string, expireMillis: number): string => `(
  now() - pg_postmaster_start_time() > interval '${expireMillis} milliseconds' AND EXISTS (
    SELECT FROM (SELECT CASE WHEN ${hasLock(column)} THEN ${expireMillis} ELSE ${expireMillis / 2} END AS millis) AS waited
    JOIN ${schema}.owners AS own ON own.process = ${self} AND own.since < ${databaseNow} - waited.millis
    WHERE NOT EXISTS (
      SELECT FROM ${schema}.owners AS seen
      WHERE seen.process = ${column} AND seen.seen_at > ${databaseNow} - waited.millis
    )
  )
)`

/**
 * Returns an SQL condition that checks whether the owner in a column has probably died: it holds no lock, and was not
 * seen for a quarter of `expireMillis`. Its shards are then assigned to other servers, which wait for `isLost` before
 * they claim its runs.
 */
export const isGone = (schema: string, column: string, self: string, expireMillis: number): string =>
  `(NOT ${hasLock(column)} AND ${isLost(schema, column, self, expireMillis / 2)})`

/** This process, as one of those that share the database. */
export interface Owner {
  readonly self: string
  /** Returns the current time by the database's clock, in milliseconds since 1970. Synchronized every second. */
  readonly now: () => number
}

/** Returns the statement with which a process reports that it is alive. The statement returns the database's time. */
export const seen = (schema: string): string => `
  INSERT INTO ${schema}.owners AS known (process, seen_at, since) VALUES ($1, ${databaseNow}, ${databaseNow})
  ON CONFLICT (process) DO UPDATE SET seen_at = excluded.seen_at, since =
    CASE WHEN excluded.seen_at - known.seen_at > ${reconnectMillis} THEN excluded.seen_at ELSE known.since END
  RETURNING seen_at`

/** How long a process is remembered after it was last seen, in milliseconds. */
const rememberedMillis = 86_400_000

/**
 * Holds this process's lock until the scope closes, on a dedicated connection, and acquires it again if the connection
 * is lost. Runs that other processes have taken over in the meantime are fenced.
 */
export const enter = Effect.fnUntraced(function* (
  config: PgConnection.Config,
  schema: string,
  address: string | undefined
): Effect.fn.Return<Owner, SqlError, Scope.Scope> {
  const self = make(address)
  const clock = yield* Clock.Clock
  const entered = yield* Deferred.make<void, SqlError>()
  /** Offset between the database's clock and this process's monotonic clock, in milliseconds. */
  let aheadMillis = 0
  const owners = `${schema}.owners`
  const report = (session: Session) =>
    Effect.map(session.query(seen(schema), [self]), ([row]) => {
      aheadMillis = Number(row?.[0]) - Elapsed.ticks(clock)
    })
  const look = Effect.gen(function* () {
    const session = sessionOf(yield* PgConnection.make(config))
    // Detects machines that have disappeared, which the database would otherwise consider alive for a long time.
    yield* session.query("SET tcp_keepalives_idle = 10")
    yield* session.query("SET tcp_keepalives_interval = 5")
    yield* session.query("SET tcp_keepalives_count = 3")
    yield* session.query("SET idle_session_timeout = 0")
    const lock = [`${lockClass}`, self.split(" ")[0]]
    // The database may not have noticed yet that the previous connection is gone.
    while ((yield* session.query("SELECT pg_try_advisory_lock($1::integer, $2::integer)", lock))[0]?.[0] !== true) {
      yield* Effect.sleep(lookMillis / 4)
    }
    yield* session.query(`DELETE FROM ${owners} WHERE seen_at < ${databaseNow} - ${rememberedMillis}`)
    yield* report(session)
    // After an orderly shutdown, other processes do not need to wait.
    yield* Effect.addFinalizer(() => bounded(session.query(`DELETE FROM ${owners} WHERE process = $1`, [self])))
    yield* Deferred.succeed(entered, undefined)
    const looks = Effect.repeat(Effect.andThen(Effect.sleep(lookMillis), report(session)), { times: looksPerSweep - 1 })
    yield* Effect.forever(Effect.andThen(looks, endStuck(session)))
  })
  const again = Effect.forever(
    Effect.catch(Effect.scoped(look), (error) =>
      Effect.andThen(Deferred.fail(entered, error), Effect.sleep(lookMillis / 4))
    )
  )
  yield* Effect.forkScoped(again)
  yield* Deferred.await(entered)
  return { self, now: () => Math.round(aheadMillis + Elapsed.ticks(clock)) }
})

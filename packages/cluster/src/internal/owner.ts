/**
 * The processes that share a database: each has an advisory lock that the database frees when its connection ends. A
 * process whose connection was cut needs a moment to reconnect, so an owner without its lock counts as ended only when it
 * was not seen for some seconds. A frozen process keeps its connection, and its runs.
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
import { type Session, sessionOf } from "./session.ts"

/** The first half of the keys of our advisory locks: "DivC". */
export const lockClass = 0x44697643

/** The interval at which a process checks that it still has its lock. */
export const lookMillis = 1_000

/** How long a process without its lock is waited for, in milliseconds: it reconnects within about a second. */
export const reconnectMillis = 3_000

/** The name of an owner begins with the number of its lock. */
const make = (): string => `${randomInt(1, 2 ** 31)} ${process.pid} ${os.hostname()}`

/** An owner in words, e.g. `process 4711 on a-server`. */
export const nameOf = (owner: string): string => {
  const [, pid, ...host] = owner.split(" ")
  return `process ${pid} on ${host.join(" ")}`
}

/** Whether the owner that a column names has its lock now. */
export const hasLock = (column: string): string => `EXISTS (
  SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND classid::bigint = ${lockClass} AND objid::bigint = split_part(${column}, ' ', 1)::bigint
)`

/** Milliseconds since 1970 by the clock of the database: those of servers differ. */
export const databaseNow = "(extract(epoch FROM clock_timestamp()) * 1000)"

/** How long an owner counts as alive, in milliseconds: after a start of the database, and after it was seen last. */
export interface Patience {
  readonly graceMillis: number
  readonly reconnectMillis: number
}

/** Whether the owner that a column names lives. After a start of the database all live for a while: they reconnect. */
export const isAlive = (schema: string, column: string, { graceMillis, reconnectMillis }: Patience): string => `(
  now() - pg_postmaster_start_time() < interval '${graceMillis} milliseconds' OR ${hasLock(column)} OR EXISTS (
    SELECT FROM ${schema}.owners AS seen WHERE seen.process = ${column} AND seen.seen_at > ${databaseNow} - ${reconnectMillis}
  )
)`

/**
 * Whether the owner that a column names has lost its runs to `self`: it was not seen for `expireMillis`, or for half of
 * that if it has no lock either. `self` was seen without a gap for as long: after an outage of the database no process was
 * seen for a while, and all reconnect. A frozen process has its lock, and is not seen.
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

/** This process among those that share a database. */
export interface Owner {
  readonly self: string
  /** The time by the clock of the database, in milliseconds since 1970: read each second, and counted on from there. */
  readonly now: () => number
}

/** The statement with which a process reports that it lives. It returns the time by the clock of the database. */
export const seen = (schema: string): string => `
  INSERT INTO ${schema}.owners AS known (process, seen_at, since) VALUES ($1, ${databaseNow}, ${databaseNow})
  ON CONFLICT (process) DO UPDATE SET seen_at = excluded.seen_at, since =
    CASE WHEN excluded.seen_at - known.seen_at > ${reconnectMillis} THEN excluded.seen_at ELSE known.since END
  RETURNING seen_at`

/** How long a process that was not seen is remembered, in milliseconds. */
const rememberedMillis = 86_400_000

/**
 * Holds a lock of this process until the scope closes, on a dedicated connection, and takes it again if the connection
 * is lost. Runs that other processes have taken over meanwhile are fenced.
 */
export const enter = Effect.fnUntraced(function* (
  config: PgConnection.Config,
  schema: string
): Effect.fn.Return<Owner, SqlError, Scope.Scope> {
  const self = make()
  const clock = yield* Clock.Clock
  const entered = yield* Deferred.make<void, SqlError>()
  /** The offset of the database's clock from the monotonic clock of this process. */
  let aheadMillis = 0
  const owners = `${schema}.owners`
  const report = (session: Session) =>
    Effect.map(session.query(seen(schema), [self]), ([row]) => {
      aheadMillis = Number(row?.[0]) - Elapsed.ticks(clock)
    })
  const look = Effect.gen(function* () {
    const session = sessionOf(yield* PgConnection.make(config))
    // A database that waits long for a machine that is gone would take it for one that lives.
    yield* session.query("SET tcp_keepalives_idle = 10")
    yield* session.query("SET tcp_keepalives_interval = 5")
    yield* session.query("SET tcp_keepalives_count = 3")
    yield* session.query("SET idle_session_timeout = 0")
    const lock = [`${lockClass}`, self.split(" ")[0]]
    // The database may not have noticed yet that the connection before is gone.
    while ((yield* session.query("SELECT pg_try_advisory_lock($1::integer, $2::integer)", lock))[0]?.[0] !== true) {
      yield* Effect.sleep(lookMillis / 4)
    }
    yield* session.query(`DELETE FROM ${owners} WHERE seen_at < ${databaseNow} - ${rememberedMillis}`)
    yield* report(session)
    // A process that ends in order is not waited for.
    yield* Effect.addFinalizer(() => bounded(session.query(`DELETE FROM ${owners} WHERE process = $1`, [self])))
    yield* Deferred.succeed(entered, undefined)
    yield* Effect.forever(Effect.andThen(Effect.sleep(lookMillis), report(session)))
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

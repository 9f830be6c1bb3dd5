/**
 * The processes that share a database: each by an advisory lock that the database frees when the connection of its process
 * ends, however it ends, so that nobody waits for a lease to run out.
 */
import { randomInt } from "node:crypto"
import os from "node:os"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import { lockClass } from "./schema.ts"
import { sessionOf } from "./session.ts"

/** How often a process looks whether it still has its lock. */
const lookMillis = 2_000

/** The number that an owner's lock has stands first in its name. */
const make = (): string => `${randomInt(1, 2 ** 31)} ${process.pid} ${os.hostname()}`

/** An owner in words, e.g. `process 4711 on a-server`. */
export const nameOf = (owner: string): string => {
  const [, pid, ...host] = owner.split(" ")
  return `process ${pid} on ${host.join(" ")}`
}

/** Whether the owner that a column names lives. After a start of the database all live for a while: they come again. */
export const isAlive = (column: string, graceSeconds: number): string => `(
  now() - pg_postmaster_start_time() < interval '${graceSeconds} seconds'
  OR EXISTS (
    SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND classid::bigint = ${lockClass} AND objid::bigint = split_part(${column}, ' ', 1)::bigint
  )
)`

/**
 * Holds a lock of this process until the scope closes, on a connection of its own: taken again where that is lost. What
 * others have taken over meanwhile is fenced.
 */
export const enter = Effect.fnUntraced(function* (
  config: PgConnection.Config
): Effect.fn.Return<string, SqlError, Scope.Scope> {
  const self = make()
  const entered = yield* Deferred.make<void, SqlError>()
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
    yield* Deferred.succeed(entered, undefined)
    yield* Effect.forever(Effect.andThen(Effect.sleep(lookMillis), session.query("SELECT 1")))
  })
  const again = Effect.forever(
    Effect.catch(Effect.scoped(look), (error) =>
      Effect.andThen(Deferred.fail(entered, error), Effect.sleep(lookMillis / 4))
    )
  )
  yield* Effect.forkScoped(again)
  yield* Deferred.await(entered)
  return self
})

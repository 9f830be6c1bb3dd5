/** Runs SQL statements and classifies temporary failures. */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import type { PgPool } from "@effect/sql-pg/PgPool"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"

/** A result row. Numbers are returned unchanged; 64-bit integers must be cast in the statement. */
export type Row = ReadonlyArray<unknown>

/** A connection that runs statements. */
export interface Session {
  readonly query: (
    statement: string,
    parameters?: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<Row>, SqlError>
}

export const sessionOf = (connection: PgConnection): Session => ({
  query: (statement, parameters = []) => connection.queryValues(statement, parameters)
})

/** Encodes a column of many rows as a single parameter. The statement must cast it to the column's type. */
export const column = <A>(items: ReadonlyArray<A>, of: (item: A) => string | number): ReadonlyArray<string> =>
  items.map((item) => `${of(item)}`)

/** Returns the error message from the database or the connection. It never contains a URL. */
export const detailOf = ({ reason }: SqlError): string =>
  reason.cause instanceof Error && reason.cause.message !== "" ? reason.cause.message : reason.message

const codeOf = ({ reason }: SqlError): string => {
  const code = (reason.cause as { readonly code?: unknown } | null | undefined)?.code
  return typeof code === "string" ? code : ""
}

/**
 * SQL states of temporary errors: no connection, a server that is starting or stopping, a full disk, too many clients,
 * deadlocks, lock and process timeouts, and other errors worth retrying.
 */
const passing = /^(?:08|57P|53|40|55P03|25P03)/

/** Whether a failed statement may succeed if it is retried. */
export const isPassing = (error: SqlError): boolean =>
  error.reason._tag === "ConnectionError" || passing.test(codeOf(error))

/** Network, DNS and socket errors that disappear once a database has started. */
const starting: ReadonlySet<string> = new Set([
  "EAI_AGAIN",
  "EAI_NODATA",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETUNREACH",
  "ENOENT",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT"
])

/** Matches connection errors that have no code. */
const startingMessage = /Connection closed|timed? ?out/i

/**
 * Whether a first connection may succeed once the database has started. Invalid settings and certificate failures are
 * also connection errors, but permanent.
 */
export const isStarting = (error: SqlError): boolean => {
  const code = codeOf(error)
  if (code !== "") return starting.has(code) || passing.test(code)
  return startingMessage.test(`${detailOf(error)} ${error.reason.message}`)
}

/**
 * Returns the delay before the next attempt, in milliseconds. A restarting database is usually available within two
 * seconds.
 */
const napMillis = (attempt: number): number => Math.min(20 * 2 ** attempt, 500)

/**
 * Retries temporary failures for a limited time. `work` receives the number of earlier attempts; `onWait` runs before
 * each wait.
 */
export const patiently = <A>(
  work: (attempt: number) => Effect.Effect<A, SqlError>,
  patienceMillis: number,
  options: {
    readonly isPassing?: ((error: SqlError) => boolean) | undefined
    readonly onWait?: ((error: SqlError) => Effect.Effect<void>) | undefined
  } = {}
): Effect.Effect<A, SqlError> => {
  const mayPass = options.isPassing ?? isPassing
  const wait = (error: SqlError, attempt: number) =>
    Effect.andThen(options.onWait?.(error) ?? Effect.void, Effect.sleep(napMillis(attempt)))
  return Effect.flatMap(Clock.currentTimeMillis, (begun) => {
    const go = (attempt: number): Effect.Effect<A, SqlError> =>
      Effect.catch(work(attempt), (error) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          mayPass(error) && now - begun < patienceMillis
            ? Effect.andThen(wait(error, attempt), go(attempt + 1))
            : Effect.fail(error)
        )
      )
    return go(0)
  })
}

/**
 * Timeouts for a process that stops in the middle of an operation, in milliseconds. The database ends a transaction
 * that waits for its process, a statement that waits for a lock, and a statement that runs too long. The first two are
 * retried.
 */
export const timeouts = {
  idle_in_transaction_session_timeout: "2000",
  lock_timeout: "10000",
  statement_timeout: "60000"
}

/**
 * Ends the connections of processes that were frozen after a statement was executed and before they sent its end, which
 * commits it, or before they read its results. The database has no timeout for this, and the statement keeps its locks.
 */
export const endStuck = (session: Session): Effect.Effect<unknown, SqlError> =>
  session.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity AS stuck
    WHERE datname = current_database() AND usename = current_user AND application_name IN ('divisi', 'divisi cluster')
      AND state = 'active' AND wait_event IN ('ClientRead', 'ClientWrite')
      AND query_start < clock_timestamp() - interval '${stuckMillis} milliseconds'
      AND (backend_xid IS NOT NULL OR EXISTS (
        SELECT FROM pg_stat_activity AS waiting
        WHERE waiting.wait_event_type = 'Lock' AND stuck.pid = ANY (pg_blocking_pids(waiting.pid))
      ))`)

/** How long a connection with an executed statement may wait for its process, in milliseconds. */
const stuckMillis = 5_000

/** Runs a transaction on a dedicated connection. */
export const transact = <A>(
  pool: PgPool,
  work: (session: Session) => Effect.Effect<A, SqlError>
): Effect.Effect<A, SqlError> =>
  Effect.scoped(
    Effect.flatMap(pool.reserve, (connection) => {
      const session = sessionOf(connection)
      const done = Effect.tap(Effect.andThen(session.query("BEGIN"), work(session)), () => session.query("COMMIT"))
      return Effect.onError(done, () => Effect.ignore(session.query("ROLLBACK")))
    })
  )

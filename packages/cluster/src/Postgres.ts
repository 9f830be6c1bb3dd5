/**
 * A Postgres database that several servers share: the basis of their journals, accounts and records.
 *
 * The tables are in a separate schema, `divisi`, and are created if they do not exist. Each process that opens it holds
 * an advisory lock, which the database releases when the process ends for any reason.
 */
import { Callback, Options as Tables } from "@divisi/core"
import * as PgPool from "@effect/sql-pg/PgPool"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import { acquired } from "./internal/closing.ts"
import * as Owner from "./internal/owner.ts"
import * as Schema from "./internal/schema.ts"
import * as Session from "./internal/session.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The database connection and its options. */
export interface Options {
  /** The URL, such as `postgres://user:password@host:5432/database?sslmode=require`. It is never shown. */
  readonly url: Redacted.Redacted
  /** The password, if it is not in the URL. */
  readonly password?: Redacted.Redacted | undefined
  /** The schema of the tables: lowercase letters, digits and underscores. Default: `divisi`. */
  readonly schema?: string | undefined
  /** The maximum number of connections, in addition to the one that holds the lock. Default: 8. */
  readonly maxConnections?: number | undefined
  /** How long to wait for an unreachable database, in milliseconds. Default: 30,000. */
  readonly patienceMillis?: number | undefined
  /**
   * How long {@link open} waits for a database that is starting or unreachable, in milliseconds. With 0, it tries once.
   * A wrong password, an unknown database or an invalid URL fails immediately. Default: `patienceMillis`.
   */
  readonly startMillis?: number | undefined
  /** Called before each wait of {@link open} with the reason why the database cannot be used yet. */
  readonly onWait?: ((error: PostgresError) => Effect.Effect<void>) | undefined
  /**
   * How long after a start of the database no process is assumed dead, in milliseconds, because clients need time to
   * reconnect. Default: 10,000.
   */
  readonly graceMillis?: number | undefined
  /**
   * How long a process without a connection is assumed to be alive, in milliseconds, so that it can reconnect. The runs
   * of a killed process are released after this time. Default: 3,000.
   */
  readonly reconnectMillis?: number | undefined
}

const redacted = Tables.expects("a Redacted", Redacted.isRedacted)
const millis = Tables.number(0, 2 ** 31 - 1)

const optionsTable = Tables.table(
  {
    url: redacted,
    password: redacted,
    schema: Tables.name,
    maxConnections: Tables.whole(1, 10_000),
    patienceMillis: millis,
    startMillis: millis,
    onWait: Tables.aFunction,
    graceMillis: millis,
    reconnectMillis: millis
  } satisfies Tables.ShapeOf<Options>,
  { required: ["url"] }
)

/** An open database. */
export interface Postgres {
  /** The host, port and database name for display, without user and password. */
  readonly name: string
  readonly schema: string
  /** The id of this process as an owner in the tables. */
  readonly self: string
  /**
   * The time by the clock of the database, in milliseconds since 1970. Names of days, ages and stored times are derived
   * from it, since the clocks of servers differ.
   */
  readonly now: () => number
  /** Returns an SQL condition: whether the owner in a column is alive. */
  readonly isAlive: (column: string) => string
  /**
   * Returns an SQL condition: whether the owner in a column currently holds its lock, which it does not while it
   * reconnects.
   */
  readonly hasLock: (column: string) => string
  /**
   * Runs a statement, and retries it while the database is unreachable. The function receives the number of earlier
   * attempts. There are no transactions of several statements, because a process frozen in the middle of one would hold
   * its locks.
   */
  readonly run: <A>(
    work: (session: Session.Session, attempt: number) => Effect.Effect<A, SqlError>
  ) => Effect.Effect<A, PostgresError>
  /** Whether the database answers within two seconds. */
  readonly isThere: Effect.Effect<boolean>
  /**
   * Frees the space of deleted rows (`VACUUM`), so that other rows overwrite it. Only the owner of the tables can do
   * this; for other users, autovacuum does it later.
   */
  readonly vacuum: Effect.Effect<void, PostgresError>
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Why a database cannot be used. */
export type PostgresErrorReason =
  | { readonly _tag: "Unreachable"; readonly detail: string }
  | { readonly _tag: "Invalid"; readonly detail: string }
  /** The database rejects this user, or lacks a permission. */
  | { readonly _tag: "Denied"; readonly detail: string }
  /** The tables were created by a newer version of this package. */
  | { readonly _tag: "Newer" }
  | { readonly _tag: "Failed"; readonly detail: string }

const explain = (reason: PostgresErrorReason): string => {
  switch (reason._tag) {
    case "Unreachable":
      return `cannot be reached (${reason.detail}): check that it is running, and check its address`
    case "Invalid":
      return `cannot be used (${reason.detail})`
    case "Denied":
      return `does not allow it (${reason.detail}): check the user, the password and its permissions`
    case "Newer":
      return "has tables from a newer version of Divisi. Update Divisi, or choose another schema"
    case "Failed":
      return `has failed (${reason.detail})`
  }
}

/** A database cannot be used. `reason` is the cause, without passwords. */
export class PostgresError extends Data.TaggedError("PostgresError")<{
  readonly database: string
  readonly reason: PostgresErrorReason
}> {
  override get message(): string {
    return `The database ${this.database} ${explain(this.reason)}.`
  }
}

const reasonOf = (error: SqlError): PostgresErrorReason => {
  const detail = Session.detailOf(error)
  if (Session.isPassing(error)) return { _tag: "Unreachable", detail }
  const isDenied = error.reason._tag === "AuthenticationError" || error.reason._tag === "AuthorizationError"
  return { _tag: isDenied ? "Denied" : "Failed", detail }
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Returns a URL for display. Text that is not a URL is not shown at all, because it may contain a password. */
const nameOf = (url: Redacted.Redacted): string | undefined => {
  const text = Redacted.value(url)
  if (!/^postgres(?:ql)?:\/\//.test(text) || !URL.canParse(text)) return undefined
  const { host, pathname, searchParams } = new URL(text)
  return `postgres://${host === "" ? (searchParams.get("host") ?? "localhost") : host}${pathname}`
}

/** A label of a host name; a letter beyond ASCII is percent-encoded in a URL. */
const label = /^(?=.{1,63}$)(?!-)(?:[a-z0-9_-]|%[89a-f][0-9a-f])+$/i

/** Whether a host has the form of a host name, an address or the path of a socket. An empty one means the default. */
const isHost = (host: string): boolean =>
  host === "" ||
  /^(?:\[|\/|%2f)/i.test(host) ||
  host
    .replace(/\.$/, "")
    .split(".")
    .every((part) => label.test(part))

/** The host that a URL names; its parameter `host` wins. */
const hostOf = (url: Redacted.Redacted): string => {
  const { hostname, searchParams } = new URL(Redacted.value(url))
  return searchParams.get("host") ?? hostname
}

const hasPassword = (url: Redacted.Redacted): boolean => new URL(Redacted.value(url)).password !== ""

/** The time limit for checking that it is reachable. */
const lookMillis = 2_000

/** The most bytes of one message: a run's batch may hold pictures. */
const maxMessageSize = 512 * 2 ** 20

/**
 * Opens a database; it is closed with its scope.
 *
 * **Details**
 *
 * A statement that fails because the database is unreachable is retried for `patienceMillis`: a restart of the database
 * causes no failures and no duplicate payments. {@link open} waits up to `startMillis` for a database that is starting,
 * so a server and its database can start together.
 *
 * **Gotchas**
 *
 * It needs a direct connection to the database, or a pooler in session mode. In transaction mode, which PgBouncer
 * offers, the lock is lost. A pooler must pass `idle_in_transaction_session_timeout`, `lock_timeout` and
 * `statement_timeout` through at the start of a connection, or ignore them. A machine that disappears silently is
 * noticed after half a minute.
 *
 * **Example**
 *
 * ```ts no-run
 * import { Postgres, PostgresJournal } from "@divisi/cluster"
 * import * as Effect from "effect/Effect"
 * import * as Redacted from "effect/Redacted"
 *
 * const opened = Postgres.open({ url: Redacted.make("postgres://divisi@localhost/divisi") })
 * const claim = Effect.flatMap(Effect.flatMap(opened, PostgresJournal.make), (journal) => journal.claim("run-1"))
 * await Effect.runPromise(Effect.scoped(claim))
 * ```
 */
export const open = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<Postgres, PostgresError, Scope.Scope> {
  yield* Effect.mapError(
    Tables.checked("Postgres.open", options, optionsTable),
    ({ message: detail }) => new PostgresError({ database: "to open", reason: { _tag: "Invalid", detail } })
  )
  const {
    graceMillis = 10_000,
    maxConnections = 8,
    onWait,
    password,
    patienceMillis = 30_000,
    reconnectMillis = Owner.reconnectMillis,
    schema = "divisi",
    startMillis = patienceMillis,
    url
  } = options
  const name = nameOf(url)
  const invalid = (detail: string) =>
    new PostgresError({ database: name ?? "(no URL)", reason: { _tag: "Invalid", detail } })
  if (name === undefined) return yield* invalid("its address must look like postgres://user@host/database")
  if (!isHost(hostOf(url))) return yield* invalid("its host is not a valid host name")
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) return yield* invalid("its schema name is invalid")
  const failed = (error: SqlError) => new PostgresError({ database: name, reason: reasonOf(error) })
  const config: PgPool.Config = {
    url,
    password: hasPassword(url) ? undefined : password,
    applicationName: "divisi",
    keepAlive: "10 seconds",
    startupParameters: Session.timeouts,
    maxMessageSize
  }
  const orFail = <A, R>(effect: Effect.Effect<A, SqlError, R>) => Effect.mapError(effect, failed)
  const connect = Effect.gen(function* () {
    const pool = yield* PgPool.make({ ...config, maxConnections })
    const found = yield* Session.transact(pool, (session) => Schema.prepare(session, schema))
    const owner =
      found === "ours" ? yield* Owner.enter({ ...config, applicationName: "divisi owner" }, schema) : undefined
    return { pool, owner }
  })
  const scope = yield* Effect.scope
  const { owner, pool } = yield* orFail(
    Session.patiently(() => acquired(scope, connect), startMillis, {
      isPassing: Session.isStarting,
      onWait: (error) =>
        Effect.catch(
          Callback.called("onWait", () => onWait?.(failed(error)) ?? Effect.void),
          ({ message }) => Effect.logWarning(message)
        )
    })
  )
  if (owner === undefined) return yield* new PostgresError({ database: name, reason: { _tag: "Newer" } })
  const run: Postgres["run"] = (work) =>
    orFail(
      Session.patiently(
        (attempt) => pool.use((connection) => work(Session.sessionOf(connection), attempt)),
        patienceMillis
      )
    )
  const withContent = `SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
    WHERE schemaname = $1 AND tablename ~ ('^(runs|batches|records|' || $1 || '_cluster.*_(messages|replies))$')`
  return {
    name,
    schema,
    ...owner,
    isAlive: (column) => Owner.isAlive(schema, column, { graceMillis, reconnectMillis }),
    hasLock: Owner.hasLock,
    isThere: Effect.map(
      Effect.timeoutOption(Effect.result(pool.use((connection) => connection.queryValues("SELECT 1", []))), lookMillis),
      (answered) => Option.isSome(answered) && Result.isSuccess(answered.value)
    ),
    run,
    vacuum: Effect.asVoid(
      run((session) =>
        Effect.flatMap(session.query(withContent, [schema]), (tables) =>
          session.query(`VACUUM (SKIP_LOCKED) ${tables.join(", ")}`)
        )
      )
    )
  }
})

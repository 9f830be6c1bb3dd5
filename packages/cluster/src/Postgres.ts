/**
 * A Postgres database shared by several servers. It stores their journals, accounts and records.
 *
 * Tables are created on first use, in a separate schema named `divisi`. Each connected process holds an advisory lock,
 * which the database releases when the process ends for any reason.
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

/** Options for connecting to the database. */
export interface Options {
  /**
   * Connection URL, such as `postgres://user:password@host:5432/database?sslmode=require`. Never included in messages.
   */
  readonly url: Redacted.Redacted
  /** The password, unless the URL contains it. */
  readonly password?: Redacted.Redacted | undefined
  /** Name of the database schema: lowercase letters, digits and underscores. Default: `divisi`. */
  readonly schema?: string | undefined
  /** Maximum number of connections, in addition to the one that holds the lock. Default: 8. */
  readonly maxConnections?: number | undefined
  /** How long statements wait for an unreachable database, in milliseconds. Default: 30,000. */
  readonly patienceMillis?: number | undefined
  /**
   * How long {@link open} waits for a database that is starting or unreachable, in milliseconds. 0 tries only once. A
   * wrong password, an unknown database or an invalid URL fails immediately. Defaults to `patienceMillis`.
   */
  readonly startMillis?: number | undefined
  /** Called before each wait in {@link open}, with the reason why the database is not available yet. */
  readonly onWait?: ((error: PostgresError) => Effect.Effect<void>) | undefined
  /**
   * Period after a restart of the database during which all processes are assumed to be alive, in milliseconds, so that
   * they can reconnect. Default: 10,000.
   */
  readonly graceMillis?: number | undefined
  /**
   * How long a process without a connection is assumed to be alive, in milliseconds. The runs of a killed process are
   * released after this time. Default: 3,000.
   */
  readonly reconnectMillis?: number | undefined
}

const redacted = Tables.expects("a Redacted", Redacted.isRedacted)
const millis = Tables.number(0, 2 ** 31 - 1)

/** @internal */
export const optionsShape = {
  url: redacted,
  password: redacted,
  schema: Tables.name,
  maxConnections: Tables.whole(1, 10_000),
  patienceMillis: millis,
  startMillis: millis,
  onWait: Tables.aFunction,
  graceMillis: millis,
  reconnectMillis: millis
} satisfies Tables.ShapeOf<Options>

const optionsTable = Tables.table(optionsShape, { required: ["url"] })

/** An open database. */
export interface Postgres {
  /** Host, port and database name for display, without user and password. */
  readonly name: string
  readonly schema: string
  /** The id of this process, which identifies its rows in the tables. */
  readonly self: string
  /**
   * Returns the current time by the database's clock, in milliseconds since 1970. Dates, ages and stored times use it,
   * because the clocks of servers may differ.
   */
  readonly now: () => number
  /** Returns an SQL condition that checks whether the owner in a column is alive. */
  readonly isAlive: (column: string) => string
  /**
   * Returns an SQL condition that checks whether the owner in a column currently holds its lock. An owner that is
   * reconnecting does not hold its lock.
   */
  readonly hasLock: (column: string) => string
  /**
   * Runs a statement and retries it while the database is unreachable. The function receives the number of previous
   * attempts. Transactions with several statements are not supported, because a process that freezes in the middle of
   * one would keep its locks.
   */
  readonly run: <A>(
    work: (session: Session.Session, attempt: number) => Effect.Effect<A, SqlError>
  ) => Effect.Effect<A, PostgresError>
  /** Whether the database responds within two seconds. */
  readonly isThere: Effect.Effect<boolean>
  /**
   * Makes the space of deleted rows reusable (`VACUUM`). Requires ownership of the tables; for other users, autovacuum
   * does this later.
   */
  readonly vacuum: Effect.Effect<void, PostgresError>
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** The reason why a database cannot be used. */
export type PostgresErrorReason =
  | { readonly _tag: "Unreachable"; readonly detail: string }
  | { readonly _tag: "Invalid"; readonly detail: string }
  /** The database rejects this user or denies a permission. */
  | { readonly _tag: "Denied"; readonly detail: string }
  /** The tables were created by a newer version of this package. */
  | { readonly _tag: "Newer" }
  | { readonly _tag: "Failed"; readonly detail: string }

const explain = (reason: PostgresErrorReason): string => {
  switch (reason._tag) {
    case "Unreachable":
      return `cannot be reached (${reason.detail}). Check that it is running and that the address is correct`
    case "Invalid":
      return `cannot be used: ${reason.detail}`
    case "Denied":
      return `rejects this user (${reason.detail}). Check the user, the password and its permissions`
    case "Newer":
      return "has tables from a newer version of Divisi. Update Divisi, or choose another schema"
    case "Failed":
      return `has failed (${reason.detail})`
  }
}

/** Raised when a database cannot be used. `reason` contains the cause, without passwords. */
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

/** Returns a URL for display, or `undefined` if the text is not a URL, in which case it may contain a password. */
const nameOf = (url: Redacted.Redacted): string | undefined => {
  const text = Redacted.value(url)
  if (!/^postgres(?:ql)?:\/\//.test(text) || !URL.canParse(text)) return undefined
  const { host, pathname, searchParams } = new URL(text)
  return `postgres://${host === "" ? (searchParams.get("host") ?? "localhost") : host}${pathname}`
}

/** Matches a label of a host name. Non-ASCII letters are percent-encoded in URLs. */
const label = /^(?=.{1,63}$)(?!-)(?:[a-z0-9_-]|%[89a-f][0-9a-f])+$/i

/** Whether a host is well-formed: a host name, an IP address or a socket path. An empty host selects the default. */
const isHost = (host: string): boolean =>
  host === "" ||
  /^(?:\[|\/|%2f)/i.test(host) ||
  host
    .replace(/\.$/, "")
    .split(".")
    .every((part) => label.test(part))

/** Returns the host in a URL. The query parameter `host` takes precedence. */
const hostOf = (url: Redacted.Redacted): string => {
  const { hostname, searchParams } = new URL(Redacted.value(url))
  return searchParams.get("host") ?? hostname
}

const hasPassword = (url: Redacted.Redacted): boolean => new URL(Redacted.value(url)).password !== ""

/** Timeout for checking that the database is reachable, in milliseconds. */
const lookMillis = 2_000

/** Maximum message size in bytes. Large, because a batch of entries can contain images. */
const maxMessageSize = 512 * 2 ** 20

/**
 * Connects to a database. The connection is closed when the scope closes. `address` is the address of this process if it
 * is a cluster server; `Operations.status` lists it with the server's runs.
 *
 * **Details**
 *
 * A statement that fails because the database is unreachable is retried for `patienceMillis`, so a restart of the
 * database causes no failures and no duplicate charges. {@link open} waits up to `startMillis` for a database that is
 * starting, so a server and its database can be started together.
 *
 * **Gotchas**
 *
 * Requires a direct connection to the database, or a pooler in session mode. In transaction mode (for example, of
 * PgBouncer), the lock is lost. A pooler must forward or ignore the startup parameters
 * `idle_in_transaction_session_timeout`, `lock_timeout` and `statement_timeout`. A machine that disappears without
 * closing its connection is detected after 30 seconds.
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
  options: Options,
  address?: string
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
    new PostgresError({ database: name ?? "at the given URL", reason: { _tag: "Invalid", detail } })
  if (name === undefined) return yield* invalid("the URL must have the form postgres://user@host/database")
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
    yield* pool.use((connection) => Session.endStuck(Session.sessionOf(connection)))
    const found = yield* Session.transact(pool, (session) => Schema.prepare(session, schema))
    const owner =
      found === "ours" ? yield* Owner.enter({ ...config, applicationName: "divisi owner" }, schema, address) : undefined
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

/** Opens the Postgres database that several servers share. */
import type { Account, Journal, Resilience } from "@divisi/core"
import * as OutcomeLog from "@divisi/policy-router/OutcomeLog"
import type { Keys, NodeServer, Pace, SharedResponses } from "@divisi/server"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as RateLimiter from "effect/persistence/RateLimiter"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import type * as DivisiConfig from "../config.ts"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import { explain } from "../invocation/OptionalPackage.ts"
import { type KeyStore, type StoredKey, unknown } from "./KeyStore.ts"
import type { Append } from "./OwnOutcomes.ts"

/** An open database. Its stores are created on demand. */
export interface Database {
  /** Name of the database for display, without user and password. */
  readonly name: string
  /** Whether the database responds. */
  readonly isThere: Effect.Effect<boolean>
  readonly journal: Effect.Effect<Journal.Journal, Failure, Scope.Scope>
  readonly accounts: Effect.Effect<Account.Accounts, Failure>
  /** Opens the response store with a retention period. A temporary database error is reported as unreachable. */
  readonly responses: (keepMillis: number) => Effect.Effect<NonNullable<NodeServer.Options["responses"]>, Failure>
  /** Claims on background responses, which are shared between servers. */
  readonly claims: Effect.Effect<SharedResponses.Claims, Failure>
  readonly keys: Effect.Effect<KeyStore, Failure>
  /** Ratings from all servers, for use by `divisi learn`. */
  readonly outcomes: Effect.Effect<{
    readonly append: Append
    readonly entries: Effect.Effect<ReadonlyArray<OutcomeLog.Entry>, Failure>
  }>
  /**
   * Deletes responses or outcomes last written more than `keepMillis` ago, or messages of cluster runs that have not
   * changed for as long, by the database's clock. With `isDryRun`, only counts them.
   */
  readonly purge: (
    kind: "messages" | "outcomes" | "responses",
    keepMillis: number,
    isDryRun: boolean
  ) => Effect.Effect<{ readonly entries: number; readonly bytes: number }, Failure>
  /** Makes the space of deleted rows reusable. */
  readonly vacuum: Effect.Effect<void, Failure>
  /** Rate limits for keys, shared by all servers. */
  readonly paces: Effect.Effect<Pace.Paces, Failure>
  /** Counts requests and tokens sent to vendors, for the limits of all machines together. */
  readonly rateLimits: Layer.Layer<RateLimiter.RateLimiterStore>
  /** Slots for concurrent calls to vendors, for the limits of all machines together. */
  readonly slots: Resilience.SharedSlots
  /** The database connection, and the package that implements its stores. */
  readonly cluster: {
    readonly modules: typeof import("@divisi/cluster")
    readonly postgres: import("@divisi/cluster").Postgres.Postgres
  }
}

/** Converts the errors of a database: an invalid address is a usage error. */
export const orFail = <A, R>(
  effect: Effect.Effect<A, { readonly message: string; readonly reason?: unknown }, R>
): Effect.Effect<A, Failure, R> =>
  Effect.mapError(effect, ({ message, reason }) =>
    Predicate.isTagged(reason, "Invalid") ? usage(message) : failed(message)
  )

const environment = (name: string) =>
  Effect.mapBoth(Config.option(Config.Redacted(name)), {
    onSuccess: Option.getOrUndefined,
    onFailure: ({ message }) => usage(`${name}: ${message}`)
  })

/** Size limit for stored responses, the same as for files. */
const ofResponses = { kind: "responses", maxBytes: 1024 ** 3 } as const

/**
 * Name of the shared work list for background responses. The number changes with the format of stored responses and
 * runs.
 */
const ofClaims = "serve/responses/1"

const toldOnce = (): ((message: string) => Effect.Effect<void>) => {
  const told = new Set<string>()
  return (message) =>
    Effect.suspend(() => {
      if (told.has(message)) return Effect.void
      told.add(message)
      return Effect.logWarning(message)
    })
}

/** Creates the entry for a stored key that cannot be parsed. It is listed but grants no access. */
const damaged = (id: string): StoredKey => ({
  id,
  name: "?",
  hash: "",
  createdAt: 0,
  limits: {},
  damaged: "it cannot be read. Restore it from a backup, or create a new one"
})

/** Opens the key store in a database. Keys are loaded on each request; concurrent reads are combined. */
const keysIn = (
  records: import("@divisi/cluster").PostgresRecords.Records,
  { Keys }: typeof import("@divisi/server")
): KeyStore => {
  const decode = Schema.decodeUnknownResult(Schema.fromJsonString(Keys.schema))
  const keyOf = (text: string): Effect.Effect<Keys.Key, Failure> => {
    const read = decode(text)
    if (Result.isSuccess(read)) return Effect.succeed(read.success)
    return Effect.fail(failed("The database contains keys that cannot be read. Restore it from a backup."))
  }
  const all = Effect.map(orFail(records.all), (all) =>
    [...all].map(([id, text]) => {
      const read = decode(text)
      return Result.isSuccess(read) ? read.success : damaged(id)
    })
  )
  const change: KeyStore["change"] = Effect.fnUntraced(function* (id, changed) {
    for (;;) {
      const before = yield* orFail(records.get(id))
      if (before === undefined) return yield* unknown(id, { database: Option.some(records) }, yield* all)
      const key = yield* changed(yield* keyOf(before))
      if (yield* orFail(records.replace(id, before, JSON.stringify(key)))) return key
    }
  })
  return {
    all,
    add: (key) => orFail(records.set(key.id, JSON.stringify(key))),
    change,
    find: (id) =>
      Effect.flatMap(orFail(records.get(id)), (text) => (text === undefined ? Effect.undefined : keyOf(text))),
    isAny: Effect.map(orFail(records.all), (all) => all.size > 0)
  }
}

/** Creates rate limits that are stored in a database. Usage is written in the background, after the answer. */
const pacesIn = Effect.fnUntraced(function* (
  paces: import("@divisi/cluster").PostgresPaces.Paces,
  { Failure }: typeof import("@divisi/server"),
  tell: (message: string) => Effect.Effect<void>
): Effect.fn.Return<Pace.Paces> {
  const context = yield* Effect.context<never>()
  return {
    take: (name, limits) =>
      Effect.catch(paces.take(name, limits), ({ message }) =>
        Effect.andThen(tell(message), Effect.fail(Failure.unreachable))
      ),
    use: (name, limits, tokens) => {
      const used = Effect.catch(paces.use(name, limits, tokens), ({ message }) =>
        tell(`${message} Tokens per minute are not counted.`)
      )
      Effect.runForkWith(context)(used)
    }
  }
})

/**
 * Creates the claims on background responses. A server claims only responses started by a server with the same format
 * version.
 */
const claimsIn = (
  tasks: import("@divisi/cluster").PostgresTasks.Tasks,
  { Failure }: typeof import("@divisi/server"),
  tell: (message: string) => Effect.Effect<void>
): SharedResponses.Claims => {
  const orUnreachable = <A>(effect: Effect.Effect<A, { readonly message: string }>) =>
    Effect.catch(effect, ({ message }) => Effect.andThen(tell(message), Effect.fail(Failure.unreachable)))
  return {
    leaseMillis: tasks.leaseMillis,
    add: (id) => orUnreachable(tasks.add([id])),
    claim: (count) => orUnreachable(tasks.claim(count)),
    renew: (ids) => orUnreachable(tasks.renew(ids)),
    release: (ids) => orUnreachable(tasks.release(ids)),
    remove: (id) => orUnreachable(tasks.forget([id]))
  }
}

const server = Effect.tryPromise({
  try: () => import("@divisi/server"),
  catch: (error) => usage(`API keys require @divisi/server. ${explain(error)}`)
})

/** Returns the database URL from a config. */
export const configured = ({ serve }: DivisiConfig.Config): Redacted.Redacted | undefined => {
  const database = serve?.database
  return typeof database === "string" ? Redacted.make(database) : database
}

/** How long a server waits for a database that is starting, and how often it logs this, in milliseconds. */
const [startMillis, reportMillis] = [30_000, 5_000]

/** Returns options for waiting while a database starts, logging to standard error every few seconds. */
export const waiting = () => {
  let reportedAt = Number.NEGATIVE_INFINITY
  return {
    startMillis,
    onWait: ({ message }: { readonly message: string }) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        if (now - reportedAt < reportMillis) return
        const isFirst = reportedAt < 0
        reportedAt = now
        const text = isFirst
          ? `${message} Waiting up to ${startMillis / 1_000} s for it to start.`
          : "Still waiting for the database."
        process.stderr.write(`divisi: ${text}\n`)
      })
  }
}

/** Flags that name files for data that a database stores, and what the data is. */
type Files = Partial<Readonly<Record<"keys" | "journal", Option.Option<string>>>>

/**
 * Rejects flags for files with data that is stored in the database, because other servers could not access those files.
 * `--keys none` is allowed.
 */
const onlyOne = (source: string, files: Files): Effect.Effect<void, Failure> => {
  const [flag] = Object.entries(files).find(([, file]) => Option.isSome(file) && file.value !== "none") ?? []
  return flag === undefined
    ? Effect.void
    : Effect.fail(
        usage(
          `--${flag} cannot be combined with ${source}: with a database, ${flag === "journal" ? "runs" : "keys"} are stored there, not in a file. Remove one of them.`
        )
      )
}

/** Options of {@link open}. */
interface Opening extends Pick<import("@divisi/cluster").Postgres.Options, "onWait" | "startMillis"> {
  /** Flags that a database excludes. They are checked before it is opened. */
  readonly files?: Files
}

/**
 * Opens the database given by the flag, `DIVISI_DATABASE` or the config, in this order. Returns `undefined` if none of
 * them is set. An unreachable database fails immediately unless `startMillis` sets a time to wait.
 */
export const open = Effect.fnUntraced(function* (
  named: Option.Option<Redacted.Redacted>,
  config: Effect.Effect<DivisiConfig.Config, Failure>,
  { files = {}, onWait, startMillis = 0 }: Opening = {}
): Effect.fn.Return<Database | undefined, Failure, Scope.Scope> {
  const variable = yield* environment("DIVISI_DATABASE")
  const url = Option.getOrUndefined(named) ?? variable ?? configured(yield* config)
  if (url === undefined) return undefined
  yield* onlyOne(Option.isSome(named) ? "--database" : variable ? "DIVISI_DATABASE" : "serve.database", files)
  const Cluster = yield* Effect.tryPromise({
    try: () => import("@divisi/cluster"),
    catch: (error) => usage(`Cannot use the database. ${explain(error)}`)
  })
  const password = yield* environment("PGPASSWORD")
  const postgres = yield* orFail(Cluster.Postgres.open({ onWait, startMillis, url, password }))
  const tell = toldOnce()
  const scope = yield* Effect.scope
  return {
    name: postgres.name,
    isThere: postgres.isThere,
    journal: Cluster.PostgresJournal.make(postgres),
    accounts: yield* Effect.cached(
      Effect.mapError(Scope.provide(Cluster.PostgresAccounts.make(postgres), scope), ({ message }) => failed(message))
    ),
    responses: Effect.fnUntraced(function* (timeToLive: number) {
      const { Failure } = yield* server
      const records = yield* Cluster.PostgresRecords.make(postgres, { ...ofResponses, timeToLive })
      const forgive = <A>(effect: Effect.Effect<A, { readonly message: string }>) =>
        Effect.catch(effect, ({ message }) => Effect.as(tell(`${message} Responses are not stored.`), undefined))
      return {
        get: (name) =>
          Effect.catch(records.get(name), ({ message }) =>
            Effect.andThen(tell(message), Effect.fail(Failure.unreachable))
          ),
        set: (name, text) => Effect.asVoid(forgive(records.set(name, text))),
        remove: (name) => Effect.asVoid(forgive(records.remove(name)))
      }
    }),
    purge: (kind, keepMillis, isDryRun) =>
      Effect.mapError(
        kind === "messages"
          ? Cluster.Operations.purgeMessages(postgres, keepMillis, isDryRun)
          : Effect.flatMap(Cluster.PostgresRecords.make(postgres, { kind }), (records) =>
              records.purge(postgres.now() - keepMillis, isDryRun)
            ),
        ({ message }) => failed(message)
      ),
    vacuum: Effect.mapError(postgres.vacuum, ({ message }) => failed(message)),
    claims: Effect.flatMap(server, (server) => {
      const opened = Cluster.PostgresTasks.open(postgres, { id: ofClaims, plan: "{}", keys: [] })
      return Effect.mapBoth(opened, {
        onSuccess: (tasks) => claimsIn(tasks, server, tell),
        onFailure: ({ message }) => failed(message)
      })
    }),
    keys: Effect.flatMap(server, (server) =>
      Effect.map(Cluster.PostgresRecords.make(postgres, { kind: "keys" }), (records) => keysIn(records, server))
    ),
    outcomes: Effect.map(Cluster.PostgresRecords.make(postgres, { kind: "outcomes" }), (records) => ({
      append: (...entries) =>
        Effect.mapError(
          Effect.forEach(entries, (entry) => records.set(OutcomeLog.nameOf(entry), OutcomeLog.encode([entry])), {
            discard: true
          }),
          ({ message }) => failed(message)
        ),
      entries: Effect.mapBoth(records.all, {
        onSuccess: (all) => [...all.values()].flatMap(OutcomeLog.decodeText),
        onFailure: ({ message }) => failed(message)
      })
    })),
    rateLimits: Cluster.PostgresRateLimits.layer(postgres),
    slots: Cluster.PostgresSlots.make(postgres),
    cluster: { modules: Cluster, postgres },
    paces: Effect.flatMap(server, (server) =>
      Effect.flatMap(Cluster.PostgresPaces.make(postgres), (paces) => pacesIn(paces, server, tell))
    )
  }
})

/** Opens the database of a flag, with which several machines share work. Returns `undefined` if the flag is absent. */
export const openShared = (url: Option.Option<Redacted.Redacted>) =>
  Option.isNone(url) ? Effect.undefined : open(url, Effect.succeed({}), waiting())

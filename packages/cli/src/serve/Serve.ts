/** `divisi serve`: serves a team over HTTP until the process is stopped. */
import { existsSync } from "node:fs"
import { Budget, type Journal, Resilience, StepFailure } from "@divisi/core"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { DiskAccounts, DiskRecords } from "@divisi/files"
import type { Caller, Keys, NodeServer, Operations, RequestLog } from "@divisi/server"
import { Assets } from "@divisi/studio"
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import { type Failure, failed, messageOf, usage } from "../invocation/Failure.ts"
import * as HangUp from "../invocation/HangUp.ts"
import * as Hint from "../invocation/Hint.ts"
import * as OpenTelemetry from "../invocation/OpenTelemetry.ts"
import { explain } from "../invocation/OptionalPackage.ts"
import { stdout } from "../invocation/Output.ts"
import * as KeyAccounts from "../key/KeyAccounts.ts"
import * as KeyFile from "../key/KeyFile.ts"
import * as Database from "../stores/Database.ts"
import * as Journals from "../stores/Journals.ts"
import * as OwnOutcomes from "../stores/OwnOutcomes.ts"
import * as ResponseFile from "../stores/ResponseFile.ts"
import * as Retention from "../stores/Retention.ts"
import * as Services from "../stores/Services.ts"
import { oneLine } from "../view/Line.ts"
import * as ClientConfig from "./ClientConfig.ts"
import type { ServeInput } from "./flags.ts"
import * as Offer from "./Offer.ts"
import * as OperationFacts from "./OperationFacts.ts"

/** Maximum time for requests in flight to finish after a stop signal, in milliseconds. */
const drainMillis = 30_000

const write = (line: string): void => void stdout.write(`${line}\n`)

// -------------------------------------------------------------------------------------------------------------------
// Settings
// -------------------------------------------------------------------------------------------------------------------

/** The secret for sealing run state. Servers with the same secret can resume each other's runs. */
const secretOf = Effect.mapError(
  Effect.map(Config.option(Config.Redacted("DIVISI_SECRET")), Option.getOrUndefined),
  ({ message }) => usage(`DIVISI_SECRET: ${message}`)
)

type Store = Database.Database | undefined

/**
 * Returns the `content` setting from the flag or the config. With `none`, flags for files that would only store content
 * are rejected.
 */
const contentOf = Effect.fnUntraced(function* (
  input: ServeInput,
  config: Offer.Offer["config"]
): Effect.fn.Return<"full" | "none", Failure> {
  const content = Option.getOrElse(input.content, () => config.serve?.content ?? "full")
  if (content === "full") return content
  const conflicts = [
    [Option.isSome(input.journal), "--journal stores runs"],
    [Services.of(config, input).cache !== undefined, "the cache stores answers"]
  ] as const
  const [, conflict] = conflicts.find(([isGiven]) => isGiven) ?? []
  if (conflict === undefined) return content
  return yield* usage(`--content none (serve.content) stores no content, but ${conflict}. Remove one of them.`)
})

/** Opens the journal. The gym's runs cost nothing to repeat, so they stay in memory unless a file is given. */
const journalOf = (
  input: ServeInput,
  isGym: boolean,
  database: Store
): Effect.Effect<Journal.Journal | undefined, Failure, Scope.Scope> =>
  database?.journal ??
  (isGym && Option.isNone(input.journal) ? Effect.succeed(undefined) : Journals.create(input.journal))

/** Default retention period for responses, in milliseconds. */
const responsesMillis = 30 * 86_400_000

/**
 * Opens the response store in the same location as the runs: a file next to the given journal, or the user's default
 * file.
 */
const responsesOf = Effect.fnUntraced(function* (
  { journal }: ServeInput,
  isGym: boolean,
  database: Store,
  keepMillis = responsesMillis
): Effect.fn.Return<NodeServer.Options["responses"], Failure, Scope.Scope> {
  if (database !== undefined) return yield* database.responses(keepMillis)
  if (isGym && Option.isNone(journal)) return undefined
  const file = yield* ResponseFile.of(journal)
  const records = yield* Effect.mapError(DiskRecords.make({ file, timeToLive: keepMillis }), ({ message }) =>
    usage(message)
  )
  return {
    get: (name) => Effect.sync(() => records.get(name)),
    set: (name, text) => Effect.sync(() => records.set(name, text)),
    remove: (name) => Effect.sync(() => records.remove(name))
  }
})

/**
 * Periodically deletes data older than the retention period, even if content is no longer stored. For the gym, the
 * user's default files are left alone unless a journal is given.
 */
const retaining = Effect.fnUntraced(function* (
  input: ServeInput,
  { config, isGym }: Pick<Offer.Offer, "config" | "isGym">,
  database: Store,
  opened: Journal.Journal | undefined,
  keepMillis: number | undefined
): Effect.fn.Return<void, Failure, Scope.Scope> {
  if (keepMillis === undefined || (isGym && database === undefined && Option.isNone(input.journal))) return
  const { cache } = Services.of(config, input)
  const files = database === undefined ? { journal: input.journal, opened } : undefined
  const stores = yield* Retention.storesOf({ database, files, cache })
  const warn = (message: string) => void process.stderr.write(`divisi: ${message}\n`)
  const keeping = Retention.keeping(stores, keepMillis, {
    onPurged: (stores) =>
      write(input.json ? eventOf("purged", { stores }) : `Deleted data older than --keep: ${Retention.textOf(stores)}`),
    onFailed: (message) => warn(`${message} Expired data could not be deleted. Retrying in an hour.`),
    vacuum: database?.vacuum
  })
  yield* Effect.forkScoped(keeping)
})

/** Returns the allowed origins from the flag and the config. */
const originsOf = (
  { Origins }: typeof import("@divisi/server"),
  given: ReadonlyArray<string>,
  configured: ReadonlyArray<string> = []
): Effect.Effect<ReadonlyArray<string>, Failure> =>
  Effect.forEach([...given, ...configured], (text, at) => {
    const origin = Origins.read(text)
    if (origin !== undefined) return Effect.succeed(origin)
    const where = at < given.length ? "--allow-origin" : "serve.origins in the config"
    return Effect.fail(usage(`${where}: expected an origin such as http://localhost:3000, got "${oneLine(text)}".`))
  })

interface Authenticating {
  /** Whether no keys existed at the last check. */
  readonly isKeyless: () => boolean
  /** Names of the keys that had a cost limit when the server started. */
  readonly costLimited: ReadonlyArray<string>
  readonly authenticate: Caller.Authenticate
  /** Returns the caller for a run's owner, so that the server can continue the run. */
  readonly callerOf: (owner: string) => ReturnType<Caller.Authenticate>
  /** Loads the keys and machines for operators. */
  readonly operations: Operations.Read
}

/** Owner of the runs started without a key. */
const local = "local"

/**
 * Creates the authenticator. Once a key exists, a key is required; before that, only programs on this machine have
 * access. Without keys, listening on a public address is refused.
 */
const authenticateOf = Effect.fnUntraced(function* (
  { ApiError, Caller, Failure: OfServer, Keys }: typeof import("@divisi/server"),
  input: ServeInput,
  origins: ReadonlyArray<string>,
  database: Store
): Effect.fn.Return<Authenticating, Failure, Scope.Scope> {
  const onThisMachine = Caller.onThisMachine(origins, { ownPages: true })
  if (Option.isSome(input.keys) && input.keys.value === "none") {
    return {
      isKeyless: () => true,
      costLimited: [],
      authenticate: onThisMachine,
      callerOf: (owner) => Effect.succeed({ owner }),
      operations: Effect.succeed({})
    }
  }
  if (Option.isSome(input.keys)) yield* KeyFile.exists(input.keys.value)
  const store = yield* database?.keys ?? Effect.flatMap(KeyFile.fileOf(input.keys), KeyFile.store)
  const scope = yield* Effect.scope
  const accounts = database?.accounts ?? Effect.mapError(DiskAccounts.make(), ({ message }) => failed(message))
  const opened = yield* Effect.cached(Scope.provide(accounts, scope))
  const opener = yield* Effect.cached(Effect.map(opened, KeyAccounts.opener))
  // Database error messages contain host names, so they are only logged for the operator.
  const unusable = ({ message }: { readonly message: string }) => {
    if (database === undefined) return new ApiError.ApiError({ kind: "server", message })
    process.stderr.write(`divisi: ${message}\n`)
    return OfServer.unreachable
  }
  const find = (id: string) => Effect.mapError(store.find(id), unusable)
  const ledger = (key: Keys.Key) =>
    Effect.mapError(
      Effect.flatMap(opener, (open) => open(key)),
      unusable
    )
  const keyed = Keys.authenticate({ find, ledger, paces: yield* database?.paces ?? Effect.undefined })
  const callerOf = Keys.callerOf({ find, ledger })
  // If all keys are deleted while the server runs, all clients are rejected.
  const keys = yield* store.all
  let hasKeys = keys.length > 0
  if (hasKeys) yield* opener
  return {
    isKeyless: () => !hasKeys,
    costLimited: keys
      .filter(({ limits, revokedAt }) => revokedAt === undefined && Object.keys(limits).length > 0)
      .map(({ name }) => name),
    callerOf: (owner) => (owner === local ? Effect.succeed({ owner }) : callerOf(owner)),
    operations: Effect.mapError(
      Effect.all({
        keys: OperationFacts.keysOf(store, opened),
        machines: database === undefined ? Effect.succeed(null) : OperationFacts.machinesOf(database.cluster)
      }),
      unusable
    ),
    authenticate: (headers) =>
      Effect.gen(function* () {
        hasKeys ||= yield* Effect.mapError(store.isAny, unusable)
        if (!hasKeys) return yield* onThisMachine(headers)
        const caller = yield* keyed(headers)
        return caller.ledger === undefined ? caller : { ...caller, accounts: KeyAccounts.chainOf(caller.ledger) }
      })
  }
})

/**
 * Opens the account that all runs share. It is held in memory or, with a database, shared by all servers and
 * persistent.
 */
const totalOf = (
  { maxTotalCost }: ServeInput,
  database: Store
): Effect.Effect<NodeServer.Options["ledger"], Failure> => {
  if (Option.isNone(maxTotalCost)) return Effect.undefined
  const limits = { costUsd: maxTotalCost.value }
  if (database === undefined) return Effect.succeed(Budget.make(limits))
  const opened = Effect.flatMap(database.accounts, (accounts) => accounts.open({ name: "servers", limits }))
  return Effect.mapError(opened, ({ message }) => failed(message))
}

/**
 * Returns a function that stores ratings in the same file as `divisi rate`, or in the database. Ratings for the gym's
 * workers are not stored.
 */
const ratingsOf = ({ ApiError }: typeof import("@divisi/server"), isGym: boolean, database: Store) =>
  Effect.gen(function* () {
    const file = yield* OwnOutcomes.file
    if (file === undefined || isGym) return undefined
    const shared = database === undefined ? undefined : yield* database.outcomes
    const keep = OwnOutcomes.rate(shared?.append ?? OwnOutcomes.appendTo(file), yield* OwnOutcomes.embedder)
    const unusable = ({ message }: Failure) => new ApiError.ApiError({ kind: "server", message })
    const keepRating: NodeServer.Options["keepRating"] = (transcript, rating) =>
      Effect.mapError(keep(transcript, rating), unusable)
    return keepRating
  })

// -------------------------------------------------------------------------------------------------------------------
// Messages
// -------------------------------------------------------------------------------------------------------------------

const question = '{"model":"divisi","messages":[{"role":"user","content":"How many minutes are there in 3 days?"}]}'

const counted = (workers: number): string => `${workers} worker${workers === 1 ? "" : "s"}`

/** Returns the message printed at startup, with the next steps. */
const welcome = (
  { url }: NodeServer.NodeServer,
  isGym: boolean,
  workers: number,
  hasKeys: boolean,
  place: Hint.Place
): string => {
  const team = isGym ? `the offline gym (${workers} simulated workers, no models)` : counted(workers)
  return [
    `Serving ${team} at ${url}`,
    "",
    `  curl ${url}/chat/completions${hasKeys ? ' -H "Authorization: Bearer $KEY"' : ""} -d '${question}'`,
    "",
    `In OpenAI clients, use this base URL, ${hasKeys ? "a" : "any"} key and the model divisi. Other models: divisi-fast, worker/<id>.`,
    hasKeys
      ? `Requests need an API key. List keys with: ${Hint.command("divisi key list", place)}`
      : `Without keys, only programs on this machine have access. Create a key with: ${Hint.command("divisi key make <name>", place)}`,
    `View runs in the browser: ${new URL("/studio/", url)}`,
    ...(isGym ? ["To use real models: divisi serve --pool openai:gpt-6.1-sol,ollama:qwen3:8b"] : []),
    "Press Ctrl-C to stop."
  ].join("\n")
}

const shortTime = (at: number): string => new Date(at).toISOString().slice(11, 19)

/** Warns about workers without a price, which keys with a cost limit cannot use. */
const warnOfPrices = (pool: WorkerPool.WorkerPool, costLimited: ReadonlyArray<string>): void => {
  const unpriced = pool.workers.filter(({ pricing }) => pricing === undefined).map(({ id }) => id)
  if (unpriced.length === 0 || costLimited.length === 0) return
  const [prices, keys] = [unpriced.join(", "), costLimited.join(", ")].map(oneLine)
  process.stderr.write(
    `divisi: Keys with a cost limit cannot use workers without a known price. Workers: ${prices}. Keys: ${keys}. Set the prices with --price, or under prices in the config.\n`
  )
}

/** Formats a log entry as a line of text. */
const lineOf = (entry: RequestLog.Entry, isPlay: boolean): string => {
  const { at, calls, costUsd, durationMillis, ending, isCut, model, owner, providerMessage, status, wire } = entry
  const failed = StepFailure.summaryOf(entry.failedSteps ?? [])
  return oneLine(
    [
      shortTime(at),
      wire,
      model ?? "-",
      `${status}`,
      isCut ? "client disconnected" : (ending ?? "-"),
      `${(durationMillis / 1000).toFixed(2)} s`,
      `${calls} call${calls === 1 ? "" : "s"}`,
      `${costUsd.toFixed(6)} USD${isPlay ? " of play money" : ""}`,
      owner ?? "-",
      ...(failed === undefined ? [] : [failed]),
      ...(providerMessage === undefined ? [] : [`(${providerMessage})`])
    ].join(" ")
  )
}

/** Formats an event as a JSON line. */
const eventOf = (event: string, more: object): string =>
  JSON.stringify({ time: new Date().toISOString(), event, ...more })

const jsonOf = ({ at, ...entry }: RequestLog.Entry): string =>
  JSON.stringify({ time: new Date(at).toISOString(), event: "request", ...entry })

// -------------------------------------------------------------------------------------------------------------------
// The server
// -------------------------------------------------------------------------------------------------------------------

/** An offer, and the scope of the processes it started, such as tool servers. */
interface Held {
  readonly offer: Offer.Offer
  readonly scope: Scope.Closeable
}

const holding = Effect.fnUntraced(function* (
  Server: typeof import("@divisi/server"),
  input: ServeInput,
  version: number,
  outer: Scope.Scope
): Effect.fn.Return<Held, Failure> {
  const scope = yield* Scope.fork(outer)
  const offer = yield* Effect.onError(Scope.provide(Offer.read(Server, input, version), scope), () =>
    Scope.close(scope, Exit.void)
  )
  return { offer, scope }
})

/** Reloads the config on SIGHUP and replaces the offer, or logs why it cannot be replaced. */
const reloading = Effect.fnUntraced(function* (
  Server: typeof import("@divisi/server"),
  input: ServeInput,
  server: NodeServer.NodeServer,
  first: Held
): Effect.fn.Return<void, never, Scope.Scope> {
  const outer = yield* Effect.scope
  const told = yield* Queue.sliding<void>(1)
  let held = first
  let version = 0

  const refused = (message: string) =>
    Effect.sync(() => {
      if (input.json) return write(eventOf("reload-refused", { message }))
      process.stderr.write(`divisi: The new config is invalid, so the previous one remains in use. ${message}\n`)
    })

  const reload = Effect.gen(function* () {
    version += 1
    const next = yield* holding(Server, input, version, outer)
    const problem = Offer.refusal(first.offer, next.offer)
    if (problem !== undefined) {
      yield* Scope.close(next.scope, Exit.void)
      return yield* refused(problem)
    }
    const before = held
    held = next
    yield* (yield* Resilience.Gate)?.reset ?? Effect.void
    const idle = yield* server.replace(next.offer.options)
    yield* Effect.forkIn(Effect.andThen(idle, Scope.close(before.scope, Exit.void)), outer)
    const workers = WorkerPool.size(next.offer.options.pool)
    const note = Offer.unchanged(first.offer, next.offer, input)
    write(
      input.json
        ? eventOf("reloaded", { workers, message: note })
        : ["The config was reloaded:", `${counted(workers)}.`, note].join(" ").trimEnd()
    )
  })

  const once = Effect.catchCause(reload, (cause) => refused(messageOf(Cause.squash(cause))))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Queue.take(told), once)))
  HangUp.hear(() => Queue.offerUnsafe(told, undefined))
})

const listening = Effect.fnUntraced(function* (input: ServeInput): Effect.fn.Return<void, Failure, Scope.Scope> {
  const Server = yield* Effect.tryPromise({
    try: () => import("@divisi/server"),
    catch: (error) => usage(`Cannot start the server. ${explain(error)}`)
  })
  const first = yield* holding(Server, input, 0, yield* Effect.scope)
  const { config, isGym, options: offered } = first.offer
  const isPlay = WorkerPool.isPlay(offered.pool)
  const content = yield* contentOf(input, config)
  const isStored = content === "full"
  const keepMillis = Retention.periodOf(input.keep, config)
  yield* Retention.servable(keepMillis)
  const origins = yield* originsOf(Server, input.allowOrigin, config.serve?.origins)
  const secret = yield* secretOf
  const database = yield* Database.open(input.database, Effect.succeed(config), {
    ...Database.waiting(),
    files: { keys: input.keys, journal: input.journal }
  })
  const { authenticate, callerOf, costLimited, isKeyless, operations } = yield* authenticateOf(
    Server,
    input,
    origins,
    database
  )
  warnOfPrices(offered.pool, costLimited)
  const hasKeys = !isKeyless()
  const isOwn = !hasKeys && Server.Caller.isThisMachine(input.host)
  const journal = isStored ? yield* journalOf(input, isGym, database) : undefined
  yield* retaining(input, first.offer, database, journal, keepMillis)
  const options: NodeServer.Options = {
    ...offered,
    content,
    journal,
    isReady: database?.isThere,
    responses: isStored ? yield* responsesOf(input, isGym, database, keepMillis) : undefined,
    shared: isStored && database !== undefined ? { claims: yield* database.claims, callerOf } : undefined,
    ledger: yield* totalOf(input, database),
    // On a public address, keys must exist before the server starts.
    authenticate: hasKeys || isOwn ? authenticate : undefined,
    isKeyless,
    origins,
    limits: config.serve?.limits,
    keepRating: isStored ? yield* ratingsOf(Server, isGym, database) : undefined,
    pages: existsSync(Assets.folder) ? Assets.respond : undefined,
    operations,
    secret,
    port: input.port,
    host: input.host,
    log: (entry) => write(input.json ? jsonOf(entry) : lineOf(entry, isPlay))
  }
  const serving = Effect.scoped(
    Effect.gen(function* () {
      const server = yield* Effect.mapError(Server.NodeServer.make(options), ({ message }) => failed(message))
      write(
        input.json
          ? eventOf("listening", { url: server.url })
          : welcome(server, isGym, WorkerPool.size(offered.pool), hasKeys, {
              keys: input.keys,
              database: input.database,
              config: input.config
            })
      )
      yield* reloading(Server, input, server, first)
      const end = Effect.suspend(() => {
        const count = server.running()
        if (count > 0) process.stderr.write(`divisi: waiting for ${count} run${count === 1 ? "" : "s"} to finish\n`)
        const stopped = Effect.sync(() => void process.stderr.write("Stopped.\n"))
        return Effect.andThen(server.drain(drainMillis), stopped)
      })
      return yield* Effect.onInterrupt(Effect.never, () => end)
    })
  )
  return yield* Services.provide(OpenTelemetry.traced(serving), { ...Services.of(config, input), isGym, database })
})

/** Starts the server, or prints a client's configuration. */
export const serve = (input: ServeInput): Effect.Effect<void, Failure> =>
  Option.match(input.printConfig, {
    onNone: () => Effect.scoped(listening(input)),
    onSome: (client) => Effect.sync(() => write(ClientConfig.textOf(client, input.host, input.port)))
  })

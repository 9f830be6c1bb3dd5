/**
 * The response cache on disk: answers of workers in one file, for this process and for concurrent and later ones.
 *
 * It is a store for the {@link ResponseCache}, based on Node's own SQLite, which is loaded when a file is opened.
 * Answers are looked up by the SHA-256 of their key, so the file contains the answers of workers but not the requests.
 */
import { createHash } from "node:crypto"
import { ResponseCache, Options as Tables } from "@divisi/core"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as AnswerTable from "./internal/answerTable.ts"
import * as Database from "./internal/database.ts"
import * as Erase from "./internal/erase.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The location and limits of the cache. The least recently used answers are evicted. */
export interface Options {
  /**
   * The file; it and its folder are created if they do not exist. While the file is in use,
   * `<file>-wal` and `<file>-shm` are next to it.
   */
  readonly file: string
  /** Maximum number of answers. Default: unlimited. */
  readonly maxEntries?: number | undefined
  /**
   * The maximum size of all answers in bytes: their JSON, and 160 bytes per answer. The file may grow to twice this
   * size. Default: 1 GiB.
   */
  readonly maxBytes?: number | undefined
  /** How long an answer is stored. Numbers are in milliseconds. Default: no limit. */
  readonly timeToLive?: Duration.Input | undefined
}

/**
 * The names, types and ranges of {@link Options}, for their validation. Invalid options are a defect: an `OptionsError`.
 *
 * @internal
 */
export const optionsTable = Tables.table(
  {
    maxEntries: Tables.limit,
    maxBytes: Tables.limit,
    timeToLive: ResponseCache.aDuration,
    file: Tables.name
  } satisfies Tables.ShapeOf<Options>,
  { required: ["file"] }
)

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** The reason why a file cannot be used. */
export type DiskCacheReason = Database.Unopened

/** Raised when a file cannot be used as a cache. */
export class DiskCacheError extends Data.TaggedError("DiskCacheError")<{
  readonly file: string
  readonly reason: DiskCacheReason
}> {
  override get message(): string {
    return `The response cache ${this.file} ${Database.explain(this.reason, "Delete it; calls are then repeated as needed")}.`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

const open = ({ file, maxBytes = 1024 ** 3, maxEntries = Number.POSITIVE_INFINITY, timeToLive }: Options) =>
  Effect.gen(function* () {
    const failed = (reason: DiskCacheReason) => new DiskCacheError({ file, reason })
    const database = yield* Database.open(file, AnswerTable.kind, failed)
    const lifeMillis = Duration.toMillis(timeToLive ?? Duration.infinity)
    return yield* Effect.try({
      try: () => AnswerTable.make(database, { maxBytes, maxEntries, lifeMillis }),
      catch: (error) => failed(Database.failureOf(error))
    })
  })

/**
 * Opens a file as a store for answers. It is closed when the scope closes.
 *
 * **Details**
 *
 * Several processes can use the same file at the same time. If two of them answer the same request concurrently, the
 * later answer is stored. If a process is killed, no stored answer is lost and the file remains intact. If the file can
 * no longer be used, for example because the disk is full, answers are neither stored nor looked up. This is logged
 * once, and no call fails because of it. An answer that does not match its checksum counts as missing, and the next one
 * replaces it.
 *
 * **Gotchas**
 *
 * The file is not encrypted: anyone who can read it can read the answers. It belongs on a local disk, because network
 * file systems do not provide the locks that SQLite needs.
 */
export const store = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<ResponseCache.Store, DiskCacheError, Scope.Scope> {
  Tables.check("DiskCache.store", options, optionsTable)
  const table = yield* open(options)
  const hash = (key: string) => createHash("sha256").update(key).digest()
  const told = new Set<string>()
  const tellOnce = (message: string) =>
    Effect.suspend(() => {
      if (told.has(message)) return Effect.undefined
      told.add(message)
      return Effect.as(Effect.logWarning(message), undefined)
    })

  const forgive = <A>(work: (now: number) => A): Effect.Effect<A | undefined> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => Database.patiently(() => work(now))).pipe(
      Effect.catch((error) => {
        const { message } = new DiskCacheError({ file: options.file, reason: Database.failureOf(error) })
        return tellOnce(`${message} Calls are made without the cache.`)
      })
    )

  return {
    get: (key) =>
      Effect.flatMap(
        forgive((now) => table.get(hash(key), now)),
        (found) =>
          found === "damaged"
            ? tellOnce(`The response cache ${options.file} contains damaged answers. Their calls will be repeated.`)
            : Effect.succeed(found)
      ),
    set: (key, answer) => forgive((now) => table.set(hash(key), answer, now))
  }
})

/**
 * Opens a file as a response cache. It is closed when the scope closes.
 *
 * **Example**
 *
 * ```ts
 * import { DiskCache } from "@divisi/files"
 * import * as Effect from "effect/Effect"
 *
 * const answer = { text: "42", finishReason: "stop" as const, usage: { inputTokens: 9, outputTokens: 1 } }
 * const program = Effect.gen(function* () {
 *   const cache = yield* DiskCache.make({ file: ":memory:", maxBytes: 100_000_000 })
 *   yield* cache.lookup("key", Effect.succeed(answer))
 *   return yield* cache.lookup("key", Effect.fail("not asked again"))
 * })
 * const found = await Effect.runPromise(Effect.scoped(program))
 * found.cached // => true
 * ```
 */
export const make = (options: Options): Effect.Effect<ResponseCache.ResponseCache, DiskCacheError, Scope.Scope> =>
  Effect.map(store(options), ResponseCache.make)

/** Options for {@link purge}. */
export interface PurgeOptions {
  readonly file: string
  /** Deletes only answers stored before this time, in milliseconds since 1970. */
  readonly before: number
  /** Whether to count answers without deleting them. Default: `false`. */
  readonly isDryRun?: boolean | undefined
}

/**
 * Removes answers from a file that several processes may use, and returns their number and size. Their bytes are
 * overwritten, in the file and in its log. A missing file is not created.
 */
export const purge = (options: PurgeOptions): Effect.Effect<Erased, DiskCacheError> => {
  Tables.check("DiskCache.purge", options, Erase.options)
  const { before, file, isDryRun = false } = options
  const failed = (reason: DiskCacheReason) => new DiskCacheError({ file, reason })
  const aged = { table: "answers", column: "made_at" }
  return Erase.inFile(file, Database.open(file, AnswerTable.kind, failed), aged, before, isDryRun, (error) =>
    failed(Database.failureOf(error))
  )
}

/** The entries deleted by a purge, or to be deleted. */
export type Erased = Erase.Erased

// -------------------------------------------------------------------------------------------------------------------
// Layers
// -------------------------------------------------------------------------------------------------------------------

/**
 * Provides a response cache on disk for all calls.
 *
 * **Example**
 *
 * ```ts
 * import { DiskCache } from "@divisi/files"
 *
 * const cache = DiskCache.layer({ file: ".cache/divisi.sqlite", maxBytes: 500_000_000, timeToLive: "30 days" })
 * ```
 */
export const layer = (options: Options): Layer.Layer<never, DiskCacheError> =>
  Layer.effect(ResponseCache.ResponseCache, make(options))

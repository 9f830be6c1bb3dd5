/**
 * The response cache on disk: answers of workers in one file, for this process, those beside it and those after it.
 *
 * It is a store of the {@link ResponseCache}, over Node's own SQLite, which is loaded when a file is opened. Answers
 * are found by the SHA-256 of their key, so the file holds what workers said and not what they were asked.
 */
import { createHash } from "node:crypto"
import { ResponseCache } from "@divisi/core"
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

/** Where answers are kept, and how many. Those whose last use is longest ago are removed to make room. */
export interface Options {
  /**
   * The file; it and its folder are made when they are not there. Two more, `-wal` and `-shm`, stand beside it in use.
   */
  readonly file: string
  /** No bound by default. */
  readonly maxEntries?: number | undefined
  /**
   * The most bytes that answers take as JSON, and 160 more for each; 1 GiB by default. The file may grow to twice that.
   */
  readonly maxBytes?: number | undefined
  /** How long an answer is kept after it was made; for ever by default. A number is in milliseconds. */
  readonly timeToLive?: Duration.Input | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Why a file cannot be used. */
export type DiskCacheReason = Database.Unopened

/** A file that cannot be used as a cache. `reason` says why. */
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
 * Opens a file as a store of answers; it is closed with its scope.
 *
 * **Details**
 *
 * Several processes may use one file at once. When two of them make the same answer at once, the one that ends last is
 * kept. A process that is killed loses no answer that was kept, and leaves the file whole. When the file cannot be
 * reached any more (a full disk), answers are not kept or not found; that is logged once, and no call fails for it. An
 * answer that does not match its checksum is not found either, and the next one takes its place.
 *
 * **Gotchas**
 *
 * The file is not encrypted: whoever can read it can read the answers. It belongs on a disk of this machine; file
 * systems of a network do not lock as SQLite needs it.
 */
export const store = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<ResponseCache.Store, DiskCacheError, Scope.Scope> {
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
            ? tellOnce(`The response cache ${options.file} has damaged answers. Their calls are repeated.`)
            : Effect.succeed(found)
      ),
    set: (key, answer) => forgive((now) => table.set(hash(key), answer, now))
  }
})

/**
 * Opens a file as a response cache; it is closed with its scope.
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

/** Which answers {@link purge} removes. */
export interface PurgeOptions {
  readonly file: string
  /** Those that were made before this time, in milliseconds since 1970. */
  readonly before: number
  /** Whether they are only counted; false by default. */
  readonly isDryRun?: boolean | undefined
}

/**
 * Removes answers from a file that several processes may use, and returns how many there were and their size. Their bytes
 * are overwritten, in the file and in its log. A file that does not exist is not made.
 */
export const purge = ({ before, file, isDryRun = false }: PurgeOptions): Effect.Effect<Erased, DiskCacheError> => {
  const failed = (reason: DiskCacheReason) => new DiskCacheError({ file, reason })
  const aged = { table: "answers", column: "made_at" }
  return Erase.inFile(file, Database.open(file, AnswerTable.kind, failed), aged, before, isDryRun, (error) =>
    failed(Database.failureOf(error))
  )
}

/** What a purge has removed, or would. */
export type Erased = Erase.Erased

// -------------------------------------------------------------------------------------------------------------------
// Layers
// -------------------------------------------------------------------------------------------------------------------

/**
 * A response cache on disk for all calls.
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

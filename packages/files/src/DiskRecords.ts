/**
 * A text store on disk, for this process and for concurrent and later ones: data that a server stores for its clients.
 * The oldest values are removed if they are too old or too many.
 */
import { ResponseCache, Options as Tables } from "@divisi/core"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Database from "./internal/database.ts"
import * as Erase from "./internal/erase.ts"
import * as RecordTable from "./internal/recordTable.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The location and limits of the store. */
export interface Options {
  /**
   * The file; it and its folder are created if they do not exist. While the file is in use,
   * `<file>-wal` and `<file>-shm` are next to it.
   */
  readonly file: string
  /** Approximate maximum total size, in bytes. Default: 1 GiB. */
  readonly maxBytes?: number | undefined
  /** How long a value is stored. Numbers are in milliseconds. Default: 30 days. */
  readonly timeToLive?: Duration.Input | undefined
}

const optionsTable = Tables.table(
  {
    file: Tables.name,
    maxBytes: Tables.limit,
    timeToLive: ResponseCache.aDuration
  } satisfies Tables.ShapeOf<Options>,
  { required: ["file"] }
)

/**
 * A store of named text values. They are read and written synchronously, in well under a millisecond; written values
 * survive a crash of the process. If the file becomes unusable, for example because the disk is full, this is logged
 * once, and all values count as missing.
 */
export interface Records {
  readonly get: (name: string) => string | undefined
  readonly set: (name: string, text: string) => void
  readonly remove: (name: string) => void
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Raised when a file cannot be used as a text store. */
export class RecordsError extends Data.TaggedError("RecordsError")<{
  readonly file: string
  readonly reason: Database.Unopened
}> {
  override get message(): string {
    return `The file ${this.file} ${Database.explain(this.reason, "Delete it, or choose another file")}.`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Opens a file as a text store. It is closed when the scope closes.
 *
 * **Gotchas**
 *
 * The file is not encrypted: anyone who can read it can read the values.
 *
 * **Example**
 *
 * ```ts
 * import { DiskRecords } from "@divisi/files"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function* () {
 *   const records = yield* DiskRecords.make({ file: ":memory:" })
 *   records.set("resp_1", "Forty-two.")
 *   return records.get("resp_1")
 * })
 * await Effect.runPromise(Effect.scoped(program)) // => "Forty-two."
 * ```
 */
export const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<Records, RecordsError, Scope.Scope> {
  Tables.check("DiskRecords.make", options, optionsTable)
  const { file, maxBytes = 1024 ** 3, timeToLive = "30 days" } = options
  const failed = (reason: Database.Unopened) => new RecordsError({ file, reason })
  const database = yield* Database.open(file, RecordTable.kind, failed)
  const clock = yield* Clock.Clock
  const context = yield* Effect.context<never>()
  const table = yield* Effect.try({
    try: () => RecordTable.make(database, { maxBytes, lifeMillis: Duration.toMillis(timeToLive) }),
    catch: (error) => failed(Database.failureOf(error))
  })
  const now = () => clock.currentTimeMillisUnsafe()
  const told = new Set<string>()
  const tellOnce = (message: string) => {
    if (told.has(message)) return
    told.add(message)
    Effect.runForkWith(context)(Effect.logWarning(message))
  }
  const forgive = <A>(work: () => A): A | undefined => {
    try {
      return work()
    } catch (error) {
      tellOnce(`${failed(Database.failureOf(error)).message} Lookups return nothing.`)
      return undefined
    }
  }
  return {
    get: (name) =>
      forgive(() => {
        const found = table.get(name, now())
        if (found === "damaged") tellOnce(`The file ${file} has damaged entries, which are ignored.`)
        return found === "damaged" ? undefined : found?.text
      }),
    set: (name, text) => forgive(() => table.set(name, text, now())),
    remove: (name) => forgive(() => table.remove(name))
  }
})

/** Options for {@link purge}. */
export interface PurgeOptions {
  readonly file: string
  /** Deletes only values last written before this time, in milliseconds since 1970. */
  readonly before: number
  /** Whether to count values without deleting them. Default: `false`. */
  readonly isDryRun?: boolean | undefined
}

/**
 * Removes values from a file that several processes may use, and returns their number and size. Their bytes are
 * overwritten, in the file and in its log. A missing file is not created.
 */
export const purge = (options: PurgeOptions): Effect.Effect<Erased, RecordsError> => {
  Tables.check("DiskRecords.purge", options, Erase.options)
  const { before, file, isDryRun = false } = options
  const failed = (reason: Database.Unopened) => new RecordsError({ file, reason })
  const aged = { table: "records", column: "kept_at" }
  return Erase.inFile(file, Database.open(file, RecordTable.kind, failed), aged, before, isDryRun, (error) =>
    failed(Database.failureOf(error))
  )
}

/** The entries deleted by a purge, or to be deleted. */
export type Erased = Erase.Erased

/**
 * An inter-process lock that the operating system releases when its holder ends for any reason.
 *
 * It is an exclusive transaction on an empty SQLite database: SQLite takes the system's own lock on the file, on Linux,
 * macOS and Windows, and the kernel releases it with the process. If the lock were only the existence of a file or
 * folder, other processes could not know after a crash whether it is still valid: a heartbeat may be late, and a
 * process id may have been reused.
 */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import type { DatabaseSync } from "node:sqlite"
import { Options as Tables } from "@divisi/core"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { detailOf } from "./FileError.ts"
import * as OwnerOnly from "./OwnerOnly.ts"
import * as Sqlite from "./Sqlite.ts"
import * as WholeFile from "./WholeFile.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The process that holds a lock. */
export interface Holder {
  readonly pid: number
  readonly host: string
  /** Time at which the lock was acquired, in ISO 8601 format. */
  readonly since: string
}

/** Options for acquiring a lock. */
export interface Options {
  /** Whether to wait until the lock is released. Default: `false`. */
  readonly wait?: boolean | undefined
}

const table = { wait: Tables.flag } satisfies Tables.ShapeOf<Options>

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** The reason why a lock cannot be acquired. */
export type LockErrorReason =
  /** The lock is held. `holder` is omitted while the lock is being acquired. */
  | { readonly _tag: "Held"; readonly holder?: Holder | undefined }
  /** The file cannot be opened, or the runtime does not provide `node:sqlite`. */
  | { readonly _tag: "Unusable"; readonly detail: string }

/** Raised when a lock cannot be acquired. */
export class LockError extends Data.TaggedError("LockError")<{
  readonly file: string
  readonly reason: LockErrorReason
}> {
  override get message(): string {
    const { file, reason } = this
    return reason._tag === "Held"
      ? `${file} is locked by ${nameOf(reason.holder)}. Wait for it to finish, or stop it.`
      : `Cannot lock ${file} (${reason.detail}). Check the path, its permissions and the free space.`
  }
}

/** Formats the holder of a lock, e.g. `process 4711 since 2026-11-23T09:00:00.000Z`. */
export const nameOf = (holder: Holder | undefined): string => {
  if (holder === undefined) return "another process"
  const where = holder.host === os.hostname() ? "" : ` on ${holder.host}`
  return `process ${holder.pid}${where} since ${holder.since}`
}

// -------------------------------------------------------------------------------------------------------------------
// Locks
// -------------------------------------------------------------------------------------------------------------------

/**
 * A separate file next to the lock: while SQLite has the lock's file open, no other handle on it may be closed in this
 * process. On POSIX systems that would free the lock.
 */
const holderFile = (file: string) => `${file}.holder`

const readHolder = (file: string): Holder | undefined => {
  try {
    return JSON.parse(fs.readFileSync(holderFile(file), "utf8"))
  } catch {
    return undefined
  }
}

/** Identifies a file, to distinguish it from a later one with the same name. */
const identityOf = (file: string): string | undefined => {
  const found = fs.statSync(file, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? undefined : `${found.dev} ${found.ino} ${found.birthtimeNs}`
}

/** Open databases of held locks. Without a reference, garbage collection would close them and release the locks. */
const held = new Set<DatabaseSync>()

const lockOn = (Database: typeof DatabaseSync, file: string) => {
  const database = new Database(file)
  try {
    database.exec("BEGIN EXCLUSIVE")
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Whether the file existed and is still the same. */
const isStill = (file: string, before: string | undefined): boolean =>
  before !== undefined && before === identityOf(file)

/** Files are rarely removed at this moment, so repeated failures indicate a disk problem. */
const mostRemovals = 100

const take = (file: string): DatabaseSync => {
  const sqlite = Sqlite.load()
  if (sqlite === undefined) throw new Error("node:sqlite is missing. Use Node 22.19 or newer")
  WholeFile.makeFolderNow(path.dirname(file))
  for (let removals = 0; ; ) {
    const before = identityOf(file)
    try {
      const database = lockOn(sqlite.DatabaseSync, file)
      if (before === undefined) OwnerOnly.closeNow(file)
      if (isStill(file, before)) {
        held.add(database)
        return database
      }
      // The file was just created, or its holder removed it after this process opened it. Other processes may lock a
      // different file.
      database.close()
    } catch (error) {
      removals += 1
      // SQLite reports the same error if the holder has removed the file.
      const isRemoved = Sqlite.codeOf(error) === Sqlite.codes.inputOutput && !isStill(file, before)
      if (!isRemoved || removals > mostRemovals) throw error
    }
  }
}

/** Removes the file before releasing the lock, so that a process that has already opened it can detect the removal. */
const free = (file: string, database: DatabaseSync) => {
  try {
    fs.rmSync(holderFile(file), { force: true })
    fs.rmSync(file, { force: true })
  } catch {
    // Windows cannot remove open files, so an empty file remains.
  }
  held.delete(database)
  database.close()
}

const reasonOf = (file: string, error: unknown): LockErrorReason =>
  Sqlite.codeOf(error) === Sqlite.codes.busy
    ? { _tag: "Held", holder: readHolder(file) }
    : { _tag: "Unusable", detail: detailOf(error) }

const waiting = Schedule.spaced("100 millis")

/**
 * Holds a lock until the scope closes.
 *
 * **Details**
 *
 * The folder is created if it does not exist. The lock also excludes other parts of the same process. The file is
 * removed with the lock; a killed process leaves it behind, empty and unlocked.
 *
 * **Gotchas**
 *
 * Network file systems may not support locks. Do not open the file elsewhere: use a dedicated name, such as `run.lock`.
 *
 * **Example**
 *
 * ```ts
 * import { Lock } from "@divisi/files"
 * import * as Effect from "effect/Effect"
 * import fs from "node:fs"
 * import os from "node:os"
 * import path from "node:path"
 *
 * const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "divisi-")), "run.lock")
 * const twice = Effect.andThen(Lock.hold(file), Lock.hold(file))
 * const error = await Effect.runPromise(Effect.flip(Effect.scoped(twice)))
 * error.reason._tag // => "Held"
 * ```
 */
export const hold = (file: string, options: Options = {}): Effect.Effect<void, LockError, Scope.Scope> => {
  Tables.check("Lock.hold", options, table)
  const taken = Effect.try({
    try: () => {
      const database = take(file)
      try {
        const holder: Holder = { pid: process.pid, host: os.hostname(), since: new Date().toISOString() }
        fs.writeFileSync(holderFile(file), JSON.stringify(holder), { mode: OwnerOnly.fileMode })
        return database
      } catch (error) {
        free(file, database)
        throw error
      }
    },
    catch: (error) => new LockError({ file, reason: reasonOf(file, error) })
  })
  const holding = Effect.acquireRelease(taken, (database) => Effect.sync(() => free(file, database)))
  return Effect.asVoid(
    options.wait === true
      ? Effect.retry(holding, { schedule: waiting, while: ({ reason }) => reason._tag === "Held" })
      : holding
  )
}

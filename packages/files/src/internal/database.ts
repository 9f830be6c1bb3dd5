/** Code shared by this package's SQLite files: ownership, errors, and waiting for other processes. */
import fs from "node:fs"
import path from "node:path"
import type { DatabaseSync } from "node:sqlite"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { detailOf } from "../FileError.ts"
import * as OwnerOnly from "../OwnerOnly.ts"
import * as Sqlite from "../Sqlite.ts"
import * as WholeFile from "../WholeFile.ts"

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** The reason why an open file cannot be used. */
export type Failure =
  /** The file or its folder cannot be opened or written. */
  | { readonly _tag: "Unwritable"; readonly detail: string }
  /** The disk is full. */
  | { readonly _tag: "Full" }
  /** The file belongs to another program. */
  | { readonly _tag: "Foreign" }
  | { readonly _tag: "Damaged"; readonly detail: string }

/** Errors for missing permissions or missing space. */
const unwritable: ReadonlySet<number | undefined> = new Set([
  Sqlite.codes.permission,
  Sqlite.codes.busy,
  Sqlite.codes.locked,
  Sqlite.codes.noMemory,
  Sqlite.codes.readOnly,
  Sqlite.codes.inputOutput,
  Sqlite.codes.cannotOpen,
  // The operating system's error.
  undefined
])

/** Any other error in a file of this package means that it is damaged: a missing column, an unexpected null. */
export const failureOf = (error: unknown): Failure => {
  const code = Sqlite.codeOf(error)
  const detail = detailOf(error)
  if (code === Sqlite.codes.notADatabase) return { _tag: "Foreign" }
  if (code === Sqlite.codes.full || (error as NodeJS.ErrnoException | null)?.code === "ENOSPC") return { _tag: "Full" }
  return unwritable.has(code) ? { _tag: "Unwritable", detail } : { _tag: "Damaged", detail }
}

// -------------------------------------------------------------------------------------------------------------------
// Waiting for other processes
// -------------------------------------------------------------------------------------------------------------------

/** SQLite's busy timeout blocks the whole process, so it is short, and retries are done here. */
const busyMillis = 20

export const napMillis = 10

/** Maximum number of attempts while another process holds the file, for about ten seconds in total. */
export const mostNaps = 300

/** Whether another process currently holds the file. */
export const isBusy = (error: unknown): boolean => {
  const code = Sqlite.codeOf(error)
  return code === Sqlite.codes.busy || code === Sqlite.codes.locked
}

/** Runs work on the file, and retries it while another process holds the file. */
export const patiently = <A>(work: () => A, naps = mostNaps): Effect.Effect<A, unknown> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(work())
    } catch (error) {
      return isBusy(error) && naps > 0
        ? Effect.andThen(Effect.sleep(napMillis), patiently(work, naps - 1))
        : Effect.fail(error)
    }
  })

// -------------------------------------------------------------------------------------------------------------------
// Files
// -------------------------------------------------------------------------------------------------------------------

/** Returns the value of a numeric pragma. */
export const pragma = (database: DatabaseSync, name: string): number =>
  Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0])

/** Runs work in a write transaction, which is rolled back on an exception. */
export const transact = <A>(database: DatabaseSync, work: () => A): A => {
  database.exec("BEGIN IMMEDIATE")
  try {
    const done = work()
    database.exec("COMMIT")
    return done
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK")
    throw error
  }
}

/** Identifies the kind of a file, and the version of the schema that this package writes. */
interface Mark {
  readonly applicationId: number
  readonly schemaVersion: number
}

/**
 * Identifies a file before anything in it is changed. An empty file is claimed. Another process may claim it
 * concurrently, with its tables and its mark in one transaction: therefore the mark is read last.
 */
const identify = (database: DatabaseSync, { applicationId, schemaVersion }: Mark): "ours" | "Foreign" | "Newer" => {
  const isEmpty = database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined
  const id = pragma(database, "application_id")
  if (id !== applicationId && !(isEmpty && id === 0)) return "Foreign"
  return pragma(database, "user_version") > schemaVersion ? "Newer" : "ours"
}

/** The reason why a file cannot be opened. */
export type Unopened =
  | Failure
  /** The runtime does not provide `node:sqlite`. */
  | { readonly _tag: "Unsupported" }
  /** The file was written by a newer version of this package. */
  | { readonly _tag: "Newer" }

/** Describes the problem of a file, to follow its name, and the remedy. `cure` is for a damaged file. */
export const explain = (reason: Unopened, cure: string): string => {
  switch (reason._tag) {
    case "Unsupported":
      return "needs node:sqlite, which this runtime does not have. Use Node 22.19 or newer"
    case "Unwritable":
      return `cannot be written (${reason.detail}). Check the path, its permissions and the free space`
    case "Full":
      return "cannot be written, because the disk is full. Free some space"
    case "Foreign":
      return "is not a Divisi file, or its header is damaged. The file was not changed. Choose another file"
    case "Newer":
      return "was written by a newer version of Divisi. Update Divisi, or choose another file"
    case "Damaged":
      return `is damaged (${reason.detail}). ${cure}`
  }
}

/** A kind of file: its application id, and how to prepare it. */
export interface Kind extends Mark {
  /** Prepares a file for several processes, and writes the schema if it is missing. */
  readonly prepare: (database: DatabaseSync) => void
}

/** Opens a file of the given kind until the scope closes. */
export const open = <E>(
  file: string,
  kind: Kind,
  failed: (reason: Unopened) => E
): Effect.Effect<DatabaseSync, E, Scope.Scope> =>
  Effect.suspend(() => {
    const sqlite = Sqlite.load()
    if (sqlite === undefined) return Effect.fail(failed({ _tag: "Unsupported" }))
    const attempt = <A>(work: () => A) => Effect.mapError(patiently(work), (error) => failed(failureOf(error)))
    return Effect.gen(function* () {
      yield* attempt(() => file !== ":memory:" && WholeFile.makeFolderNow(path.dirname(file)))
      // SQLite reports only that it cannot open the file.
      if (yield* attempt(() => fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() === true))
        return yield* Effect.fail(failed({ _tag: "Unwritable", detail: "it is a folder" }))
      // SQLite creates the files next to this one with the same mode.
      if (file !== ":memory:") {
        OwnerOnly.createNow(file)
        yield* Effect.forEach(["", "-wal", "-shm"], (end) => OwnerOnly.check(`${file}${end}`), { discard: true })
      }
      const database = yield* Effect.acquireRelease(
        attempt(() => new sqlite.DatabaseSync(file, { timeout: busyMillis })),
        (database) => Effect.sync(() => database.close())
      )
      const found = yield* attempt(() => identify(database, kind))
      if (found !== "ours") return yield* Effect.fail(failed({ _tag: found }))
      // Deleted rows are overwritten. A new file can return free pages to the system.
      yield* attempt(() => database.exec("PRAGMA secure_delete = ON; PRAGMA auto_vacuum = INCREMENTAL"))
      yield* attempt(() => kind.prepare(database))
      return database
    })
  })

/**
 * Stores router tables learned from the user's outcomes. The active table and its predecessors are in one file, which
 * is replaced atomically.
 */
import fs from "node:fs"
import path from "node:path"
import { Sealed, UserFolders, WholeFile } from "@divisi/files"
import { detailOf } from "@divisi/files/FileError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Table from "./Table.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/**
 * The version of the file format.
 *
 * @internal
 */
export const version = 1

/** A table with the time of its promotion and the reason for it. */
export interface Promoted {
  /** When the table was promoted, in milliseconds since 1970. */
  readonly at: number
  readonly why: string
  readonly table: Table.Table
}

/** The stored tables, oldest first. The last table is active. */
export type Learned = ReadonlyArray<Promoted>

/**
 * Maximum number of tables retained for rollback.
 *
 * @internal
 */
export const mostKept = 5

/** Raised when the file cannot be read, parsed or written. */
export class LearnedError extends Data.TaggedError("LearnedError")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Files
// -------------------------------------------------------------------------------------------------------------------

/** The path in `DIVISI_ROUTER`, or `router.json` in the user's data folder if the variable is not set. */
export const defaultFile: Effect.Effect<string> = UserFolders.dataFile("router.json", "DIVISI_ROUTER")

const fail = (file: string, problem: string) => new LearnedError({ detail: `${file} ${problem}` })

const promotedOf = (value: unknown): Promoted => {
  const { at, table, why } = (value ?? {}) as Partial<Promoted>
  if (typeof at !== "number" || typeof why !== "string") throw new Error("a table has no date or no reason")
  return { at, why, table: Result.getOrThrow(Table.read(table)) }
}

const parse = (text: string): Learned => {
  const value = Sealed.parse(text) as { readonly version?: unknown; readonly tables?: unknown }
  if (value.version !== version)
    throw new Error(`it has version ${value.version}, but only version ${version} can be read`)
  if (!Array.isArray(value.tables)) throw new Error("it contains no tables")
  return value.tables.map(promotedOf)
}

/** Reads the stored tables. Returns an empty list if the file does not exist. */
export const read = (file: string): Effect.Effect<Learned, LearnedError> =>
  Effect.try({
    try: () => (fs.existsSync(file) ? parse(fs.readFileSync(file, "utf8")) : []),
    catch: (error) => fail(file, `cannot be used: ${detailOf(error, file)}`)
  })

const write = (file: string, tables: Learned): Effect.Effect<void, LearnedError> =>
  Effect.gen(function* () {
    yield* WholeFile.makeFolder(path.dirname(file))
    yield* WholeFile.write(file, `${Sealed.stringify({ version, tables: tables.slice(-mostKept) })}\n`)
  }).pipe(Effect.mapError(({ message }) => new LearnedError({ detail: message })))

/** Returns the active table, or `undefined` if there is none. */
export const current = (learned: Learned): Promoted | undefined => learned.at(-1)

/** Appends a table to the file and makes it the active one. */
export const promote = (file: string, promoted: Promoted): Effect.Effect<void, LearnedError> =>
  Effect.flatMap(read(file), (tables) => write(file, [...tables, promoted]))

/**
 * Rolls back to the previous table, or to no table if there was only one. Returns the removed table, or `undefined` if
 * no table was active.
 */
export const revert = (file: string): Effect.Effect<Promoted | undefined, LearnedError> =>
  Effect.gen(function* () {
    const tables = yield* read(file)
    if (tables.length > 0) yield* write(file, tables.slice(0, -1))
    return current(tables)
  })

/** Removes content from SQLite files: deleted rows are overwritten, free pages are released, and the log is emptied. */
import fs from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import { Options } from "@divisi/core"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { isBusy, napMillis, patiently, pragma } from "./database.ts"

/** Number and size of the entries deleted, or to be deleted. */
export interface Erased {
  readonly entries: number
  readonly bytes: number
}

/** Options of a purge. */
export const options = Options.table(
  {
    file: Options.name,
    before: Options.expects("a time in milliseconds since 1970", Number.isFinite),
    isDryRun: Options.flag
  },
  { required: ["file", "before"] }
)

/** Maximum number of rows or pages removed in one step. Other work of the process runs between steps. */
const atOnce = 256

/** How often the log is tried again while another process reads it: for some two seconds. */
const checkpointNaps = 200

/** Empties the write-ahead log, which holds earlier contents of pages. A reader in another process may prevent it. */
const emptyLog = (database: DatabaseSync, naps = checkpointNaps): Effect.Effect<void, unknown> =>
  Effect.suspend(() => {
    try {
      if (pragma(database, "wal_checkpoint(TRUNCATE)") === 0) return Effect.void
    } catch (error) {
      if (!isBusy(error)) return Effect.fail(error)
    }
    return naps > 0 ? Effect.andThen(Effect.sleep(napMillis), emptyLog(database, naps - 1)) : Effect.void
  })

const shrink = (database: DatabaseSync): Effect.Effect<void, unknown> =>
  Effect.flatMap(
    patiently(() => {
      const before = pragma(database, "freelist_count")
      if (before > 0) database.exec(`PRAGMA incremental_vacuum(${atOnce})`)
      return before > pragma(database, "freelist_count")
    }),
    (isSmaller) => (isSmaller ? Effect.andThen(Effect.yieldNow, shrink(database)) : Effect.void)
  )

/** Removes deleted data from the disk. `secure_delete`, which {@link open} of a database sets, has overwritten it. */
export const compact = (database: DatabaseSync): Effect.Effect<void, unknown> =>
  Effect.andThen(shrink(database), emptyLog(database))

/** A table whose rows have a size, `bytes`, and a time in milliseconds since 1970. */
export interface Aged {
  readonly table: string
  readonly column: string
}

/** Deletes rows older than the given time, a few at a time. */
export const olderThan = (
  database: DatabaseSync,
  { column, table }: Aged,
  before: number,
  isDryRun: boolean
): Effect.Effect<Erased, unknown> =>
  Effect.gen(function* () {
    const { bytes, entries } = yield* patiently(
      () =>
        database
          .prepare(`SELECT count(*) AS entries, coalesce(sum(bytes), 0) AS bytes FROM ${table} WHERE ${column} < ?`)
          .get(before) ?? {}
    )
    if (!isDryRun) {
      const some = database.prepare(
        `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${column} < ? LIMIT ${atOnce})`
      )
      while ((yield* patiently(() => some.run(before).changes)) > 0) yield* Effect.yieldNow
      yield* compact(database)
    }
    return { entries: Number(entries), bytes: Number(bytes) }
  })

/** Runs {@link olderThan} on a file. Does nothing if the file does not exist. */
export const inFile = <E>(
  file: string,
  open: Effect.Effect<DatabaseSync, E, Scope.Scope>,
  aged: Aged,
  before: number,
  isDryRun: boolean,
  failed: (error: unknown) => E
): Effect.Effect<Erased, E> =>
  Effect.suspend(() =>
    fs.existsSync(file)
      ? Effect.scoped(
          Effect.flatMap(open, (database) => Effect.mapError(olderThan(database, aged, before, isDryRun), failed))
        )
      : Effect.succeed({ entries: 0, bytes: 0 })
  )

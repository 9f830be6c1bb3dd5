/**
 * The journal on disk: runs in one SQLite file, for this process and for concurrent and later ones.
 *
 * It is a `Journal` based on Node's own SQLite. Pending writes share one transaction, so a thousand concurrent runs
 * wait for the disk as often as one. The claim of a run is tied to a lock that the operating system releases when the
 * process ends for any reason, so no lease has to expire.
 */
import path from "node:path"
import { Journal, Options as Tables } from "@divisi/core"
import * as Arrays from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Database from "./internal/database.ts"
import * as Erase from "./internal/erase.ts"
import * as GroupCommit from "./internal/groupCommit.ts"
import * as JournalTable from "./internal/journalTable.ts"
import { owners } from "./internal/owners.ts"
import * as UserFolders from "./UserFolders.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The location of the journal on disk. */
export interface Options {
  /**
   * The file; it and its folder are created if they do not exist. Default: `divisi/runs.sqlite` in the user's data
   * folder, or the path in the environment variable `DIVISI_RUNS`. While the file is in use, `<file>-wal`, `<file>-shm`
   * and the folder `<file>-owners`, which contains the locks of the processes, are next to it.
   */
  readonly file?: string | undefined
}

/**
 * The names, types and ranges of {@link Options}, for their validation. Invalid options are a defect: an `OptionsError`.
 *
 * @internal
 */
export const optionsTable = { file: Tables.name } satisfies Tables.ShapeOf<Options>

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the default file: the path in `DIVISI_RUNS`, otherwise `runs.sqlite` in the user's data folder.
 *
 * @internal
 */
export const defaultFile: Effect.Effect<string> = UserFolders.dataFile("runs.sqlite", "DIVISI_RUNS")

/** Maximum number of runs deleted by one transaction, since other processes wait for it. */
const removedAtOnce = 64

const reasonOf = (error: unknown): Journal.JournalErrorReason =>
  error instanceof JournalTable.Torn ? { _tag: "Damaged", detail: error.message } : Database.failureOf(error)

/**
 * Opens a file as a journal. It is closed when the scope closes.
 *
 * **Details**
 *
 * Several processes can use the same file at the same time. Each run is executed by one of them, and the others receive
 * the name of that process. An acknowledged batch has been written to the disk itself and survives a `kill -9` or a
 * loss of power. On a full disk or in a folder that has become read-only, later appends fail; acknowledged entries
 * remain.
 *
 * **Gotchas**
 *
 * The file is not encrypted: anyone who can read it can read questions and answers. It belongs on a local disk, because
 * network file systems do not provide the locks that SQLite needs. Removed data is overwritten, in the file and in its
 * log.
 *
 * **Example**
 *
 * ```ts
 * import { DiskJournal } from "@divisi/files"
 * import * as Effect from "effect/Effect"
 * import fs from "node:fs"
 * import os from "node:os"
 * import path from "node:path"
 *
 * const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "divisi-")), "runs.sqlite")
 * const claim = Effect.flatMap(DiskJournal.make({ file }), (journal) => journal.claim("run-1"))
 * await Effect.runPromise(Effect.scoped(claim)) // => { epoch: 1, length: 0 }
 * ```
 */
export const make = Effect.fnUntraced(function* (
  options: Options = {}
): Effect.fn.Return<Journal.Journal, Journal.JournalError, Scope.Scope> {
  Tables.check("DiskJournal.make", options, optionsTable)
  const file = path.resolve(options.file ?? (yield* defaultFile))
  const failed = (reason: Journal.JournalErrorReason) => new Journal.JournalError({ journal: file, reason })
  const scope = yield* Effect.scope
  const { enter, find, isDead, self } = owners(file, scope)
  const entered = yield* enter
  const database = yield* Database.open(file, JournalTable.kind, failed)
  const table = JournalTable.make(database)
  const writer = GroupCommit.make(database)
  yield* Effect.addFinalizer(() => Effect.sync(writer.close))
  const clock = yield* Clock.Clock
  const now = () => clock.currentTimeMillisUnsafe()
  const orFail = <A>(effect: Effect.Effect<A, unknown>) => Effect.mapError(effect, (error) => failed(reasonOf(error)))
  const own = Effect.mapError(entered, ({ message }) => failed({ _tag: "Unwritable", detail: message }))

  const take = (
    run: string,
    isRevoked: (owner: string) => boolean
  ): Effect.Effect<Journal.Claim, Journal.JournalError> =>
    Effect.flatMap(orFail(writer.write(() => table.claim(run, self, isRevoked, now()), false)), (claimed) => {
      if (typeof claimed !== "string") return Effect.succeed(claimed)
      return Effect.flatMap(find(claimed), (owner) =>
        owner === undefined ? take(run, isRevoked) : Effect.fail(failed({ _tag: "Held", run, owner }))
      )
    })

  const summaryOf = ({ bytes, changed_at, head, length, owner, run }: JournalTable.Listed) =>
    Effect.map(
      owner === null ? Effect.undefined : find(owner),
      (owner): Journal.Summary => ({
        ...Journal.readHead(head),
        run,
        length,
        bytes,
        changedAt: changed_at,
        ageMillis: Math.max(0, now() - changed_at),
        owner
      })
    )

  return {
    name: file,
    claim: (run, { takeOver = false } = {}) =>
      Effect.andThen(own, take(run, takeOver ? (owner) => owner !== self : isDead)),
    release: (run, epoch) => Effect.sync(() => writer.later(() => table.release(run, epoch, self))),
    append: (batch) =>
      Effect.flatMap(orFail(writer.write(() => table.append(batch, now()), true)), (isWritten) =>
        isWritten ? Effect.void : Effect.fail(failed({ _tag: "Fenced", run: batch.run }))
      ),
    read: (run, from = 0) => orFail(Database.patiently(() => table.read(run, from))),
    lengths: (runs) => orFail(Database.patiently(() => runs.map(table.length))),
    find: (run) =>
      Effect.flatMap(orFail(Database.patiently(() => table.find(run))), (row) =>
        row === undefined ? Effect.undefined : summaryOf(row)
      ),
    list: (query = {}) =>
      Effect.flatMap(orFail(Database.patiently(() => table.list(query))), (rows) => Effect.forEach(rows, summaryOf)),
    remove: (runs) =>
      Effect.gen(function* () {
        // Dead owners are determined before the transaction starts.
        yield* Effect.forEach(yield* orFail(Database.patiently(table.owners)), find, { discard: true })
        const gone = yield* Effect.forEach(Arrays.chunksOf(runs, removedAtOnce), (some) =>
          orFail(writer.write(() => some.filter((run) => table.remove(run, isDead)), true))
        )
        yield* orFail(Erase.compact(database))
        return gone.flat()
      })
  }
})

// -------------------------------------------------------------------------------------------------------------------
// Layers
// -------------------------------------------------------------------------------------------------------------------

/**
 * Provides a journal on disk for all runs.
 *
 * **Example**
 *
 * ```ts
 * import { DiskJournal } from "@divisi/files"
 *
 * const journal = DiskJournal.layer({ file: ".divisi/runs.sqlite" })
 * ```
 */
export const layer = (options: Options = {}): Layer.Layer<never, Journal.JournalError> =>
  Layer.effect(Journal.Journal, make(options))

/**
 * Runs in progress whose results are stored elsewhere, by an evaluation or a training. Until then, they are in a
 * separate journal in one file, so that a killed run can resume.
 */
import fs from "node:fs"
import type { Journal } from "@divisi/core"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as DiskJournal from "./DiskJournal.ts"

/** Payments for a run that an earlier process left unfinished. */
export interface Left {
  /** Cost in USD, with unconfirmed calls at their worst-case cost. */
  readonly costUsd: number
  /** Worst-case costs of the unconfirmed calls, excluding free calls. */
  readonly inDoubt: ReadonlyArray<number>
}

/** The unfinished runs in a file. */
export interface UnendedRuns {
  /** Payments by earlier processes for their unfinished runs, keyed by run name. */
  readonly left: ReadonlyMap<string, Left>
  /** Names of all runs in the file when it was opened. */
  readonly names: ReadonlyArray<string>
  /**
   * Returns the journal that stores a run, optionally under a separate name. This journal does not report that the run
   * has ended: its result is not stored, so the run is executed to its end again, from its answers.
   */
  readonly journalOf: (run: string, name?: string) => Journal.Journal
  /** Removes runs by name. Their results must already be on disk. */
  readonly remove: (names: ReadonlyArray<string>) => Effect.Effect<void, Journal.JournalError>
}

/** Returns the unconfirmed calls of a run, excluding calls whose answer can be requested again. */
const doubtsIn = (entries: ReadonlyArray<Journal.Entry>): ReadonlyArray<number> => {
  const open = new Map<string, number>()
  for (const entry of entries) {
    if (!("call" in entry)) continue
    const name = `${entry.call}/${entry.attempt}`
    if (entry.type === "intent") open.set(name, entry.worst.costUsd ?? 0)
    else open.delete(name)
  }
  return [...open.values()].filter((costUsd) => costUsd > 0)
}

const isEnd = (run: string) => (entry: Journal.Entry) =>
  entry.type === "event" && entry.event.type === "run-finished" && entry.event.runId === run

/** The suffixes of the file and of the files next to it. */
const ends = ["", "-wal", "-shm", "-owners"]

/**
 * Opens a file of unfinished runs. When the scope closes, the file is removed if no run is left in it.
 *
 * **Details**
 *
 * `isOver` returns true for runs whose results are stored elsewhere; these only need to be removed.
 *
 * **Example**
 *
 * ```ts
 * import { UnendedRuns } from "@divisi/files"
 * import * as Effect from "effect/Effect"
 * import fs from "node:fs"
 * import os from "node:os"
 * import path from "node:path"
 *
 * const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "divisi-")), "runs.sqlite")
 * const opened = UnendedRuns.open(file, () => false)
 * await Effect.runPromise(Effect.scoped(Effect.map(opened, ({ names }) => names))) // => []
 * fs.existsSync(file) // => false
 * ```
 */
export const open = Effect.fnUntraced(function* (
  file: string,
  isOver: (name: string) => boolean
): Effect.fn.Return<UnendedRuns, Journal.JournalError, Scope.Scope> {
  let isEmpty = false
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      if (isEmpty) for (const end of ends) fs.rmSync(`${file}${end}`, { recursive: true, force: true })
    })
  )
  const journal = yield* DiskJournal.make({ file })
  const runs = yield* journal.list()
  isEmpty = runs.length === 0
  const left = new Map<string, Left>()
  for (const { costUsd, run } of runs) {
    if (isOver(run)) continue
    const inDoubt = doubtsIn(yield* journal.read(run))
    left.set(run, { costUsd: inDoubt.reduce((sum, worst) => sum + worst, costUsd), inDoubt })
  }
  return {
    left,
    names: runs.map(({ run }) => run),
    journalOf: (id, run = id) => ({
      ...journal,
      claim: (_, options) => {
        isEmpty = false
        return journal.claim(run, options)
      },
      release: (_, epoch) => journal.release(run, epoch),
      append: (batch) => journal.append({ ...batch, run }),
      read: () => Effect.map(journal.read(run), (entries) => entries.filter((entry) => !isEnd(id)(entry)))
    }),
    remove: Effect.fnUntraced(function* (names) {
      if (names.length > 0) yield* journal.remove(names)
      isEmpty = (yield* journal.list({ limit: 1 })).length === 0
    })
  }
})

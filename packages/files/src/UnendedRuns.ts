/**
 * The runs that somebody carries on who keeps elsewhere what came of them: an evaluation, a training. They stand in a
 * journal of their own, in one file, until what came of them is kept; one that was killed goes on in its middle.
 */
import fs from "node:fs"
import type { Journal } from "@divisi/core"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as DiskJournal from "./DiskJournal.ts"

/** What was paid for a run that an earlier process has left. */
export interface Left {
  /** In USD, with calls in doubt at their worst case. */
  readonly costUsd: number
  /** The worst cases of the calls that nobody knows the end of, without those that cost nothing. */
  readonly inDoubt: ReadonlyArray<number>
}

/** Runs in a file. */
export interface UnendedRuns {
  /** What earlier processes have paid for those that they left, by the names under which they are kept. */
  readonly left: ReadonlyMap<string, Left>
  /** All names that were there. */
  readonly names: ReadonlyArray<string>
  /**
   * Where a run is kept, under a name of its own where one is given. The journal does not tell that the run has ended: what
   * came of it is not known, so it is run to its end again, from its answers.
   */
  readonly journalOf: (run: string, name?: string) => Journal.Journal
  /** Removes runs, by their names. What came of them has to be on the disk. */
  readonly remove: (names: ReadonlyArray<string>) => Effect.Effect<void, Journal.JournalError>
}

/** The calls of a run that nobody knows the end of. One that can be asked for its answer again is in no doubt. */
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

/** What stands beside the file, too. */
const ends = ["", "-wal", "-shm", "-owners"]

/**
 * Opens the runs of a file. With the scope the file goes, when nothing is left in it.
 *
 * **Details**
 *
 * `isOver` says of which runs somebody has what came of them: nothing is left of those but to remove them.
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
      claim: () => {
        isEmpty = false
        return journal.claim(run)
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

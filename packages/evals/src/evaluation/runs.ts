/**
 * The runs of an evaluation that are under way: a journal of core's beside the evaluation's own. A run that was killed goes
 * on in its middle. Once the evaluation's journal has its sample it has ended, and is removed here.
 */
import fs from "node:fs"
import type * as CoreJournal from "@divisi/core/Journal"
import * as DiskJournal from "@divisi/files/DiskJournal"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { JournalError } from "./journal.ts"

/** The runs that are under way, by the ids of their transcripts. */
export interface Runs {
  /** What was paid for those that an earlier process has left, with calls in doubt at their worst case. */
  readonly paidUsd: number
  /** Of those, the calls that were in doubt. */
  readonly inDoubt: { readonly calls: number; readonly costUsd: number }
  /** Where a run is kept. */
  readonly journalOf: (run: string) => CoreJournal.Journal
  readonly pay: (run: string, costUsd: number) => void
  /** A run ends: by what name it was kept, and all that was paid for it. The next of its id is a new one. */
  readonly end: (run: string) => { readonly run: string; readonly paidUsd: number }
  /** Removes the runs that have ended. What says so has to be on the disk. */
  readonly sweep: Effect.Effect<void>
  /** How many wait to be removed. */
  readonly ended: () => number
}

/** A journal of runs that cannot be used, as the evaluation says it. */
export const unusable = ({ journal: file, message, reason }: CoreJournal.JournalError): JournalError => {
  switch (reason._tag) {
    case "Full":
      return new JournalError({ file, reason: "full", detail: message })
    case "Foreign":
      return new JournalError({ file, reason: "foreign", detail: "it is of something else" })
    case "Newer":
      return new JournalError({ file, reason: "newer", detail: "a newer version has written it" })
    case "Damaged":
      return new JournalError({ file, reason: "torn", detail: `it is damaged (${reason.detail})` })
    case "Unwritable":
      return new JournalError({ file, reason: "unwritable", detail: reason.detail })
    default:
      return new JournalError({ file, reason: "unwritable", detail: message })
  }
}

/** The calls of a run that nobody knows the end of. One that can be asked for its answer again is in no doubt. */
const doubtsIn = (entries: ReadonlyArray<CoreJournal.Entry>): ReadonlyArray<number> => {
  const open = new Map<string, number>()
  for (const entry of entries) {
    if (entry.type === "event" || entry.type === "begun") continue
    const name = `${entry.call}/${entry.attempt}`
    if (entry.type === "intent") open.set(name, entry.worst.costUsd ?? 0)
    else open.delete(name)
  }
  return [...open.values()]
}

/** Whether it tells that a run is over. Its sample is not known, so it is run to its end again, from its answers. */
const isEnd = (run: string) => (entry: CoreJournal.Entry) =>
  entry.type === "event" && entry.event.type === "run-finished" && entry.event.runId === run

/**
 * Opens the journal of the runs of an evaluation. `isEnded` says of which the evaluation's own journal has what came.
 * With the scope the file goes, when nothing is left in it.
 */
export const open = Effect.fnUntraced(function* (
  file: string,
  ended: ReadonlySet<string>
): Effect.fn.Return<Runs, JournalError, Scope.Scope> {
  let isEmpty = false
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      if (!isEmpty) return
      for (const end of ["", "-wal", "-shm", "-owners"]) fs.rmSync(`${file}${end}`, { recursive: true, force: true })
    })
  )
  const journal = yield* Effect.mapError(DiskJournal.make({ file }), unusable)
  const left = yield* Effect.mapError(journal.list, unusable)
  const known = new Set(ended)
  const gone: Array<string> = []
  const paid = new Map<string, number>()
  const inDoubt: Array<number> = []
  for (const { costUsd, run } of left) {
    if (known.has(run)) gone.push(run)
    else {
      const doubts = doubtsIn(yield* Effect.mapError(journal.read(run), unusable))
      // Those that cost nothing are in no doubt.
      inDoubt.push(...doubts.filter((costUsd) => costUsd > 0))
      paid.set(
        run,
        doubts.reduce((sum, worst) => sum + worst, costUsd)
      )
    }
  }
  /** Of runs with one id the first that has not ended. */
  const nameOf = (run: string): string => {
    let name = run
    for (let count = 1; known.has(name); count++) name = `${run}~${count}`
    return name
  }
  const sum = (values: Iterable<number>) => [...values].reduce((sum, value) => sum + value, 0)
  return {
    paidUsd: sum(paid.values()),
    inDoubt: { calls: inDoubt.length, costUsd: sum(inDoubt) },
    journalOf: (id) => {
      const run = nameOf(id)
      return {
        ...journal,
        claim: () => journal.claim(run),
        release: (_, epoch) => journal.release(run, epoch),
        append: (batch) => journal.append({ ...batch, run }),
        read: () => Effect.map(journal.read(run), (entries) => entries.filter((entry) => !isEnd(id)(entry)))
      }
    },
    pay: (id, costUsd) => {
      const run = nameOf(id)
      paid.set(run, (paid.get(run) ?? 0) + costUsd)
    },
    end: (id) => {
      const run = nameOf(id)
      const paidUsd = paid.get(run) ?? 0
      paid.delete(run)
      known.add(run)
      gone.push(run)
      return { run, paidUsd }
    },
    sweep: Effect.suspend(() =>
      Effect.gen(function* () {
        const removed = gone.splice(0)
        if (removed.length > 0) yield* journal.remove(removed)
        isEmpty = (yield* journal.list).length === 0
      }).pipe(Effect.ignore)
    ),
    ended: () => gone.length
  }
})

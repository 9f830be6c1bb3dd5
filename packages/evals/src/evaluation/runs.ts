/**
 * Runs in progress, stored in a core journal next to the evaluation's journal. A killed run resumes where it stopped.
 * Once its sample is stored in the evaluation's journal, the run is deleted here.
 */
import type { Journal as CoreJournal } from "@divisi/core"
import { UnendedRuns } from "@divisi/files"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { JournalError } from "./journal.ts"

/** Runs in progress, identified by the ids of their transcripts. */
export interface Runs {
  /** USD paid for the runs left by an earlier process. Unconfirmed calls count at their maximum cost. */
  readonly paidUsd: number
  /** Number and cost of the unconfirmed calls in these runs. */
  readonly inDoubt: { readonly calls: number; readonly costUsd: number }
  /** Returns the journal of a run. */
  readonly journalOf: (run: string) => CoreJournal.Journal
  readonly pay: (run: string, costUsd: number) => void
  /**
   * Completes a run. Returns the name under which it was stored and the total paid for it. The next run with the same
   * id starts from the beginning.
   */
  readonly end: (run: string) => { readonly run: string; readonly paidUsd: number }
  /** Removes completed runs. Call it only after their samples are on disk. */
  readonly sweep: Effect.Effect<void>
  /** Number of completed runs that have not been removed. */
  readonly ended: () => number
}

/** Converts the error of the runs' journal to an error of the evaluation. */
export const unusable = ({ journal: file, message, reason }: CoreJournal.JournalError): JournalError => {
  switch (reason._tag) {
    case "Full":
      return new JournalError({ file, reason: "full", detail: message })
    case "Foreign":
      return new JournalError({ file, reason: "foreign", detail: "it was not written by an evaluation" })
    case "Newer":
      return new JournalError({ file, reason: "newer", detail: "it was written by a newer version" })
    case "Damaged":
      return new JournalError({ file, reason: "torn", detail: `it is damaged (${reason.detail})` })
    case "Unwritable":
      return new JournalError({ file, reason: "unwritable", detail: reason.detail })
    default:
      return new JournalError({ file, reason: "unwritable", detail: message })
  }
}

/**
 * Opens the journal for an evaluation's runs. `ended` lists the runs whose results are in the evaluation's journal.
 * When the scope closes, the file is deleted if it is empty.
 */
export const open = Effect.fnUntraced(function* (
  file: string,
  ended: ReadonlySet<string>
): Effect.fn.Return<Runs, JournalError, Scope.Scope> {
  const runs = yield* Effect.mapError(
    UnendedRuns.open(file, (run) => ended.has(run)),
    unusable
  )
  const known = new Set(ended)
  const gone = runs.names.filter((run) => ended.has(run))
  const left = [...runs.left]
  const paid = new Map(left.map(([run, { costUsd }]) => [run, costUsd]))
  const inDoubt = left.flatMap(([, { inDoubt }]) => inDoubt)
  /** Returns the name of the first unfinished run with the given id. */
  const nameOf = (run: string): string => {
    let name = run
    for (let count = 1; known.has(name); count++) name = `${run}~${count}`
    return name
  }
  const sum = (values: Iterable<number>) => [...values].reduce((sum, value) => sum + value, 0)
  return {
    paidUsd: sum(paid.values()),
    inDoubt: { calls: inDoubt.length, costUsd: sum(inDoubt) },
    journalOf: (id) => runs.journalOf(id, nameOf(id)),
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
    sweep: Effect.suspend(() => Effect.ignore(runs.remove(gone.splice(0)))),
    ended: () => gone.length
  }
})

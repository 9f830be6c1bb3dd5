/**
 * Stores rollouts that are not covered by a checkpoint yet. Their calls and answers are written to a journal in the run
 * folder, so that a killed or stopped run does not pay for them again. They are removed once a checkpoint includes the
 * training done on them.
 *
 * Rollouts are stored only if a worker is paid. If all workers are free (the gym, local models), nothing is written,
 * and lost rollouts are generated again.
 */
import * as path from "node:path"
import type { Journal } from "@divisi/core"
import type { Worker } from "@divisi/core/Worker"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import { UnendedRuns } from "@divisi/files"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Rollout from "../Rollout.ts"
import { RunFolderError } from "../RunFolder.ts"
import * as Layout from "../RunLayout.ts"

/** Stored rollouts of a run. */
export interface KeptRollouts {
  /** Calls that were in flight when an earlier process ended, and their maximum cost. */
  readonly inDoubt: { readonly calls: number; readonly costUsd: number }
  /** USD paid for rollouts after the mark, including payments made by earlier processes. */
  readonly paidUsd: () => number
  /** Returns the mark. Entries before it are covered by a checkpoint. */
  readonly mark: () => Layout.Mark
  readonly ofPhase: (phase: number) => Rollout.Kept
  readonly setMark: (mark: Layout.Mark) => void
  /** Removes the entries before the mark. */
  readonly prune: Effect.Effect<void, RunFolderError>
  /** Subtracts the rollouts lost to worker failures from the paid amount, and returns an effect that removes them. */
  readonly forgetLost: () => Effect.Effect<void, RunFolderError>
}

const isPaid = ({ pricing, recovery }: Worker): boolean => {
  if (recovery === "free") return false
  if (pricing === undefined) return true
  const { inputPerMillion, isPlay, outputPerMillion, perCall = 0 } = pricing
  return isPlay !== true && inputPerMillion + outputPerMillion + perCall > 0
}

/** Whether storing answers is worthwhile, that is, whether at least one worker is paid. */
export const areWorth = ({ workers }: WorkerPool): boolean => workers.some(isPaid)

/** Maps an unusable rollout journal to an error of the run. */
export const unusable =
  (folder: string) =>
  ({ message, reason }: Journal.JournalError): RunFolderError => {
    if (reason._tag === "Full") return new RunFolderError({ folder, reason: { _tag: "Full" } })
    const isLost = reason._tag === "Damaged" || reason._tag === "Foreign"
    const detail = isLost
      ? `${Layout.keptRollouts} is damaged. Delete it; rollouts since the last checkpoint are then paid for again.`
      : message
    return new RunFolderError({ folder, reason: { _tag: "Failed", detail } })
  }

/** Whether a rollout precedes the mark, judging by the phase and question position in its name. */
const isBefore = (name: string, { phase, position }: Layout.Mark): boolean => {
  const [ofPhase, index] = name.split(".").map(Number)
  return ofPhase! < phase || (ofPhase === phase && index! < position)
}

const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0)

/** Opens the rollouts stored in a run folder. `marked` is the last recorded mark that a checkpoint covers. */
export const open = Effect.fnUntraced(function* (
  folder: string,
  marked: Layout.Mark
): Effect.fn.Return<KeptRollouts, RunFolderError, Scope.Scope> {
  const failed = unusable(folder)
  const file = path.join(folder, Layout.keptRollouts)
  const runs = yield* Effect.mapError(
    UnendedRuns.open(file, (name) => isBefore(name, marked)),
    failed
  )
  let mark = marked
  const names = new Set(runs.names)
  const paid = new Map([...runs.left].map(([name, { costUsd }]) => [name, costUsd]))
  const lost = new Set<string>()
  const inDoubt = [...runs.left.values()].flatMap(({ inDoubt }) => inDoubt)
  return {
    inDoubt: { calls: inDoubt.length, costUsd: sum(inDoubt) },
    paidUsd: () => sum(paid.values()),
    mark: () => mark,
    ofPhase: (phase) => ({
      journalOf: (run) => {
        const name = `${phase}.${run}`
        names.add(name)
        return runs.journalOf(run, name)
      },
      pay: (run, costUsd) => {
        const name = `${phase}.${run}`
        if (!isBefore(name, mark)) paid.set(name, (paid.get(name) ?? 0) + costUsd)
      },
      lose: (run) => void lost.add(`${phase}.${run}`)
    }),
    setMark: (next) => {
      mark = next
      for (const name of paid.keys()) if (isBefore(name, mark)) paid.delete(name)
    },
    forgetLost: () => {
      const gone = [...lost].filter((name) => !isBefore(name, mark))
      lost.clear()
      for (const name of gone) {
        names.delete(name)
        paid.delete(name)
      }
      return Effect.mapError(runs.remove(gone), failed)
    },
    prune: Effect.suspend(() => {
      const gone = [...names].filter((name) => isBefore(name, mark))
      for (const name of gone) names.delete(name)
      return Effect.mapError(runs.remove(gone), failed)
    })
  }
})

/** The list of runs that the pages share: read once, then updated while the page is seen. */
import { computed, signal, useSignal } from "@preact/signals"
import { useLayoutEffect } from "preact/hooks"
import type { Summary } from "../run/Summary.ts"
import { isExported, listRuns, newestRuns } from "./Source.ts"

/** The runs, the newest first; `undefined` until the first of them are read. */
export const runs = signal<ReadonlyArray<Summary> | undefined>(undefined)

/** The reason why the list is not up to date. */
export const error = signal<Error | undefined>(undefined)

export const isWaiting = ({ state }: Summary): boolean => state === "waiting" || state === "suspended"

export const isUnanswered = ({ state }: Summary): boolean =>
  ["failed", "refused", "budget", "damaged", "interrupted", "stopped"].includes(state)

export const isRunning = ({ state }: Summary): boolean => state === "running"

/** Figures of the whole list; each name in it occurs once. */
export interface Totals {
  readonly waiting: number
  readonly unanswered: number
  readonly running: number
  readonly costUsd: number
  readonly playUsd: number
  readonly policies: ReadonlyArray<string>
  readonly workers: ReadonlyArray<string>
}

const totalsOf = (list: ReadonlyArray<Summary>): Totals => {
  const counts = { waiting: 0, unanswered: 0, running: 0, costUsd: 0, playUsd: 0 }
  const policies = new Set<string>()
  const workers = new Set<string>()
  for (const run of list) {
    if (isWaiting(run)) counts.waiting += 1
    else if (isRunning(run)) counts.running += 1
    else if (isUnanswered(run)) counts.unanswered += 1
    if (run.is_play === true) counts.playUsd += run.cost_usd
    else counts.costUsd += run.cost_usd
    policies.add(run.policy)
    for (const worker of run.workers) workers.add(worker)
  }
  return { ...counts, policies: [...policies].sort(), workers: [...workers].sort() }
}

export const totals = computed(() => totalsOf(runs.value ?? []))

/** The list with its newest runs, or the same list if none of them has changed. */
const merged = (known: ReadonlyArray<Summary>, newest: ReadonlyArray<Summary>): ReadonlyArray<Summary> => {
  const before = new Map(known.slice(0, 2 * newest.length).map((run) => [run.id, JSON.stringify(run)]))
  const changed = new Map(newest.flatMap((run) => (before.get(run.id) === JSON.stringify(run) ? [] : [[run.id, run]])))
  if (changed.size === 0) return known
  const rest = known.map((run) => {
    const next = changed.get(run.id)
    changed.delete(run.id)
    return next ?? run
  })
  return [...changed.values(), ...rest]
}

/** Reads the newest runs now, for example after one of them was changed. */
export const refreshRuns = async (signal: AbortSignal = new AbortController().signal): Promise<void> => {
  const newest = await newestRuns(signal)
  runs.value = merged(runs.peek() ?? [], newest)
}

/** Reads the list, then its newest runs every two seconds while the page is seen. */
export const useRuns = (): (() => void) => {
  const attempt = useSignal(0)
  // Effects wait for the first paint; the request does not.
  useLayoutEffect(() => {
    const abort = new AbortController()
    const fail = (cause: Error) => {
      if (!abort.signal.aborted) error.value = cause
    }
    let state: "reading" | "whole" | "failed" = "reading"
    listRuns((found) => {
      error.value = undefined
      runs.value = found
    }, abort.signal).then(
      () => {
        state = "whole"
      },
      (cause: Error) => {
        state = "failed"
        fail(cause)
      }
    )
    const timer = setInterval(() => {
      if (document.hidden || state === "reading" || isExported()) return
      // A list of which only the first pages were read is read again.
      if (state === "failed" && runs.peek() !== undefined) {
        attempt.value += 1
        return
      }
      refreshRuns(abort.signal).then(() => {
        error.value = undefined
      }, fail)
    }, 2_000)
    return () => {
      clearInterval(timer)
      abort.abort()
    }
  }, [attempt.value])
  return () => {
    attempt.value += 1
  }
}

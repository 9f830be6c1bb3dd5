/** The list of runs shared by several pages. It is loaded once and then refreshed while the page is visible. */
import { computed, signal } from "@preact/signals"
import { useLayoutEffect } from "preact/hooks"
import type { Summary } from "../run/Summary.ts"
import { periodically } from "./Data.ts"
import { isExported, listRuns, listsAll, maxNewest, newestRuns } from "./Source.ts"

/** The runs, newest first; `undefined` until the first page of the list is loaded. */
export const runs = signal<ReadonlyArray<Summary> | undefined>(undefined)

/** The reason why the list is out of date. */
export const error = signal<Error | undefined>(undefined)

export const isWaiting = ({ state }: Summary): boolean => state === "waiting" || state === "suspended"

export const isUnanswered = ({ state }: Summary): boolean =>
  ["failed", "refused", "budget", "damaged", "interrupted", "stopped"].includes(state)

export const isRunning = ({ state }: Summary): boolean => state === "running"

/** Duration of a run from its start to its last change, or until now while it is running. */
export const millisOf = (run: Summary, now: number): number =>
  Math.max(0, (isRunning(run) ? now : run.changed_at) - run.started_at)

/** Aggregates over the whole list. Each name occurs once. */
export interface Totals {
  readonly waiting: number
  readonly unanswered: number
  readonly running: number
  readonly costUsd: number
  readonly playUsd: number
  readonly policies: ReadonlyArray<string>
  readonly workers: ReadonlyArray<string>
  readonly states: ReadonlyArray<string>
  /** Keys that own runs. */
  readonly owners: ReadonlyArray<string>
}

const totalsOf = (list: ReadonlyArray<Summary>): Totals => {
  const counts = { waiting: 0, unanswered: 0, running: 0, costUsd: 0, playUsd: 0 }
  const policies = new Set<string>()
  const workers = new Set<string>()
  const states = new Set<string>()
  const owners = new Set<string>()
  for (const run of list) {
    if (isWaiting(run)) counts.waiting += 1
    else if (isRunning(run)) counts.running += 1
    else if (isUnanswered(run)) counts.unanswered += 1
    if (run.is_play === true) counts.playUsd += run.cost_usd
    else counts.costUsd += run.cost_usd
    policies.add(run.policy)
    states.add(run.state)
    if (run.owner !== null) owners.add(run.owner)
    for (const worker of run.workers) workers.add(worker)
  }
  const sorted = (names: ReadonlySet<string>) => [...names].sort()
  return {
    ...counts,
    policies: sorted(policies),
    workers: sorted(workers),
    states: sorted(states),
    owners: sorted(owners)
  }
}

export const totals = computed(() => totalsOf(runs.value ?? []))

/**
 * Merges the newest runs into the list, without those that no longer exist. Returns the same array if nothing has
 * changed, and `undefined` if runs between both lists are unknown.
 */
const merged = (known: ReadonlyArray<Summary>, newest: ReadonlyArray<Summary>): ReadonlyArray<Summary> | undefined => {
  const fresh = new Map(newest.map((run) => [run.id, run]))
  const isWhole = newest.length < maxNewest
  const end = isWhole ? known.length : known.findIndex(({ id }) => id === newest.at(-1)?.id) + 1
  if (end === 0 && !isWhole) return undefined
  const rest = known.flatMap((run, at) => {
    const next = fresh.get(run.id)
    fresh.delete(run.id)
    if (next === undefined) return at < end ? [] : run
    return JSON.stringify(next) === JSON.stringify(run) ? run : next
  })
  const all = [...fresh.values(), ...rest]
  return all.length === known.length && all.every((run, at) => run === known[at]) ? known : all
}

/** Changed to load the whole list again. */
const attempt = signal(0)

/** Loads the newest runs immediately, e.g. after one of them was changed. */
export const refreshRuns = async (signal: AbortSignal = new AbortController().signal): Promise<void> => {
  const scope = listsAll()
  const list = merged(runs.peek() ?? [], await newestRuns(signal))
  // A key without the right to list all runs no longer shows those of other keys.
  if (list === undefined || listsAll() !== scope) attempt.value += 1
  else runs.value = list
}

/** Loads the list, and then refreshes the newest runs every two seconds while the page is visible. */
export const useRuns = (): (() => void) => {
  // Effects run only after the first paint, so the request is started earlier.
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
    const stop = periodically(2_000, async () => {
      if (state === "reading" || isExported()) return
      // A list that was only partially loaded is loaded again.
      if (state === "failed" && runs.peek() !== undefined) {
        attempt.value += 1
        return
      }
      await refreshRuns(abort.signal).then(() => {
        error.value = undefined
      }, fail)
    })
    return () => {
      stop()
      abort.abort()
    }
  }, [attempt.value])
  return () => {
    attempt.value += 1
  }
}

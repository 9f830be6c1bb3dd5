/** What a list of runs says of a run: kept as its entries are written. */

import type { Parent, WaitingCall } from "../events/RunEvent.ts"
import { question } from "../task/Task.ts"
import type { Entry, Head } from "./Journal.ts"

/** How much of a question a list of runs can show. */
const mostShown = 200

/** The name of a waiting call in a list of runs. */
const waitsFor = ({ call, for: what, id }: WaitingCall): string =>
  `${call.name} (${id}${what === "approval" ? ", to be allowed" : ""})`

const placeOf = ({ round, runId, step }: Parent): string => `${runId} ${round} ${step}`

/** Keeps the head of a run. */
export const heading = () => {
  let head: Head | undefined
  let costUsd = 0
  let calls = 0
  /** What the steps wait for, without those that wait for a nested run. */
  const waiting = new Map<string, ReadonlyArray<string>>()
  const delegating = new Set<string>()
  const take = (entry: Entry, run: string) => {
    if (entry.type === "event") {
      const { event } = entry
      if (event.type === "run-started" && event.parent !== undefined) delegating.add(placeOf(event.parent))
      // Whose nested run failed its check has gone to a worker.
      if (event.type === "step-reassigned") delegating.delete(placeOf(event))
      if (event.type === "step-waiting" && !delegating.has(placeOf(event))) {
        waiting.set(placeOf(event), event.calls.map(waitsFor))
      }
      if (event.type === "tool-finished") waiting.delete(placeOf(event))
      if (event.runId !== run) return
      if (event.type === "run-started") {
        const { at, policy, pool, task } = event
        const { owner, request } = task.metadata ?? {}
        head = {
          question: question(task).slice(0, mostShown),
          policy,
          workers: pool.map(({ id }) => id),
          startedAt: at,
          costUsd,
          calls,
          caller: typeof owner === "string" ? owner : undefined,
          request: typeof request === "string" ? request : undefined
        }
      }
      if (event.type === "run-finished" && head !== undefined) head = { ...head, ending: event.ending }
    } else if (entry.type === "resumed") {
      if (head !== undefined) head = { ...head, ending: undefined }
    } else if ("usage" in entry && !("unasked" in entry)) {
      costUsd += entry.costUsd ?? 0
      calls += 1
    }
  }
  const all = () => (waiting.size === 0 ? undefined : [...waiting.values()].flat())
  return { take, head: () => head && { ...head, costUsd, calls, waitsFor: all() } }
}

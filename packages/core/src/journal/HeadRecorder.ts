/** Derives a run's head, which is shown in lists of runs, from its journal entries as they are written. */

import { placeOf as placeOfStep } from "../events/items.ts"
import { isAllPlay } from "../events/Payments.ts"
import type { Of, Parent, RunEvent, WaitingCall } from "../events/RunEvent.ts"
import { question } from "../task/Task.ts"
import type { Entry, Head } from "./Journal.ts"

/** Maximum length of the question shown in a list of runs, in characters. */
const mostShown = 200

/** Returns the display name of a pending call. */
const textOf = ({ call, for: what, id }: WaitingCall): string =>
  `${call.name} (${id}${what === "result" ? "" : ", needs approval"})`

/** Returns the display names of a step's pending calls, by call id. */
const waitsFor = (calls: ReadonlyArray<WaitingCall>) => new Map(calls.map((call) => [call.id, textOf(call)]))

const placeOf = ({ item, round, runId, step }: Parent): string => `${runId} ${round} ${placeOfStep(step, item)}`

/** Returns the key of a round's plan. */
const planOf = ({ round, runId }: Pick<Parent, "round" | "runId">): string => `${runId} ${round} plan`

/** Events that do not affect the head. */
type WithoutHead =
  | "round-started"
  | "completion-delta"
  | "completion-finished"
  | "workflow-proposed"
  | "step-unfolded"
  | "step-joined"
  | "step-delta"
  | "turn-finished"
  | "tool-started"
  | "tool-progress"
  | "step-notice"
  | "call-failed"
  | "call-interrupted"
  | "call-lost"
  | "step-finished"
  | "step-failed"
  | "step-skipped"
  | "check-answered"
  | "step-checked"
  | "round-revised"
  | "critic-answered"
  | "answer-graded"
  | "round-finished"

/** Creates a recorder for the head of a run. */
export const heading = () => {
  let head: Head | undefined
  let costUsd = 0
  let calls = 0
  let isUnpriced: true | undefined
  /** Pending calls by step, excluding steps that wait for a nested run. */
  const waiting = new Map<string, Map<string, string>>()
  const delegating = new Set<string>()
  const begin = ({ at, forkOf, policy, pool, task }: Of<"run-started">) => {
    const { owner, request } = task.metadata ?? {}
    head = {
      question: question(task).slice(0, mostShown),
      policy,
      workers: pool.map(({ id }) => id),
      startedAt: at,
      costUsd,
      isPlay: isAllPlay(pool) || undefined,
      calls,
      caller: typeof owner === "string" ? owner : undefined,
      request: typeof request === "string" ? request : undefined,
      forkOf: forkOf?.runId
    }
  }
  const takeEvent = (event: RunEvent, run: string) => {
    switch (event.type) {
      case "run-started":
        if (event.parent !== undefined) delegating.add(placeOf(event.parent))
        if (event.runId === run) begin(event)
        return
      case "step-started":
        // If the round is planned again, a different step may be at this position.
        if (delegating.size > 0) delegating.delete(placeOf(event))
        if (waiting.size > 0) waiting.delete(placeOf(event))
        return
      case "step-reassigned":
        // A worker takes over from the nested run, whose answer failed its check.
        delegating.delete(placeOf(event))
        return
      case "step-waiting":
        if (!delegating.has(placeOf(event))) waiting.set(placeOf(event), waitsFor(event.calls))
        return
      case "plan-waiting":
        waiting.set(planOf(event), waitsFor([event.call]))
        return
      case "plan-decided":
        waiting.delete(planOf(event))
        return
      case "tool-finished": {
        // The turn's remaining calls may still be pending, because a resumed run does not report recorded events again.
        const calls = waiting.get(placeOf(event))
        for (const id of calls?.keys() ?? []) if (id.endsWith(`.${event.turn}.${event.index}`)) calls!.delete(id)
        return
      }
      case "run-finished":
        if (event.runId === run && head !== undefined) head = { ...head, ending: event.ending }
        return
      default:
        event.type satisfies WithoutHead
    }
  }
  const take = (entry: Entry, run: string) => {
    if (entry.type === "event") takeEvent(entry.event, run)
    else if (entry.type === "resumed") {
      if (head !== undefined) head = { ...head, ending: undefined }
    } else if ("usage" in entry && !("unasked" in entry)) {
      costUsd += entry.costUsd ?? 0
      if (entry.costUsd === undefined) isUnpriced = true
      calls += 1
    }
  }
  const all = () => {
    if (waiting.size === 0) return undefined
    const texts = [...waiting.values()].flatMap((calls) => [...calls.values()])
    return texts.length === 0 ? undefined : texts
  }
  return { take, head: () => head && { ...head, costUsd, isUnpriced, calls, waitsFor: all() } }
}

/** The usage of a run's segment, and the part of the answer, computed from the run's events. */
import type { RunEvent } from "@divisi/core"
import * as Usage from "@divisi/core/Usage"
import type { SegmentUsage } from "../wire/Wire.ts"
import * as Place from "./Place.ts"

/** Key for usage outside of steps: plans and judges. */
const elsewhere = ""

/** The events that do not change which step answers. */
type WithoutAnswerChange =
  | "run-started"
  | "round-started"
  | "plan-waiting"
  | "plan-decided"
  | "completion-delta"
  | "completion-finished"
  | "step-started"
  | "step-unfolded"
  | "step-joined"
  | "step-delta"
  | "turn-finished"
  | "tool-started"
  | "tool-progress"
  | "tool-finished"
  | "step-waiting"
  | "step-notice"
  | "call-failed"
  | "call-interrupted"
  | "call-lost"
  | "step-reassigned"
  | "step-finished"
  | "step-failed"
  | "step-skipped"
  | "check-answered"
  | "step-checked"
  | "critic-answered"
  | "run-finished"

/**
 * Determines the steps that answer: the last one of a round, or the one whose answer was accepted; of several rounds,
 * those of the best one.
 */
const answering = () => {
  interface Round {
    readonly place: string
    score: number
  }
  /** The active round and the best completed round of each run, by the path before its steps. */
  const running = new Map<string, Round>()
  const best = new Map<string, Round>()

  const take = (event: RunEvent.RunEvent, path: string): void => {
    switch (event.type) {
      case "workflow-proposed": {
        const { answer, steps } = event.workflow
        const step = answer === "majority" ? 0 : steps.length - 1
        if (steps.length > 0) running.set(path, { place: Place.of(path, { round: event.round, step }), score: 0 })
        return
      }
      case "round-revised":
        if (event.answer !== undefined) {
          // It is the run's answer, regardless of critics' scores for other answers.
          running.set(path, { place: Place.of(path, event.answer), score: Number.POSITIVE_INFINITY })
        }
        return
      case "answer-graded": {
        const round = running.get(path)
        if (round !== undefined) round.score = event.grade.score
        return
      }
      case "round-finished": {
        const round = running.get(path)
        running.delete(path)
        const least = best.get(path)?.score ?? Number.NEGATIVE_INFINITY
        if (round !== undefined && event.answer !== undefined && round.score >= least) best.set(path, round)
        return
      }
      default:
        event.type satisfies WithoutAnswerChange
    }
  }

  /** The step that answers the run; if it is a nested run, also the steps that answer within it. */
  const places = (): ReadonlySet<string> => {
    const found = new Set<string>()
    const at = (path: string) => (running.get(path) ?? best.get(path))?.place
    for (let place = at(""); place !== undefined; place = at(`${place}/`)) found.add(place)
    return found
  }

  return { take, places }
}

/** Adds up the usage of a segment. Every token is in exactly one event. */
export const make = () => {
  const answers = answering()
  const used = new Map<string, Usage.Usage>()
  let all: Omit<SegmentUsage, "answer" | "orchestration"> = { costUsd: 0, unpricedCalls: 0, calls: 0 }

  /** Returns the place that an event counts for. Calls of checks are not part of the answer. */
  const placeOf = (event: RunEvent.RunEvent, path: string): string =>
    !("step" in event) || event.step === undefined || event.type === "check-answered" || "by" in event
      ? elsewhere
      : Place.of(path, { round: event.round, step: event.step })

  const take = (event: RunEvent.RunEvent, path: string, isOurs: boolean) => {
    answers.take(event, path)
    if (!isOurs || !("usage" in event) || "unasked" in event) return
    const { costUsd, usage } = event
    const isCached = "cached" in event && event.cached
    const place = placeOf(event, path)
    used.set(place, Usage.addUsage(used.get(place) ?? Usage.noUsage, usage))
    all = {
      costUsd: all.costUsd + (costUsd ?? 0),
      unpricedCalls: all.unpricedCalls + (costUsd === undefined && !isCached ? 1 : 0),
      calls: all.calls + (isCached ? 0 : 1)
    }
  }

  const sum = (): SegmentUsage => {
    const places = answers.places()
    const parts = { answer: Usage.noUsage, orchestration: Usage.noUsage }
    for (const [place, usage] of used) {
      const part = places.has(place) ? "answer" : "orchestration"
      parts[part] = Usage.addUsage(parts[part], usage)
    }
    return { ...all, ...parts }
  }

  return { take, sum }
}

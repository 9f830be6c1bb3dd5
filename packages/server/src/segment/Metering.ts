/** Computes the usage of a segment, and the part of it that produced the answer, from the run's events. */
import { RunEvent } from "@divisi/core"
import * as Usage from "@divisi/core/Usage"
import type { SegmentUsage } from "../wire/Wire.ts"
import * as Place from "./Place.ts"

/** Key for usage outside of steps, such as planning and judging. */
const elsewhere = ""

/** Event types that do not change which step produces the answer. */
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
 * Tracks which steps produce the answer. Within a round, it is the step with the accepted answer, or else the last
 * step; across rounds, the best round counts.
 */
const answering = () => {
  interface Round {
    readonly place: string
    score: number
  }
  /** The current round and the best completed round per run, keyed by the path prefix of the run's steps. */
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
          // An accepted answer wins, regardless of critics' scores for other answers.
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

  /** Returns the step that produced the answer. If it is a nested run, the answering steps within it are included. */
  const places = (): ReadonlySet<string> => {
    const found = new Set<string>()
    const at = (path: string) => (running.get(path) ?? best.get(path))?.place
    for (let place = at(""); place !== undefined; place = at(`${place}/`)) found.add(place)
    return found
  }

  return { take, places }
}

/** Creates a counter for the usage of one segment. Each token is reported by exactly one event. */
export const make = () => {
  const answers = answering()
  const used = new Map<string, Usage.Usage>()
  let all: Omit<SegmentUsage, "answer" | "orchestration"> = { costUsd: 0, unpricedCalls: 0, calls: 0 }

  /**
   * Returns the step to which an event's usage is attributed. Calls made by checks do not count as part of the answer.
   */
  const placeOf = (event: RunEvent.RunEvent, path: string): string =>
    !("step" in event) || event.step === undefined || event.type === "check-answered" || "by" in event
      ? elsewhere
      : Place.of(path, { round: event.round, step: event.step })

  const take = (event: RunEvent.RunEvent, path: string, isOurs: boolean) => {
    answers.take(event, path)
    if (!isOurs || !("usage" in event) || "unasked" in event) return
    const { costUsd, usage } = event
    const isReused = "cached" in event && RunEvent.isWithoutCall(event)
    const place = placeOf(event, path)
    used.set(place, Usage.addUsage(used.get(place) ?? Usage.noUsage, usage))
    all = {
      costUsd: all.costUsd + (costUsd ?? 0),
      unpricedCalls: all.unpricedCalls + (costUsd === undefined && !isReused ? 1 : 0),
      calls: all.calls + (isReused ? 0 : 1)
    }
  }

  const sum = (): SegmentUsage => {
    const places = answers.places()
    const parts = { answer: Usage.noUsage, orchestration: Usage.noUsage }
    for (const [place, usage] of used) {
      const part = places.has(place) ? "answer" : "orchestration"
      parts[part] = Usage.addUsage(parts[part], usage)
    }
    return { ...all, costUsd: Usage.rounded(all.costUsd), ...parts }
  }

  return { take, sum }
}

/**
 * Handles runs that are resumed after they have ended. All results received before the end are retained. Obstacles to
 * the run's progress are retried: failed calls, steps that did not fit the budget, and the end itself.
 *
 * A failure is retained if a received answer depends on it, because the same step was answered later, a step that sees
 * it was answered, or the policy was answered after it. This ensures that no answer is paid for twice.
 */

import { inPlace, placeOf as stepPlace } from "../events/items.ts"
import type { Ending, RunEvent } from "../events/RunEvent.ts"
import { axesOf, sharedItem, waitsFor } from "../workflow/program.ts"
import type { Workflow } from "../workflow/Workflow.ts"
import type { CallEntry, Entry } from "./Journal.ts"

/** Whether a run with this ending is retried when it is resumed. */
export const isTriedAgain = (ending: Ending | undefined): boolean => ending === "failed" || ending === "budget"

/** An event that reports a call attempt without an answer. */
export type CallEvent = Extract<RunEvent, { readonly type: "call-failed" | "call-interrupted" | "call-lost" }>

/** Positions of journal entries that are superseded. */
export interface Superseded {
  /** Events that are replaced with new ones. */
  readonly events: ReadonlySet<number>
  /** Failed attempts that remain charged and reported, but whose calls are made again. */
  readonly attempts: ReadonlySet<number>
}

const none: Superseded = { events: new Set(), attempts: new Set() }

/** Returns the position of a call without its number: `run/round/step`. */
export const placeOf = (call: string): string => call.slice(0, call.lastIndexOf("/"))

/**
 * The part of a run that a call belongs to: a step or role within a round (`2`, `2 check`, `policy`), or the run nested
 * in a step.
 */
interface Belonging {
  readonly round: number
  readonly place: string
  readonly isNested: boolean
}

const belongingOf = (run: string, call: string): Belonging | undefined => {
  if (!call.startsWith(`${run}/`)) return undefined
  const [first = "", place = ""] = call.slice(run.length + 1).split("/", 2)
  const at = first.indexOf(".")
  if (at < 0) return { round: Number(first), place, isNested: false }
  return { round: Number(first.slice(0, at)), place: first.slice(at + 1), isNested: true }
}

const isAnswer = ({ type }: Entry): boolean => type === "answered" || type === "found"

type Marks = { readonly attempts: Set<number>; readonly events: Set<number> }

/** Iterates over the entries that are not superseded, with their positions. */
type Each<E> = (use: (entry: E, at: number) => void) => void

/** The entries of a round. */
interface Round {
  readonly workflow: Workflow | undefined
  /** Position of the round's plan. */
  readonly plan: number
  /** Position of the last answer for each step or role. */
  readonly places: ReadonlyMap<string, number>
  /** Position of the last answer for each step, including its nested run. */
  readonly steps: ReadonlyMap<string, number>
}

const roundOf = (run: string, number: number, eachCall: Each<CallEntry>, eachEvent: Each<RunEvent>): Round => {
  let workflow: Workflow | undefined
  let plan = -1
  const places = new Map<string, number>()
  const steps = new Map<string, number>()
  eachEvent((event, at) => {
    if (!("round" in event) || event.round !== number) return
    if (event.type !== "workflow-proposed") return
    workflow = event.workflow
    plan = at
  })
  eachCall((entry, at) => {
    const belonging = isAnswer(entry) ? belongingOf(run, entry.call) : undefined
    if (belonging?.round !== number) return
    const { isNested, place } = belonging
    steps.set(place, at)
    if (!isNested) places.set(place, at)
  })
  return { workflow, plan, places, steps }
}

/** Returns the position of the last answer for each step, for each item, and for each item's nested items combined. */
const lastAnswers = (answered: ReadonlyMap<string, number>): ReadonlyMap<string, number> => {
  const last = new Map<string, number>()
  for (const [place, at] of answered) {
    const { item, step } = inPlace(place)
    if (Number.isNaN(step) || place.includes(" ")) continue
    const path = item === undefined ? [] : item.split(".")
    for (let depth = 0; depth <= path.length; depth++) {
      const name = stepPlace(step, depth === 0 ? undefined : path.slice(0, depth).join("."))
      last.set(name, Math.max(last.get(name) ?? -1, at))
    }
  }
  return last
}

/**
 * The positions up to which failures are retained, for a step or role of a round, and for the run nested in a step or
 * item.
 */
interface Limits {
  readonly limit: (place: string) => number
  readonly nested: (place: string) => number
}

const limitsOf = ({ places, plan, steps: answered, workflow }: Round): Limits => {
  const steps = workflow?.steps ?? []
  const policy = places.get("policy") ?? -1
  const axes = workflow === undefined ? [] : axesOf(workflow)
  const last = lastAnswers(answered)
  const known = new Map<string, number>()
  const seen = (place: string): number => {
    const { item, step } = inPlace(place)
    let seen = policy
    for (let later = step + 1; later < steps.length; later++) {
      if (!waitsFor(steps[later]!, step)) continue
      const shared = item === undefined ? "" : sharedItem(axes, step, later, item)
      seen = Math.max(seen, last.get(stepPlace(later, shared === "" ? undefined : shared)) ?? -1)
    }
    return seen
  }
  const nested = (place: string): number => {
    const found = known.get(place) ?? seen(place)
    known.set(place, found)
    return found
  }
  const limit = (place: string): number => {
    if (place === "policy") return Math.max(plan, policy)
    if (place === "critic") return places.get(place) ?? -1
    if (!(Number.parseInt(place, 10) < steps.length)) return -1
    const [of = ""] = place.split(" ")
    const retained = Math.max(nested(of), last.get(of) ?? -1)
    return place === of ? retained : Math.max(retained, places.get(place) ?? -1)
  }
  return { limit, nested }
}

/** Events that are never replaced, because they remain valid. */
type Retained =
  | "run-started"
  | "round-started"
  | "completion-delta"
  | "completion-finished"
  | "workflow-proposed"
  | "plan-waiting"
  | "plan-decided"
  | "step-started"
  | "step-delta"
  | "tool-started"
  | "tool-progress"
  | "tool-finished"
  | "step-waiting"
  | "step-notice"
  | "call-failed"
  | "call-interrupted"
  | "call-lost"
  | "check-answered"
  | "critic-answered"
  | "answer-graded"
  | "run-finished"

/** Whether an event of a retried round is replaced with a new one. */
const isReplaced = (event: RunEvent, at: number, limit: Limits["limit"], rechecked: ReadonlySet<string>): boolean => {
  switch (event.type) {
    case "round-finished":
    case "round-revised":
    case "step-skipped":
    case "step-unfolded":
    case "step-joined":
      return true
    case "step-failed":
    case "step-reassigned":
    // A limit may have stopped the step before its last answer, or before its check.
    case "step-finished":
      return at > limit(stepPlace(event.step, event.item))
    case "step-checked":
    case "turn-finished": {
      const place = stepPlace(event.step, event.item)
      return rechecked.has(place) && at > limit(`${place} check`)
    }
    default:
      event.type satisfies Retained
      return false
  }
}

/** Returns the steps whose last answer is checked again because the check itself failed. */
const recheckedIn = (number: number, limit: Limits["limit"], eachEvent: Each<RunEvent>): ReadonlySet<string> => {
  const rechecked = new Set<string>()
  eachEvent((event, at) => {
    if (event.type !== "step-checked" || event.round !== number) return
    const place = stepPlace(event.step, event.item)
    if (event.couldNotRun === true && at > limit(`${place} check`)) rechecked.add(place)
  })
  return rechecked
}

/** Whether a lost call was reported elsewhere, because the run that charged it had not reached the call's position. */
const isReportedElsewhere = (entries: ReadonlyArray<Entry>, at: number): boolean => {
  const [lost, next] = [entries[at], entries[at + 1]]
  if (lost?.type !== "lost" || next?.type !== "event" || next.event.type !== "call-lost") return false
  const { by, item, round, runId, step } = next.event
  const place = placeOf(lost.call)
  const who = step === undefined ? step : stepPlace(step, item)
  return place !== `${runId}/${round}/${by === undefined ? who : `${who} ${by}`}` && !/(policy|critic)$/.test(place)
}

const isOfCall = (event: RunEvent): event is CallEvent =>
  event.type === "call-failed" || event.type === "call-interrupted" || event.type === "call-lost"

/**
 * Marks late events of parts that had already ended. They occur if a run is resumed with a limit below its spending: it
 * ends while repeating its steps and reports them as failed, although the journal contains their answers.
 */
const markLate = (entries: ReadonlyArray<Entry>, run: string, events: Set<number>): void => {
  const over = new Set<string>()
  const current = new Map<string, number>()
  const isLate = (id: string, round: number): boolean => {
    if (over.has(id) || round < (current.get(id) ?? 0)) return true
    const at = id.lastIndexOf("/")
    return id !== run && isLate(id.slice(0, at), Number.parseInt(id.slice(at + 1), 10))
  }
  for (const [at, entry] of entries.entries()) {
    if (entry.type !== "event" || events.has(at)) continue
    const { event } = entry
    const { runId } = event
    const round = "round" in event ? event.round : (current.get(runId) ?? 0)
    if (isLate(runId, round)) {
      if (!isOfCall(event)) events.add(at)
    } else if (event.type === "round-started") current.set(runId, round)
    else if (event.type === "run-finished" && !isTriedAgain(event.ending)) over.add(runId)
  }
}

/** Marks the entries that are superseded because an ended run and its nested runs are retried. */
const mark = (entries: ReadonlyArray<Entry>, run: string, { attempts, events }: Marks): void => {
  const eachEvent: Each<RunEvent> = (use) => {
    for (const [at, entry] of entries.entries()) {
      if (entry.type === "event" && entry.event.runId === run && !events.has(at)) use(entry.event, at)
    }
  }
  const eachCall: Each<CallEntry> = (use) => {
    for (const [at, entry] of entries.entries()) if ("call" in entry) use(entry, at)
  }
  const eachFailure = (use: (belonging: Belonging, at: number) => void) =>
    eachCall((entry, at) => {
      if (entry.type !== "failed" && entry.type !== "interrupted" && entry.type !== "lost") return
      const belonging = belongingOf(run, entry.call)
      if (belonging !== undefined) use(belonging, at)
    })

  let last = -1
  let first = 0
  eachEvent((event, at) => {
    if (event.type === "run-finished") events.add(at)
    if (event.type === "round-started") last = event.round
  })
  eachEvent((event) => {
    if (event.type !== "round-finished" || event.answer === undefined || event.round === last) return
    first = Math.max(first, event.round + 1)
  })
  eachCall((entry) => {
    if (isAnswer(entry)) first = Math.max(first, belongingOf(run, entry.call)?.round ?? 0)
  })

  /** Returns the steps and items in a round that have a nested run, in order. */
  const nestedIn = (number: number): ReadonlySet<string> => {
    const prefix = `${run}/${number}.`
    const places = new Set<string>()
    for (const entry of entries) {
      if (entry.type !== "event" || !entry.event.runId.startsWith(prefix)) continue
      places.add(entry.event.runId.slice(prefix.length).split("/", 1)[0]!)
    }
    return places
  }

  /** Marks a round for retry. Returns whether it contains anything to retry. */
  const markRound = (number: number): boolean => {
    const round = roundOf(run, number, eachCall, eachEvent)
    const { limit, nested } = limitsOf(round)
    const failed = new Set<number>()
    eachFailure(({ isNested, place, round: other }, at) => {
      if (other !== number) return
      if (at > (isNested ? nested(place) : limit(place))) failed.add(at)
    })
    if (failed.size === 0 && number < last) return false
    eachFailure(({ isNested, round: other }, at) => {
      if (other > number || (!isNested && failed.has(at))) attempts.add(at)
    })
    for (const at of attempts) if (isReportedElsewhere(entries, at)) events.add(at + 1)
    const rechecked = recheckedIn(number, limit, eachEvent)
    eachEvent((event, at) => {
      if (!("round" in event) || event.round < number) return
      if (event.round > number || isReplaced(event, at, limit, rechecked)) events.add(at)
    })
    for (const [at, entry] of entries.entries()) {
      if (entry.type !== "event") continue
      if ((belongingOf(run, `${entry.event.runId}/`)?.round ?? -1) > number) events.add(at)
    }
    for (const place of nestedIn(number)) markNested(`${run}/${number}.${place}`, nested(place))
    return true
  }

  const markNested = (nested: string, seen: number) => {
    let began = -1
    let isOver = false
    const isAnswered = entries.some(
      (entry) => isAnswer(entry) && "call" in entry && entry.call.startsWith(`${nested}/`)
    )
    for (const [at, entry] of entries.entries()) {
      if (entry.type !== "event" || entry.event.runId !== nested || events.has(at)) continue
      began = at
      if (entry.event.type === "run-finished" && !isTriedAgain(entry.event.ending)) isOver = true
    }
    if (began <= seen || isOver) return
    mark(entries, nested, { attempts, events })
    if (isAnswered) return
    // The nested run is restarted, because its question may have changed.
    for (const [at, entry] of entries.entries()) {
      if (entry.type === "event" && `${entry.event.runId}/`.startsWith(`${nested}/`)) events.add(at)
    }
  }

  for (let number = first; number <= last && !markRound(number); number++);
}

/** Returns the id of the run that the entries belong to. */
const runOf = (entries: ReadonlyArray<Entry>): string | undefined => {
  const begun = entries.find((entry) => entry.type === "event")
  return begun?.type === "event" ? begun.event.runId : undefined
}

/**
 * Marks reports of answers as interrupted calls. A run writes them as it ends, for the answers that it did not reach.
 * They are valid only if they directly precede the end and the run was not resumed: it may reach these answers then, and
 * otherwise reports them again.
 */
const markUnreached = (entries: ReadonlyArray<Entry>, run: string, events: Set<number>): void => {
  const answered = new Set<string>()
  /** Positions of the reports that directly precede the current entry or the end. */
  const last = new Map<string, number>()
  let isEnded = false
  for (const [at, entry] of entries.entries()) {
    if (entry.type === "answered") answered.add(`${entry.call}/${entry.attempt}`)
    if (entry.type === "event" && isOfCall(entry.event)) {
      const { chargeId = "", isRetired, type } = entry.event
      if (type !== "call-interrupted" || isRetired === true || !answered.has(chargeId)) continue
      events.add(at)
      last.set(chargeId, at)
    } else if (entry.type === "event" && entry.event.type === "run-finished" && entry.event.runId === run) {
      isEnded = true
    } else if (entry.type === "resumed" || (!isEnded && entry.type !== "lost")) {
      isEnded = false
      last.clear()
    }
  }
  if (isEnded) for (const at of last.values()) events.delete(at)
}

/** Returns the entries that are superseded because the run was resumed. */
export const supersededIn = (entries: ReadonlyArray<Entry>): Superseded => {
  const run = runOf(entries)
  if (run === undefined) return none
  const superseded = { events: new Set<number>(), attempts: new Set<number>() }
  markUnreached(entries, run, superseded.events)
  for (const [at, { type }] of entries.entries()) {
    if (type !== "resumed") continue
    const before = entries.slice(0, at)
    markLate(before, run, superseded.events)
    mark(before, run, superseded)
  }
  return superseded
}

/** A failed attempt of a retried call. It is charged and reported again when the run reaches its position. */
export interface Retired {
  /** Name of the attempt on accounts. */
  readonly name: string
  readonly event: CallEvent
}

/** Spans for calls made by steps, checks, critics and the policy. */
import type * as Tracer from "effect/Tracer"
import { setPaid } from "../events/Attributes.ts"
import * as Call from "../events/call.ts"
import * as Check from "../events/check.ts"
import * as Completion from "../events/completion.ts"
import { placeOf } from "../events/items.ts"
import { isWithoutCall, type Of } from "../events/RunEvent.ts"
import * as Step from "../events/step.ts"
import * as Turn from "../events/turn.ts"
import {
  type Caller,
  fail,
  interrupt,
  type OpenCall,
  type OpenRound,
  type OpenRun,
  type OpenStep,
  planOf,
  type Recording,
  setProvider,
  start,
  succeed
} from "./OpenSpans.ts"

/** Events that end a call. */
export type CallEnd = Of<
  | "turn-finished"
  | "step-finished"
  | "check-answered"
  | "critic-answered"
  | "completion-finished"
  | "call-failed"
  | "call-interrupted"
  | "call-lost"
>

// -------------------------------------------------------------------------------------------------------------------
// Which call
// -------------------------------------------------------------------------------------------------------------------

/** Returns which component made the call that an event ends. */
const makerOf = (event: CallEnd): Caller["by"] => {
  switch (event.type) {
    case "completion-finished":
      return "policy"
    case "critic-answered":
      return "critic"
    case "check-answered":
      return "check"
    case "turn-finished":
    case "step-finished":
      return "step"
    default:
      return event.by ?? (event.step === undefined ? "policy" : "step")
  }
}

/** Identifies the caller of a call. For a completion, the worker is unknown. */
const callerOf = (event: CallEnd): Caller => ({
  by: makerOf(event),
  step: "step" in event ? event.step : undefined,
  item: "item" in event ? event.item : undefined,
  worker: "worker" in event ? event.worker : ""
})

/** Removes a caller's call from the open calls and returns it. */
const takeCall = ({ calls }: OpenRound, { by, item, step, worker }: Caller): OpenCall | undefined => {
  const at = calls.findIndex(
    (call) => call.by === by && call.step === step && call.item === item && (worker === "" || call.worker === worker)
  )
  return at < 0 ? undefined : calls.splice(at, 1)[0]
}

const stepOf = ({ steps }: OpenRound, { item, step }: Pick<Caller, "step" | "item">): OpenStep | undefined =>
  step === undefined ? undefined : steps.get(placeOf(step, item))

/** Returns the start time of a call whose start was not reported. */
const beginningOf = (round: OpenRound, event: CallEnd): number => {
  if (event.type === "turn-finished") return event.at - event.durationMillis
  if (event.type === "completion-finished") return round.planningSince
  const step = stepOf(round, callerOf(event))
  return Math.min(event.at, step?.since ?? event.at)
}

// -------------------------------------------------------------------------------------------------------------------
// Start and end
// -------------------------------------------------------------------------------------------------------------------

/** Starts the span for a call. Calls made by the policy are placed within the plan's span. */
export const startCall = (
  recording: Recording,
  run: OpenRun,
  round: OpenRound,
  { by, item, step, worker }: Caller,
  at: number
): Tracer.Span => {
  const ofStep = stepOf(round, { step, item })?.span
  const parent = by === "policy" ? planOf(recording, run, round, at) : (ofStep ?? round.span)
  const span = start(recording, `chat ${worker}`.trimEnd(), "client", at, parent)
  span.attribute("gen_ai.operation.name", "chat")
  if (worker !== "") span.attribute("gen_ai.request.model", worker)
  setProvider(recording, span, worker)
  return span
}

const describe = (span: Tracer.Span, event: CallEnd, content: boolean) => {
  switch (event.type) {
    case "turn-finished":
      return Turn.describe(span, event)
    case "step-finished":
      return Step.describeFinished(span, event, content)
    case "check-answered":
      return Check.describeAnswered(span, event)
    case "completion-finished":
      return Completion.describeFinished(span, event, content)
    case "call-failed":
      return Call.describeFailed(span, event)
    case "call-lost":
      return Call.describeLost(span)
    default:
      event.type satisfies "critic-answered" | "call-interrupted"
  }
}

const end = (span: Tracer.Span, event: CallEnd, content: boolean) => {
  const { at, type } = event
  if (type === "call-failed") {
    return fail(span, at, event.reason._tag, content ? event.message : `${event.worker} failed.`)
  }
  if (type === "completion-finished" && event.error !== undefined) {
    return fail(span, at, "unreadable", content ? event.error : "The completion is not a valid workflow.")
  }
  return type === "call-interrupted" || type === "call-lost" ? interrupt(span, at) : succeed(span, at)
}

/**
 * Ends the span for a call and records its usage. Replayed and reused answers are marked and cost nothing. An answer
 * supplied by the caller has no call.
 */
export const endCall = (recording: Recording, run: OpenRun, round: OpenRound, event: CallEnd): void => {
  if ("origin" in event && event.origin === "caller") return
  const { content } = recording
  const caller = callerOf(event)
  const open = takeCall(round, caller)
  const span = open?.span ?? startCall(recording, run, round, caller, beginningOf(round, event))
  const isReused = "cached" in event && isWithoutCall(event)
  const isUnasked = event.type === "call-failed" && event.unasked === true
  const isReplayed = open === undefined && run.isAttached && !isReused && !isUnasked && event.type !== "call-lost"
  if ("cached" in event) {
    span.attribute("divisi.cached", event.cached)
    if (event.origin !== undefined) span.attribute("divisi.origin", event.origin)
  }
  if (isReplayed) span.attribute("divisi.replayed", true)
  if (!isReused && !isReplayed && !isUnasked) setPaid(span, event)
  describe(span, event, content)
  if (event.type === "completion-finished") round.planningSince = event.at
  const step = stepOf(round, caller)
  if (step !== undefined) step.since = event.at
  end(span, event, content)
}

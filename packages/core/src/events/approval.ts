/** The events `plan-waiting` and `plan-decided`: a person decides whether a round's plan may run. */
import { defined } from "../Fields.ts"
import type { Attributes } from "./Attributes.ts"
import { oneLine } from "./EventText.ts"
import type { OpenRound } from "./OpenRecord.ts"
import type { WaitingCall } from "./RunEvent.ts"

/** Emitted when a round's plan is waiting for approval. None of its steps has started. */
export interface PlanWaiting {
  readonly type: "plan-waiting"
  readonly round: number
  /** The arguments contain the plan as text, its price, and the parse error if an edited plan was invalid. */
  readonly call: WaitingCall
}

/** A decision about a round's plan. */
export type PlanDecision = "approved" | "refused" | "edited"

/**
 * Emitted when a person has decided about a round's plan. An edited plan is followed by another `workflow-proposed`.
 */
export interface PlanDecided {
  readonly type: "plan-decided"
  readonly round: number
  readonly decision: PlanDecision
  /** Why the plan was refused. */
  readonly reason?: string
  /** The original text of an edited plan. Missing in older journals. */
  readonly text?: string
}

export const foldWaiting = (round: OpenRound, { call }: PlanWaiting): void => {
  round.waitingFor = [call]
}

export const foldDecided = (round: OpenRound, { decision, reason, text }: PlanDecided): void => {
  delete round.waitingFor
  round.decision = defined({ decision, reason, text })
}

/** Sets the attributes on the round's span. */
export const describeWaiting = (span: Attributes, { call }: PlanWaiting): void =>
  span.attribute("divisi.waits_for", [call.call.name])

/** Sets the attributes on the round's span. */
export const describeDecided = (span: Attributes, { decision }: PlanDecided): void =>
  span.attribute("divisi.plan.decision", decision)

export const lineOfWaiting = (event: PlanWaiting): string => `The plan is waiting for approval (${event.call.id}).`

export const lineOfDecided = ({ decision, reason }: PlanDecided): string => {
  if (decision === "refused") return `The plan was refused${reason === undefined ? "" : `: ${oneLine(reason)}`}.`
  return decision === "edited" ? "A person replaced the plan with an edited one." : "The plan was approved."
}

/** Returns the call id of a pending plan. */
export const planId = (path: string, round: number): string => `${path}${round}.plan`

/** The events `call-failed`, `call-interrupted` and `call-lost`: a call attempt without an answer. */
import type { Paid } from "../task/Usage.ts"
import type { WorkerErrorReason } from "../task/Worker.ts"
import type { Attributes } from "./Attributes.ts"
import { discardText, type Mutable, type OpenRound, type OpenStep, paidOf, recordAt } from "./OpenRecord.ts"
import type { Attempt, Item, Stamped } from "./RunEvent.ts"
import type { LostCall } from "./Transcript.ts"

interface OfCall extends Attempt, Paid {
  readonly round: number
  /** Undefined if the call was made by the policy or a critic. */
  readonly step?: number
  readonly item?: Item
  /** Index of the call within its step, or among the calls of the policy or critic. Default: 0. */
  readonly turn?: number
  /** Set if the call was made by a check of the step or by the critic of the round. */
  readonly by?: "check" | "critic"
  readonly worker: string
}

/** Emitted when a call has failed. */
export interface CallFailed extends OfCall {
  readonly type: "call-failed"
  readonly attempt: number
  readonly reason: WorkerErrorReason
  readonly message: string
  /** Delay before the retry with the same worker, in milliseconds. Undefined if there is no retry. */
  readonly retryInMillis?: number
  /** Set if the provider's gate rejected the request, so that it was not sent. Such calls are not counted. */
  readonly unasked?: true
}

/**
 * Emitted when a call was stopped before it finished, because the run was interrupted, ended, or ran out of time. Also
 * reports the payment for a recorded answer that a resumed run does not use.
 */
export interface CallInterrupted extends OfCall {
  readonly type: "call-interrupted"
}

/**
 * Emitted for a call whose process exited before the answer arrived. Its outcome is unknown, so it is charged at its
 * worst case.
 */
export interface CallLost extends OfCall {
  readonly type: "call-lost"
}

const recordOf = (event: Stamped<CallFailed | CallInterrupted | CallLost>): LostCall => {
  const call: Mutable<LostCall> = { worker: event.worker, at: event.at, ...paidOf(event) }
  if (event.turn !== undefined) call.turn = event.turn
  if (event.by !== undefined) call.by = event.by
  if (event.chargeId !== undefined) call.chargeId = event.chargeId
  if (event.isRetired !== undefined) call.isRetired = event.isRetired
  if (event.type === "call-lost") call.isInDoubt = true
  if (event.type !== "call-failed") return call
  call.reason = event.reason
  call.message = event.message
  if (event.retryInMillis !== undefined) call.retryInMillis = event.retryInMillis
  if (event.unasked !== undefined) call.unasked = event.unasked
  return call
}

/** Adds a call by the policy or a critic to its round, and any other call to its step. */
export const fold = (round: OpenRound, event: Stamped<CallFailed | CallInterrupted | CallLost>): void => {
  if (event.step === undefined) {
    const call = recordOf(event)
    round.lost.push(event.by === undefined && round.workflow !== undefined ? { ...call, isAfterPlan: true } : call)
    return
  }
  const step = recordAt(round, event.step, event.item)
  if (step !== undefined) foldInStep(step, event)
}

const foldInStep = (step: OpenStep, event: Stamped<CallFailed | CallInterrupted | CallLost>): void => {
  // A failed check does not affect the checked text; neither does a failure reported after the step was answered.
  if (event.type === "call-failed" && event.by === undefined && step.state !== "answered") discardText(step)
  step.lost.push(recordOf(event))
}

export const describeFailed = (span: Attributes, { attempt, retryInMillis }: CallFailed): void => {
  span.attribute("divisi.attempt", attempt)
  if (retryInMillis !== undefined) span.attribute("divisi.retry_in_ms", retryInMillis)
}

export const describeLost = (span: Attributes): void => span.attribute("divisi.unconfirmed", true)

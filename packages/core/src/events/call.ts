/** `call-failed`, `call-interrupted` and `call-lost`: a call attempt without an answer. */
import type { Paid } from "../task/Usage.ts"
import type { WorkerErrorReason } from "../task/Worker.ts"
import type { Attributes } from "./Attributes.ts"
import { discardText, type Mutable, type OpenRound, type OpenStep, paidOf, recordAt } from "./OpenRecord.ts"
import type { Attempt, Item, Stamped } from "./RunEvent.ts"
import type { LostCall } from "./Transcript.ts"

interface OfCall extends Attempt, Paid {
  readonly round: number
  /** Absent if the policy or a critic made the call. */
  readonly step?: number
  readonly item?: Item
  /** The index of the call within its step, or among the calls of the policy or the critic. Default: 0. */
  readonly turn?: number
  /** Present if a check of the step or the critic of the round made the call. */
  readonly by?: "check" | "critic"
  readonly worker: string
}

/** A call failed. */
export interface CallFailed extends OfCall {
  readonly type: "call-failed"
  readonly attempt: number
  readonly reason: WorkerErrorReason
  readonly message: string
  /** The delay before the retry. Present if the same worker is retried. */
  readonly retryInMillis?: number
  /** Present if the request was not sent because its provider's gate refused the call. Such a call is not counted. */
  readonly unasked?: true
}

/** A call was stopped before it finished: the run was interrupted, ended, or ran out of time. */
export interface CallInterrupted extends OfCall {
  readonly type: "call-interrupted"
}

/**
 * The process that made a call ended before its answer arrived. The call is charged at its worst-case cost, because
 * its outcome is unknown.
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

/** Records a call of the policy or a critic in its round, and any other call in its step. */
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
  // A failed check leaves the checked text in place, and so does a failure that is reported after the step was answered.
  if (event.type === "call-failed" && event.by === undefined && step.state !== "answered") discardText(step)
  step.lost.push(recordOf(event))
}

export const describeFailed = (span: Attributes, { attempt, retryInMillis }: CallFailed): void => {
  span.attribute("divisi.attempt", attempt)
  if (retryInMillis !== undefined) span.attribute("divisi.retry_in_ms", retryInMillis)
}

export const describeLost = (span: Attributes): void => span.attribute("divisi.unconfirmed", true)

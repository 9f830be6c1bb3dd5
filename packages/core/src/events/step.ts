/** `step-started`, `step-delta`, `step-finished`, `step-failed`, `step-skipped` and `step-notice`: one step of a workflow. */
import type { Paid } from "../task/Usage.ts"
import type { FinishReason, WorkerErrorReason } from "../task/Worker.ts"
import { type Attributes, setAnswer, setFinishReason } from "./Attributes.ts"
import { aboutStep, oneLine } from "./EventText.ts"
import { type OpenStep, paidOf, resume } from "./OpenRecord.ts"
import type { Stamped } from "./RunEvent.ts"

/** A step begins: all that it waits for has ended. */
export interface StepStarted {
  readonly type: "step-started"
  readonly round: number
  readonly step: number
  readonly worker: string
}

/** A piece of a step's answer. Pieces before a `call-failed` of the same step are void. */
export interface StepDelta {
  readonly type: "step-delta"
  readonly round: number
  readonly step: number
  readonly kind: "text" | "reasoning"
  readonly text: string
}

/** A step has its answer. */
export interface StepFinished extends Paid {
  readonly type: "step-finished"
  readonly round: number
  readonly step: number
  readonly worker: string
  readonly answer: string
  readonly finishReason: FinishReason
  /** The model that answered, as the vendor names it in its response. */
  readonly model?: string
  readonly durationMillis: number
  /** Whether the answer came from the response cache and cost the run nothing. */
  readonly cached: boolean
  /** Present if the run was stopped before the check of the step was done: a resumed run may find otherwise. */
  readonly isUnchecked?: true
}

/** A step has failed for good. */
export interface StepFailed {
  readonly type: "step-failed"
  readonly round: number
  readonly step: number
  readonly worker: string
  /** The class of its worker's error; absent if it failed for another cause, such as a limit or a nested run. */
  readonly reason?: WorkerErrorReason["_tag"]
  readonly message: string
  readonly durationMillis: number
}

/** A step is not run: no step sees its answer, the budget does not allow it, or the plan was changed. */
export interface StepSkipped {
  readonly type: "step-skipped"
  readonly round: number
  readonly step: number
  readonly worker: string
  readonly reason: "unseen" | "budget" | "revised"
}

/** The worker of a step was not shown something, or a preference was left out, as the worker does not support it. */
export interface StepNotice {
  readonly type: "step-notice"
  readonly round: number
  readonly step: number
  readonly worker: string
  readonly notice: string
}

// -------------------------------------------------------------------------------------------------------------------
// Fold
// -------------------------------------------------------------------------------------------------------------------

export const foldStarted = (step: OpenStep, { at }: Stamped<StepStarted>): void => {
  step.state = "running"
  step.startedAt = at
}

export const foldDelta = (step: OpenStep, { kind, text }: StepDelta): void => {
  step[kind] += text
}

export const foldFinished = (step: OpenStep, event: Stamped<StepFinished>): void => {
  resume(step)
  step.state = "answered"
  step.worker = event.worker
  step.endedAt = event.at
  step.durationMillis = event.durationMillis
  step.text = event.answer
  step.finishReason = event.finishReason
  if (event.model !== undefined) step.model = event.model
  step.cached = event.cached
  step.paid = paidOf(event)
}

export const foldFailed = (step: OpenStep, event: Stamped<StepFailed>): void => {
  resume(step)
  step.state = "failed"
  step.endedAt = event.at
  step.durationMillis = event.durationMillis
  step.detail = event.message
  if (event.reason !== undefined) step.reason = event.reason
}

export const foldSkipped = (step: OpenStep, { at, reason }: Stamped<StepSkipped>): void => {
  resume(step)
  step.state = "skipped"
  step.endedAt = at
  step.detail = reason
}

export const foldNotice = (step: OpenStep, { notice }: StepNotice): void => {
  step.notices ??= []
  step.notices.push(notice)
}

// -------------------------------------------------------------------------------------------------------------------
// Span
// -------------------------------------------------------------------------------------------------------------------

export const describeStarted = (span: Attributes, { step, worker }: StepStarted): void => {
  span.attribute("gen_ai.operation.name", "invoke_agent")
  span.attribute("gen_ai.agent.name", worker)
  span.attribute("divisi.step", step)
}

/** Describes the call that returned the answer. */
export const describeFinished = (span: Attributes, event: StepFinished, content: boolean): void => {
  setFinishReason(span, event.finishReason)
  if (event.model !== undefined) span.attribute("gen_ai.response.model", event.model)
  if (content) setAnswer(span, event.answer, event.finishReason)
}

/** The attributes of its span event. */
export const attributesOfSkipped = ({ reason, step }: StepSkipped) => ({
  "divisi.step": step,
  "divisi.reason": reason
})

// -------------------------------------------------------------------------------------------------------------------
// Lines
// -------------------------------------------------------------------------------------------------------------------

export const lineOfStarted = (event: StepStarted): string => aboutStep(event, `${event.worker} starts.`)

export const lineOfFinished = (event: StepFinished): string => aboutStep(event, `${event.worker} has answered.`)

export const lineOfFailed = (event: StepFailed): string => aboutStep(event, oneLine(event.message))

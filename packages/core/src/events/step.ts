/**
 * The events `step-started`, `step-delta`, `step-finished`, `step-failed`, `step-skipped` and `step-notice`, which
 * describe one step of a workflow.
 */
import type { Paid } from "../task/Usage.ts"
import type { FinishReason, WorkerErrorReason } from "../task/Worker.ts"
import { type Attributes, setAnswer, setFinishReason } from "./Attributes.ts"
import { aboutStep, oneLine } from "./EventText.ts"
import { type OpenStep, paidOf, resume } from "./OpenRecord.ts"
import { type AnswerSource, authorOf, type Item, type Stamped } from "./RunEvent.ts"

/** Emitted when a step starts, after all steps that it waits for have ended. */
export interface StepStarted {
  readonly type: "step-started"
  readonly round: number
  readonly step: number
  readonly item?: Item
  readonly worker: string
  /**
   * Steps and items in the access list that the step did not wait for, because enough others had answered: `"2"`,
   * `"1[3]"`, or `"1[*]"` for all items of a step whose list is not known.
   */
  readonly without?: ReadonlyArray<string>
}

/** Emitted when the items that a step runs for are known. */
export interface StepUnfolded {
  readonly type: "step-unfolded"
  readonly round: number
  readonly step: number
  /** Set if the items belong to an item of an outer list. */
  readonly item?: Item
  readonly items: number
}

/** Emitted when all items of a step have finished. */
export interface StepJoined {
  readonly type: "step-joined"
  readonly round: number
  readonly step: number
  /** Why the step has no answer. Undefined if at least one item was answered, or if the list was empty. */
  readonly message?: string
}

/** Emitted for each chunk of a step's answer. If the step emits `call-failed`, all earlier chunks must be discarded. */
export interface StepDelta {
  readonly type: "step-delta"
  readonly round: number
  readonly step: number
  readonly item?: Item
  readonly kind: "text" | "reasoning"
  readonly text: string
}

/** Emitted when a step has been answered. */
export interface StepFinished extends Paid, AnswerSource {
  readonly type: "step-finished"
  readonly round: number
  readonly step: number
  readonly item?: Item
  readonly worker: string
  readonly answer: string
  readonly finishReason: FinishReason
  /** Model name reported by the vendor. */
  readonly model?: string
  readonly durationMillis: number
  /** Set if the run was stopped before the step's check was done. The check may fail when the run is resumed. */
  readonly isUnchecked?: true
}

/** Emitted when a step has failed after all retries. */
export interface StepFailed {
  readonly type: "step-failed"
  readonly round: number
  readonly step: number
  readonly item?: Item
  readonly worker: string
  /** Class of the worker's error. Undefined if the step failed for another reason, such as a limit or a nested run. */
  readonly reason?: WorkerErrorReason["_tag"]
  readonly message: string
  readonly durationMillis: number
}

/**
 * Emitted when a step is skipped, because its answer is not used, the budget does not allow it, or the plan was
 * changed. `condition`: the check that it depends on passed, and the checked answer becomes this step's answer. `late`:
 * the steps that use it had enough answers without it; if it was running, it was stopped.
 */
export interface StepSkipped {
  readonly type: "step-skipped"
  readonly round: number
  readonly step: number
  readonly item?: Item
  readonly worker: string
  readonly reason: "unseen" | "budget" | "revised" | "condition" | "late"
}

/** Emitted when content or a setting was not sent to a step's worker, because the worker does not support it. */
export interface StepNotice {
  readonly type: "step-notice"
  readonly round: number
  readonly step: number
  readonly item?: Item
  readonly worker: string
  readonly notice: string
}

// -------------------------------------------------------------------------------------------------------------------
// Fold
// -------------------------------------------------------------------------------------------------------------------

export const foldStarted = (step: OpenStep, { at, without }: Stamped<StepStarted>): void => {
  step.state = "running"
  step.startedAt = at
  if (without !== undefined) step.without = without
}

export const foldUnfolded = (step: OpenStep, { at, items }: Stamped<StepUnfolded>): void => {
  if (step.state === "waiting") {
    step.state = "running"
    step.startedAt = at
  }
  step.unfolded = (step.unfolded ?? 0) + items
}

export const foldJoined = (step: OpenStep, { at, message }: Stamped<StepJoined>): void => {
  step.state = message === undefined ? "answered" : "failed"
  step.startedAt ??= at
  step.endedAt = at
  step.durationMillis = at - step.startedAt
  if (message !== undefined) step.detail = message
}

export const foldDelta = (step: OpenStep, { kind, text }: StepDelta): void => {
  step[kind] += text
}

export const foldFinished = (step: OpenStep, event: Stamped<StepFinished>): void => {
  resume(step)
  // A late step that was answered before its check was stopped remains late: it was paid for but is not used.
  if (step.state !== "skipped") step.state = "answered"
  step.worker = event.worker
  step.endedAt = event.at
  step.durationMillis = event.durationMillis
  step.text = event.answer
  step.finishReason = event.finishReason
  if (event.model !== undefined) step.model = event.model
  step.cached = event.cached
  if (event.origin !== undefined) step.origin = event.origin
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

export const describeStarted = (span: Attributes, { item, step, worker }: StepStarted): void => {
  span.attribute("gen_ai.operation.name", "invoke_agent")
  span.attribute("gen_ai.agent.name", worker)
  span.attribute("divisi.step", step)
  if (item !== undefined) span.attribute("divisi.item", item)
}

/** Sets the attributes of the step's span. */
export const describeOrigin = (span: Attributes, { origin }: StepFinished): void => {
  if (origin !== undefined) span.attribute("divisi.origin", origin)
}

/** Sets the span attributes for the call that returned the answer. */
export const describeFinished = (span: Attributes, event: StepFinished, content: boolean): void => {
  setFinishReason(span, event.finishReason)
  if (event.model !== undefined) span.attribute("gen_ai.response.model", event.model)
  if (content) setAnswer(span, event.answer, event.finishReason)
}

/** Returns the attributes of the span event. */
export const attributesOfSkipped = ({ reason, step }: StepSkipped) => ({
  "divisi.step": step,
  "divisi.reason": reason
})

// -------------------------------------------------------------------------------------------------------------------
// Lines
// -------------------------------------------------------------------------------------------------------------------

/** Returns the attributes of the span event. */
export const attributesOfUnfolded = ({ items, step }: StepUnfolded) => ({ "divisi.step": step, "divisi.items": items })

/** Returns the attributes of the span event for an item without a span. */
export const attributesOfItem = ({ durationMillis, item, step, ...event }: StepFinished | StepFailed) => ({
  "divisi.step": step,
  "divisi.item": item,
  "gen_ai.agent.name": authorOf(event),
  "divisi.duration_ms": durationMillis
})

/** Returns the attributes of the span event. */
export const attributesOfJoined = ({ step }: StepJoined) => ({ "divisi.step": step })

export const lineOfUnfolded = (event: StepUnfolded): string =>
  aboutStep(event, event.items === 1 ? "1 item." : `${event.items} items.`)

export const lineOfJoined = (event: StepJoined): string =>
  aboutStep(event, event.message === undefined ? "all items have ended." : oneLine(event.message))

export const lineOfStarted = (event: StepStarted): string => aboutStep(event, `${event.worker} starts.`)

export const lineOfFinished = (event: StepFinished): string => aboutStep(event, `${authorOf(event)} has answered.`)

export const lineOfFailed = (event: StepFailed): string => aboutStep(event, oneLine(event.message))

/** The events `check-answered` and `step-checked`: a check on a step's answer. */
import { defined } from "../Fields.ts"
import type { Paid } from "../task/Usage.ts"
import type { Attributes } from "./Attributes.ts"
import { aboutStep } from "./EventText.ts"
import { type OpenStep, paidOf } from "./OpenRecord.ts"
import type { AnswerSource, Item, Stamped } from "./RunEvent.ts"

/** Emitted when a worker called by a step's check has answered. The step continues until the check is done. */
export interface CheckAnswered extends Paid, AnswerSource {
  readonly type: "check-answered"
  readonly round: number
  readonly step: number
  readonly item?: Item
  /** Zero-based index among the calls made by the step's checks. */
  readonly turn: number
  readonly check: string
  readonly worker: string
  readonly text: string
  /** Digest of the request. Set if the step's checks had other calls in flight when this one started. */
  readonly request?: string
}

/**
 * Emitted when a step's answer has been checked. If another worker takes over the step, its answer is checked as well.
 */
export interface StepChecked {
  readonly type: "step-checked"
  readonly round: number
  readonly step: number
  readonly item?: Item
  /** Zero-based index of the check within the step. */
  readonly turn: number
  readonly check: string
  /** The worker whose answer was checked. */
  readonly worker: string
  readonly passed: boolean
  readonly objection?: string
  /** Set if the check itself failed, so that the answer was not checked. A resumed run repeats such a check. */
  readonly couldNotRun?: true
  readonly durationMillis: number
}

export const foldAnswered = (step: OpenStep, event: Stamped<CheckAnswered>): void => {
  const { at, cached, check, origin, request, text, turn, worker } = event
  step.checkAnswers ??= []
  step.checkAnswers.push({ ...defined({ turn, at, check, worker, text, cached, origin, request }), ...paidOf(event) })
}

export const foldChecked = (step: OpenStep, event: Stamped<StepChecked>): void => {
  const { at, check, couldNotRun, durationMillis, objection, passed, turn, worker } = event
  step.checks ??= []
  step.checks.push(defined({ turn, at, check, worker, passed, objection, couldNotRun, durationMillis }))
}

/** Sets the attributes on the span of the check's call. */
export const describeAnswered = (span: Attributes, { check }: CheckAnswered): void =>
  span.attribute("divisi.check", check)

/** Sets the attributes on the evaluation's span. */
export const describeChecked = (span: Attributes, event: StepChecked, content: boolean): void => {
  const { check, couldNotRun, objection, passed } = event
  span.attribute("gen_ai.evaluation.name", check)
  span.attribute("gen_ai.evaluation.score.label", passed ? "pass" : couldNotRun ? "error" : "fail")
  if (content && objection !== undefined) span.attribute("gen_ai.evaluation.explanation", objection)
}

export const lineOfChecked = (event: StepChecked): string => {
  const { check, couldNotRun, passed, worker } = event
  const verdict = passed ? "passes the check" : couldNotRun ? "was not checked by" : "fails the check"
  return aboutStep(event, `${worker} ${verdict} ${check}.`)
}

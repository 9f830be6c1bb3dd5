/** `check-answered` and `step-checked`: a check of a step's answer. */
import { defined } from "../Fields.ts"
import type { Paid } from "../task/Usage.ts"
import type { Attributes } from "./Attributes.ts"
import { aboutStep } from "./EventText.ts"
import { type OpenStep, paidOf } from "./OpenRecord.ts"
import type { Item, Stamped } from "./RunEvent.ts"

/** A worker that a step's check called has answered. The step continues until the check is done. */
export interface CheckAnswered extends Paid {
  readonly type: "check-answered"
  readonly round: number
  readonly step: number
  readonly item?: Item
  /** The index of this call among the calls of the step's checks, from 0. */
  readonly turn: number
  readonly check: string
  readonly worker: string
  readonly text: string
  readonly cached: boolean
  /** A digest of the request; present if other calls of the step's checks were in flight when it started. */
  readonly request?: string
}

/** The result of a check. If another worker takes over the step, its answer is checked too. */
export interface StepChecked {
  readonly type: "step-checked"
  readonly round: number
  readonly step: number
  readonly item?: Item
  /** The index of this check within the step, from 0. */
  readonly turn: number
  readonly check: string
  /** The worker whose answer was checked. */
  readonly worker: string
  readonly passed: boolean
  readonly objection?: string
  readonly durationMillis: number
}

export const foldAnswered = (step: OpenStep, event: Stamped<CheckAnswered>): void => {
  const { at, cached, check, request, text, turn, worker } = event
  step.checkAnswers ??= []
  step.checkAnswers.push({ ...defined({ turn, at, check, worker, text, cached, request }), ...paidOf(event) })
}

export const foldChecked = (step: OpenStep, event: Stamped<StepChecked>): void => {
  const { at, check, durationMillis, objection, passed, turn, worker } = event
  step.checks ??= []
  step.checks.push(defined({ turn, at, check, worker, passed, objection, durationMillis }))
}

/** Writes the attributes of the span of the check's call. */
export const describeAnswered = (span: Attributes, { check }: CheckAnswered): void =>
  span.attribute("divisi.check", check)

/** Writes the attributes of the evaluation's span. */
export const describeChecked = (span: Attributes, event: StepChecked, content: boolean): void => {
  const { check, objection, passed } = event
  span.attribute("gen_ai.evaluation.name", check)
  span.attribute("gen_ai.evaluation.score.label", passed ? "pass" : "fail")
  if (content && objection !== undefined) span.attribute("gen_ai.evaluation.explanation", objection)
}

export const lineOfChecked = (event: StepChecked): string =>
  aboutStep(event, `${event.worker} ${event.passed ? "passes" : "fails"} the check ${event.check}.`)

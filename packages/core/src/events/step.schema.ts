/** Schemas for the events of a step. */
import * as Schema from "effect/Schema"
import { answerSource, FinishReason, paid, WorkerErrorTag } from "./schemas/calls.ts"
import { delta, event, inRound, inStep } from "./schemas/eventFields.ts"

const ofWorker = { ...inStep, worker: Schema.String }

export const StepStarted = event("step-started", "A step starts, because all steps that it waits for are finished.", {
  ...ofWorker,
  without: Schema.optionalKey(Schema.Array(Schema.String))
})

export const StepUnfolded = event("step-unfolded", "The items that a step runs for are known.", {
  ...inStep,
  items: Schema.Int
})

export const StepJoined = event("step-joined", "All items of a step are finished.", {
  ...inRound,
  step: Schema.Int,
  message: Schema.optionalKey(Schema.String)
})

export const StepDelta = event(
  "step-delta",
  "Part of a step's answer has arrived. Discard the parts before a `call-failed` of the same step. Journals do not store it.",
  { ...inStep, ...delta }
)

export const StepFinished = event("step-finished", "A step has been answered.", {
  ...ofWorker,
  answer: Schema.String,
  finishReason: FinishReason,
  model: Schema.optionalKey(Schema.String),
  durationMillis: Schema.Finite,
  ...answerSource,
  isUnchecked: Schema.optionalKey(Schema.Literal(true)),
  ...paid
})

export const StepFailed = event("step-failed", "A step has failed permanently.", {
  ...ofWorker,
  reason: Schema.optionalKey(WorkerErrorTag),
  message: Schema.String,
  durationMillis: Schema.Finite
})

export const StepSkipped = event(
  "step-skipped",
  "A step is skipped: no step reads its answer, the budget does not allow it, the plan was changed, its condition is not met, or enough other steps have answered.",
  { ...ofWorker, reason: Schema.Literals(["unseen", "budget", "revised", "condition", "late"]) }
)

export const StepNotice = event(
  "step-notice",
  "The step's worker does not support part of the request. That part was left out or mapped.",
  { ...ofWorker, notice: Schema.String }
)

/** Schemas for the events of checks. */
import * as Schema from "effect/Schema"
import { answerSource, paid } from "./schemas/calls.ts"
import { event, inTurn } from "./schemas/eventFields.ts"

const ofCheck = { ...inTurn, check: Schema.String, worker: Schema.String }

export const CheckAnswered = event(
  "check-answered",
  "A worker has answered a step's check. The step continues until the check is done.",
  {
    ...ofCheck,
    text: Schema.String,
    ...answerSource,
    request: Schema.optionalKey(Schema.String),
    ...paid
  }
)

export const StepChecked = event("step-checked", "A check has accepted or rejected the answer of a step.", {
  ...ofCheck,
  passed: Schema.Boolean,
  objection: Schema.optionalKey(Schema.String),
  couldNotRun: Schema.optionalKey(Schema.Literal(true)),
  durationMillis: Schema.Finite
})

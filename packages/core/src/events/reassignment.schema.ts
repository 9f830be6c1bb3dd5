/** Schema for `step-reassigned`. */
import * as Schema from "effect/Schema"
import { WorkerErrorTag } from "./schemas/calls.ts"
import { event, inStep } from "./schemas/eventFields.ts"

export const StepReassigned = event(
  "step-reassigned",
  "Another worker takes over a step. Discard the text streamed so far.",
  {
    ...inStep,
    from: Schema.String,
    to: Schema.String,
    reason: Schema.optionalKey(WorkerErrorTag),
    message: Schema.optionalKey(Schema.String)
  }
)

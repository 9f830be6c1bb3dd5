/** Schema for `step-waiting`. */
import * as Schema from "effect/Schema"
import type * as RunEventModels from "./RunEvent.ts"
import { event, inStep } from "./schemas/eventFields.ts"
import { schemaOf } from "./schemas/schemaOf.ts"
import { ToolCall } from "./schemas/tasks.ts"

/** Schema for a pending tool call. */
export const WaitingCall = schemaOf<RunEventModels.WaitingCall>()(
  Schema.Struct({
    id: Schema.String,
    round: Schema.Int,
    step: Schema.Int,
    item: Schema.optionalKey(Schema.String),
    worker: Schema.String,
    for: Schema.Literals(["result", "approval", "plan"]),
    call: ToolCall
  })
)

export const StepWaiting = event(
  "step-waiting",
  "A step is suspended until the caller supplies the results of these tool calls, or approves them. The other steps continue.",
  { ...inStep, worker: Schema.String, calls: Schema.Array(WaitingCall) }
)

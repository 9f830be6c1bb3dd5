/** Schemas for the events of calls without an answer. */
import * as Schema from "effect/Schema"
import { paid, WorkerErrorReason } from "./schemas/calls.ts"
import { event, ofCall } from "./schemas/eventFields.ts"

export const CallFailed = event(
  "call-failed",
  "A call has failed. `retryInMillis` is present if the same worker is tried again.",
  {
    ...ofCall,
    attempt: Schema.Int,
    reason: WorkerErrorReason,
    message: Schema.String,
    retryInMillis: Schema.optionalKey(Schema.Finite),
    unasked: Schema.optionalKey(Schema.Literal(true)),
    ...paid
  }
)

export const CallInterrupted = event(
  "call-interrupted",
  "A call was stopped before it finished: the run was interrupted, ended, or ran out of time.",
  { ...ofCall, ...paid }
)

export const CallLost = event(
  "call-lost",
  "The process that made a call exited before the answer arrived. The call is charged at its worst-case cost.",
  { ...ofCall, ...paid }
)

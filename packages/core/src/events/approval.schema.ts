/** The schemas of `plan-waiting` and `plan-decided`. */
import * as Schema from "effect/Schema"
import { event, inRound } from "./schemas/eventFields.ts"
import { WaitingCall } from "./suspension.schema.ts"

export const PlanWaiting = event(
  "plan-waiting",
  "The plan of the round waits for approval, with its price. No step of it has begun.",
  { ...inRound, call: WaitingCall }
)

export const planDecision = Schema.Literals(["approved", "refused", "edited"])

export const PlanDecided = event("plan-decided", "A person approved, refused or replaced the plan of the round.", {
  ...inRound,
  decision: planDecision,
  reason: Schema.optionalKey(Schema.String)
})

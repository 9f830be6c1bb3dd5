/** Schemas for `plan-waiting` and `plan-decided`. */
import * as Schema from "effect/Schema"
import { event, inRound } from "./schemas/eventFields.ts"
import { WaitingCall } from "./suspension.schema.ts"

export const PlanWaiting = event(
  "plan-waiting",
  "The round's plan waits for approval. The event contains its price. No step has started.",
  { ...inRound, call: WaitingCall }
)

export const planDecision = Schema.Literals(["approved", "refused", "edited"])

export const PlanDecided = event("plan-decided", "A person approved, refused or replaced the round's plan.", {
  ...inRound,
  decision: planDecision,
  reason: Schema.optionalKey(Schema.String),
  text: Schema.optionalKey(Schema.String)
})

/** Schemas for `round-started` and `round-finished`. */
import * as Schema from "effect/Schema"
import { event, inRound } from "./schemas/eventFields.ts"

export const RoundStarted = event("round-started", "A round starts, and the policy is asked for a workflow.", inRound)

export const RoundFinished = event("round-finished", "A round has ended.", {
  ...inRound,
  answer: Schema.optionalKey(Schema.String),
  confirmed: Schema.Boolean
})

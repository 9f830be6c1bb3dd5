/** Schema for `round-revised`. */
import * as Schema from "effect/Schema"
import { event, inRound } from "./schemas/eventFields.ts"
import { EarlierStep } from "./schemas/tasks.ts"

export const RoundRevised = event(
  "round-revised",
  "Answers have failed their checks, and the policy has decided to continue, to stop with an answer, or to plan again.",
  {
    ...inRound,
    index: Schema.Int,
    policy: Schema.String,
    decision: Schema.Literals(["go-on", "stop", "re-plan"]),
    answer: Schema.optionalKey(EarlierStep),
    notes: Schema.Array(Schema.String),
    durationMillis: Schema.Finite
  }
)

/** Schema for `workflow-proposed`. */
import * as Schema from "effect/Schema"
import { event, inRound } from "./schemas/eventFields.ts"
import { Workflow } from "./schemas/tasks.ts"

export const WorkflowProposed = event("workflow-proposed", "The policy has planned the round, whose steps follow.", {
  ...inRound,
  policy: Schema.String,
  workflow: Workflow,
  answer: Schema.optionalKey(Schema.String),
  isLast: Schema.optionalKey(Schema.Boolean),
  notes: Schema.Array(Schema.String),
  probability: Schema.optionalKey(Schema.Finite),
  durationMillis: Schema.Finite
})

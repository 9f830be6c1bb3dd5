/** Schema for `turn-finished`. */
import * as Schema from "effect/Schema"
import { answerSource, paid } from "./schemas/calls.ts"
import { event, inTurn } from "./schemas/eventFields.ts"
import { ToolCall } from "./schemas/tasks.ts"

export const TurnFinished = event(
  "turn-finished",
  "The worker of a step has answered, and the step continues: the worker requested tools, or `error` says what is wrong with its answer.",
  {
    ...inTurn,
    worker: Schema.String,
    text: Schema.String,
    toolCalls: Schema.Array(ToolCall),
    echo: Schema.optionalKey(Schema.Unknown),
    error: Schema.optionalKey(Schema.String),
    durationMillis: Schema.Finite,
    ...answerSource,
    ...paid
  }
)

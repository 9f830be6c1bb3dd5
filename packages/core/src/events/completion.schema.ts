/** Schemas for the events of completions. */
import * as Schema from "effect/Schema"
import { answerSource, FinishReason, paid } from "./schemas/calls.ts"
import { delta, event, inRound } from "./schemas/eventFields.ts"
import { ToolCall } from "./schemas/tasks.ts"

const inAttempt = { ...inRound, attempt: Schema.Int }

export const CompletionDelta = event(
  "completion-delta",
  "The model of a language policy has written part of its completion. Journals do not store it.",
  { ...inAttempt, ...delta }
)

export const CompletionFinished = event(
  "completion-finished",
  "A completion is finished. `error` gives the reason if it is not a valid workflow.",
  {
    ...inAttempt,
    completion: Schema.String,
    toolCalls: Schema.optionalKey(Schema.Array(ToolCall)),
    finishReason: Schema.optionalKey(FinishReason),
    echo: Schema.optionalKey(Schema.Unknown),
    error: Schema.optionalKey(Schema.String),
    ...answerSource,
    request: Schema.optionalKey(Schema.String),
    ...paid
  }
)

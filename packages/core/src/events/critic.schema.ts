/** Schemas for the events of critics. */
import * as Schema from "effect/Schema"
import { answerSource, Grade, paid } from "./schemas/calls.ts"
import { event, inRound } from "./schemas/eventFields.ts"

const ofCritic = { ...inRound, critic: Schema.String }

export const CriticAnswered = event("critic-answered", "A worker has answered a critic.", {
  ...ofCritic,
  worker: Schema.String,
  text: Schema.String,
  ...answerSource,
  turn: Schema.optionalKey(Schema.Int),
  request: Schema.optionalKey(Schema.String),
  ...paid
})

export const AnswerGraded = event("answer-graded", "A critic has scored the answer of a round.", {
  ...ofCritic,
  grade: Grade
})

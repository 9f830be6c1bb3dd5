/** Fields shared by the event schemas. */
import * as Schema from "effect/Schema"
import { attempt } from "./calls.ts"

/**
 * Creates the schema for an event. `description` explains when the event is emitted and is shown on the reference page.
 */
export const event = <Type extends string, Fields extends Schema.Struct.Fields>(
  type: Type,
  description: string,
  fields: Fields
) =>
  Schema.Struct({ type: Schema.Literal(type), runId: Schema.String, at: Schema.Finite, ...fields }).annotate({
    description
  })

export const inRound = { round: Schema.Int }
export const inStep = { ...inRound, step: Schema.Int, item: Schema.optionalKey(Schema.String) }
export const inTurn = { ...inStep, turn: Schema.Int }

/** Fields for a chunk of text. */
export const delta = { kind: Schema.Literals(["text", "reasoning"]), text: Schema.String }

/** Fields that identify a call made by a step, a check, the policy or a critic. */
export const ofCall = {
  ...inRound,
  step: Schema.optionalKey(Schema.Int),
  item: Schema.optionalKey(Schema.String),
  turn: Schema.optionalKey(Schema.Int),
  by: Schema.optionalKey(Schema.Literals(["check", "critic"])),
  worker: Schema.String,
  ...attempt
}

/**
 * The built-in Conductors. If progress is displayed, the model is loaded with the first plan, after the view has
 * started.
 */
import type { Policy } from "@divisi/core/Policy"
import { ReadingPolicy, reading, TinyConductor, tiny } from "@divisi/policy-tiny"
import * as Effect from "effect/Effect"
import { type Failure, failed } from "../invocation/Failure.ts"

const loaded = (policy: Effect.Effect<Policy, { readonly message: string }>): Effect.Effect<Policy, Failure> =>
  Effect.mapError(policy, ({ message }) => failed(`Cannot load the Conductor. ${message}`))

/** Creates the Conductor that reads descriptions of the workers. */
export const make = (areNotesShown: boolean): Effect.Effect<Policy, Failure> => {
  const name = "conductor"
  return areNotesShown
    ? Effect.succeed(reading({ name }))
    : loaded(Effect.map(ReadingPolicy.load(), (model) => ReadingPolicy.make(model, { name })))
}

/** Creates the Conductor trained on the gym's workers, which needs no descriptions. */
export const makeTiny = (areNotesShown: boolean): Effect.Effect<Policy, Failure> => {
  const name = "tiny"
  return areNotesShown ? Effect.succeed(tiny({ name })) : loaded(TinyConductor.policy({ name }))
}

/**
 * The built-in Conductors. If plans are shown, they load their model with the first plan, when the run is already on
 * the screen.
 */
import type { Policy } from "@divisi/core/Policy"
import { ReadingPolicy, reading, TinyConductor, tiny } from "@divisi/policy-tiny"
import * as Effect from "effect/Effect"
import { type Failure, failed } from "../invocation/Failure.ts"

const loaded = (policy: Effect.Effect<Policy, { readonly message: string }>): Effect.Effect<Policy, Failure> =>
  Effect.mapError(policy, ({ message }) => failed(`The Conductor cannot plan. ${message}`))

/** The one that reads who is on the team, where the notes of plans are shown or where they are not. */
export const make = (areNotesShown: boolean): Effect.Effect<Policy, Failure> => {
  const name = "conductor"
  return areNotesShown
    ? Effect.succeed(reading({ name }))
    : loaded(Effect.map(ReadingPolicy.load(), (model) => ReadingPolicy.make(model, { name })))
}

/** The one that knows the gym's workers by heart. */
export const makeTiny = (areNotesShown: boolean): Effect.Effect<Policy, Failure> => {
  const name = "tiny"
  return areNotesShown ? Effect.succeed(tiny({ name })) : loaded(TinyConductor.policy({ name }))
}

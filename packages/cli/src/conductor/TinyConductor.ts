/**
 * The tiny Conductors as the command line uses them. Where plans are shown, they read their model with the first of them,
 * when the run is on the screen already.
 */
import type { Policy } from "@divisi/core/Policy"
import { ReadingPolicy, reading, TinyConductor, tiny } from "@divisi/policy-tiny"
import * as Effect from "effect/Effect"
import { type Failure, failed } from "../invocation/Failure.ts"

const name = "conductor"

const loaded = (policy: Effect.Effect<Policy, { readonly message: string }>): Effect.Effect<Policy, Failure> =>
  Effect.mapError(policy, ({ message }) => failed(`The tiny Conductor cannot plan. ${message}`))

/** The policy for the gym, where the notes of plans are shown or where they are not. */
export const make = (areNotesShown: boolean): Effect.Effect<Policy, Failure> =>
  areNotesShown ? Effect.succeed(tiny({ name })) : loaded(TinyConductor.policy({ name }))

/** The one that reads who is on the team. */
export const makeReading = (areNotesShown: boolean): Effect.Effect<Policy, Failure> =>
  areNotesShown
    ? Effect.succeed(reading())
    : loaded(Effect.map(ReadingPolicy.load(), (model) => ReadingPolicy.make(model)))

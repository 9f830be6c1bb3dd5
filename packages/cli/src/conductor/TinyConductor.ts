/**
 * The tiny Conductor as the command line uses it. Where plans are shown, it reads its model with the first of them, when
 * the run is on the screen already.
 */
import type { Policy } from "@divisi/core/Policy"
import { TinyConductor, tiny } from "@divisi/policy-tiny"
import * as Effect from "effect/Effect"
import { type Failure, failed } from "../invocation/Failure.ts"

const name = "conductor"

/** The policy, where the notes of plans are shown or where they are not. */
export const make = (areNotesShown: boolean): Effect.Effect<Policy, Failure> =>
  areNotesShown
    ? Effect.succeed(tiny({ name }))
    : Effect.mapError(TinyConductor.policy({ name }), ({ message }) =>
        failed(`The tiny Conductor cannot plan. ${message}`)
      )

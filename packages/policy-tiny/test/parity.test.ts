import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { hold } from "./parity.ts"

/** Loading llama.cpp alone takes seconds on a busy machine. */
const patience = 120_000

describe("the model in plain TypeScript", () => {
  it.live("writes what llama.cpp writes, with its probabilities", () => Effect.scoped(hold(6, 1)), patience)
})

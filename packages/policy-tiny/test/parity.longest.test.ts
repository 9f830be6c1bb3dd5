import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { hold } from "./parity.ts"

/** Some seconds of computing for each task, where everything else on the machine computes, too. */
const patience = 1_200_000

describe("the model in plain TypeScript", () => {
  it.live(
    "writes what llama.cpp writes for two hundred tasks, with its probabilities",
    () => Effect.scoped(hold(200, 20)),
    patience
  )
})

import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { hold } from "./parity.ts"

/** How many; the figure of the docs is that of `DIVISI_PARITY_TASKS=200 npm run test:long -- parity`. */
const tasks = Number(process.env.DIVISI_PARITY_TASKS ?? 50)

/** Some seconds of computing for each task, where everything else on the machine computes, too. */
const patience = 1_200_000

describe("the model in plain TypeScript", () => {
  it.live(
    `writes what llama.cpp writes for ${tasks} tasks, with its probabilities`,
    () => Effect.scoped(hold(tasks, Math.ceil(tasks / 10))),
    patience
  )
})

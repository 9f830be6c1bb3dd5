/**
 * No program makes its own verdict, takes itself out of the mean, or stops the evaluation: every attack in Bubblewrap and
 * every third in Pyodide, where each takes seconds, on one stage each; all of them on all stages in both where
 * `DIVISI_ATTACKS` is `all`, which takes a quarter of an hour.
 */

import type { Sandbox } from "@divisi/graders"
import { CodeGrader } from "@divisi/graders/code"
import { BubblewrapSandbox, PyodideSandbox } from "@divisi/graders/sandboxes"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { hasBubblewrap } from "./atHand.ts"
import { known, more, stages } from "./attacks.ts"

const scope = Scope.makeUnsafe()
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const sandboxes = [
  { name: "pyodide", make: PyodideSandbox.make(), isHere: true, oneOf: 3 },
  { name: "bubblewrap (needs bwrap and python3)", make: BubblewrapSandbox.make(), isHere: hasBubblewrap, oneOf: 1 }
]

for (const { isHere, make, name, oneOf } of sandboxes) {
  describe.skipIf(!isHere)(`in ${name}`, () => {
    let graders: { readonly [Name in "liveCodeBench" | "bigCodeBench"]: ReturnType<typeof CodeGrader.bigCodeBench> }
    beforeAll(async () => {
      const sandbox: Sandbox.Sandbox = await Effect.runPromise(Scope.provide(make, scope))
      graders = {
        liveCodeBench: CodeGrader.liveCodeBench(sandbox, { timeoutMillis: 10_000 }),
        bigCodeBench: CodeGrader.bigCodeBench(sandbox, { timeoutMillis: 20_000 })
      }
    })
    for (const [place, stage] of stages.entries()) {
      describe(stage.name, () => {
        const isHere = (index: number) =>
          process.env.DIVISI_ATTACKS === "all" ||
          (index % stages.length === place && Math.floor(index / stages.length) % oneOf === 0)
        for (const attack of [...known, ...more].filter((_, index) => isHere(index))) {
          it(`a verdict, and no credit, when ${attack.name}`, async () => {
            const verdict = await Effect.runPromise(graders[stage.grader].grade(stage.task, stage.answer(attack)))
            assert.isFalse(verdict.correct, verdict.explanation)
          })
        }
        it("credit for the right program after all that", async () => {
          const right = stage.answer({ name: "right", body: "return 2 * x" }).replaceAll("return 0", "return 2 * x")
          const answer = stage.name === "called" ? right.replaceAll("2 * x", "[2 * x]") : right
          const verdict = await Effect.runPromise(graders[stage.grader].grade(stage.task, answer))
          assert.isTrue(verdict.correct, verdict.explanation)
        })
      })
    }
  })
}

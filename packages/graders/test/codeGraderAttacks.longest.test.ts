/** Programs that attack their grader on each of its stages; all of them, in every sandbox: attacks.long.test.ts. */

import type { Sandbox } from "@divisi/graders"
import { CodeGrader } from "@divisi/graders/code"
import { PyodideSandbox } from "@divisi/graders/sandboxes"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { known, more, stages } from "./attacks.ts"
import { calling, fenced } from "./programs.ts"

const scope = Scope.makeUnsafe()
let sandbox: Sandbox.Sandbox
let bigCodeBench: ReturnType<typeof CodeGrader.bigCodeBench>
beforeAll(async () => {
  sandbox = await Effect.runPromise(Scope.provide(PyodideSandbox.make(), scope))
  bigCodeBench = CodeGrader.bigCodeBench(sandbox, { timeoutMillis: 20_000 })
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromise(effect)

describe("a program that attacks", () => {
  const short = new Set([
    "assertEqual is replaced for one call",
    "an exit handler writes a report with words from frames",
    "the driver's closures have other code",
    "a number equals everything",
    "numpy is missing, it raises",
    "a reply with numbers for text"
  ])
  const attacks = [...known, ...more].filter(({ name }) => short.has(name))

  it.each([stages[2]!, stages[4]!])("gets a verdict and no credit from $name", async ({ answer, task }) => {
    assert.lengthOf(attacks, short.size)
    for (const attack of attacks) {
      assert.isFalse((await run(bigCodeBench.grade(task, answer(attack)))).correct, attack.name)
    }
  })

  it.each(stages.slice(0, 2))("gets a verdict and no credit from what is $name", async ({ answer, task }) => {
    const grader = CodeGrader.liveCodeBench(sandbox)
    for (const attack of attacks.slice(-2)) {
      assert.isFalse((await run(grader.grade(task, answer(attack)))).correct, attack.name)
    }
  })

  it("may write what it likes where its result is expected", async () => {
    const shapes = [
      '["i", 5]',
      '["i", "zz"]',
      '["d", [[1]]]',
      '{"a": 1}',
      '["l", "abc"]',
      '["q", "1", "0"]',
      "NaN",
      "[".repeat(100_000)
    ]
    const grader = CodeGrader.liveCodeBench(sandbox, { timeoutMillis: 10_000 / PyodideSandbox.slowdown })
    for (const shape of shapes) {
      const code = `import os, sys\ndef f(x):\n  frame = sys._getframe(1)\n  marker = frame.f_locals['marker']\n  os.write(1, (marker + ${JSON.stringify(shape)} + '\\n').encode())\n  os._exit(0)`
      assert.deepInclude(
        await run(grader.grade(calling("f", ["1", "2"]), fenced(code))),
        { correct: false, rung: "runtime-error" },
        shape
      )
    }
  })
})

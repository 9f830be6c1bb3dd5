/** Programs of the data sets' own records, graded by the graders that their benchmarks name. */
import path from "node:path"
import { Benchmarks, BigCodeBenchHard, LiveCodeBench } from "@divisi/evals"
import * as Benchmark from "@divisi/evals/Benchmark"
import { Graders, type Sandbox } from "@divisi/graders"
import { BigCodeBenchProblem, LiveCodeBenchProblem } from "@divisi/graders/code"
import { PyodideSandbox } from "@divisi/graders/sandboxes"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"

// Every program gets a process, which takes a while on a busy machine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const scope = Scope.makeUnsafe()
let sandbox: Sandbox.Sandbox
beforeAll(async () => {
  sandbox = await Effect.runPromise(Scope.provide(PyodideSandbox.make(), scope))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const fenced = (code: string) => `Here it is:\n\`\`\`python\n${code}\n\`\`\`\nThat is all.`
const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromise(effect)

describe("LiveCodeBench", () => {
  it("runs the private tests of the data set's own records, pickled ones, too", async () => {
    const file = path.join(import.meta.dirname, "fixtures", "livecodebench.jsonl")
    const { tasks } = await run(Benchmark.load(LiveCodeBench.make(), { files: [file] }))
    const grader = Benchmarks.named("livecodebench-v1", { sandbox })!.grader
    const [sum, twice] = [tasks[0]!, tasks[1]!]
    const count = Result.getOrThrow(LiveCodeBenchProblem.tests(sum)).length
    assert.isAbove(count, 1)
    const right = await run(grader.grade(sum, fenced("print(sum(map(int, input().split())))")))
    assert.strictEqual(right.explanation, `all ${count} tests pass`)
    assert.isFalse((await run(grader.grade(sum, fenced("print(5)")))).correct)
    const method = (body: string) =>
      fenced(`class Solution:\n    def twice(self, number: int) -> int:\n        ${body}`)
    assert.isTrue((await run(grader.grade(twice, method("return 2 * number")))).correct)
    assert.isFalse((await run(grader.grade(twice, method("return 8")))).correct)
  })
})

describe("BigCodeBench", () => {
  const data = process.env.DIVISI_EVALS_DATA
  /** Those whose libraries are Python's own, of the version that runs here, and that need neither process nor socket. */
  const ownLibraries = [
    13, 19, 147, 310, 326, 368, 454, 592, 594, 720, 765, 771, 777, 800, 854, 857, 906, 928, 963, 988, 990, 998, 999,
    1039, 1042
  ]

  it.skipIf(data === undefined)(
    "passes canonical solutions whose libraries are present, and fails broken ones (needs DIVISI_EVALS_DATA)",
    async () => {
      const file = path.join(data!, "bigcodebench_hard.v0.1.4.jsonl")
      const { tasks } = await run(Benchmark.load(BigCodeBenchHard.make(), { files: [file] }))
      const grader = Graders.named("bigcodebench", sandbox)!
      for (const number of ownLibraries) {
        const task = tasks.find(({ id }) => id === `bigcodebench-hard/${number}`)!
        const { canonicalSolution, prompt } = BigCodeBenchProblem.ofTask(task)!
        const verdict = await run(grader.grade(task, fenced(`${prompt}\n${canonicalSolution}`)))
        assert.isTrue(verdict.correct, `${task.id}: ${verdict.explanation}`)
        const broken = await run(grader.grade(task, fenced(`${prompt}\n    return None\n`)))
        assert.isFalse(broken.correct, task.id)
      }
    }
  )
})

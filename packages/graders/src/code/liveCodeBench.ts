/** Grades programs like LiveCodeBench: runs the program on each test and compares its output. */
import { randomUUID } from "node:crypto"
import { Grader, Options as Tables } from "@divisi/core"
import type { Task } from "@divisi/core/Task"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Sandbox from "../sandbox/Sandbox.ts"
import * as Verdict from "../Verdict.ts"
import * as Called from "./called.ts"
import { brokenOff, type Finding, type Options, optionsTable } from "./execution.ts"
import * as LiveCodeBenchProblem from "./LiveCodeBenchProblem.ts"
import * as PythonValue from "./PythonValue.ts"
import { prelude } from "./prelude.ts"
import * as Printed from "./printed.ts"
import { blocks, candidates, chooser } from "./programText.ts"

const passed: Finding = { passed: true, rung: "tests", explanation: "passes" }

const wrong: Finding = { passed: false, rung: "wrong-answer", explanation: "gives another result" }

/** A set of tests: the program that runs one test per input, and how to evaluate each execution. */
interface Suite {
  readonly program: Sandbox.Program
  readonly find: (execution: Sandbox.Execution, index: number) => Finding
}

const printedSuite = (code: string, prelude: string, tests: ReadonlyArray<LiveCodeBenchProblem.Test>): Suite => ({
  program: { code, prelude, inputs: tests.map(({ input }) => input) },
  find: (execution, index) =>
    brokenOff(execution) ??
    (execution.type === "finished" && Printed.isSame(execution.stdout, tests[index]!.output) ? passed : wrong)
})

const calledSuite = (
  code: string,
  prelude: string,
  name: string,
  tests: ReadonlyArray<LiveCodeBenchProblem.Test>
): Result.Result<Suite, string> => {
  const marker = `[${randomUUID()}]`
  const order = { marker, prelude, function: name }
  return Result.map(Result.all(tests.map(({ output }) => PythonValue.fromJson(output))), (expected) => ({
    program: {
      code: Called.driver,
      files: { "solution.py": code },
      inputs: tests.map(({ input }) => JSON.stringify({ ...order, input }))
    },
    find: (execution, index) => {
      const broken = brokenOff(execution)
      if (broken !== undefined || execution.type !== "finished") return broken ?? wrong
      const result = Called.resultIn(execution.stdout, marker)
      if (result === undefined) return { ...wrong, rung: "runtime-error", explanation: "ends before the result" }
      return Called.isExpected(result, expected[index]!) ? passed : wrong
    }
  }))
}

const suiteOf = (
  sandbox: Sandbox.Sandbox,
  task: Task,
  problem: LiveCodeBenchProblem.LiveCodeBenchProblem,
  code: string
): Result.Result<Suite, string> =>
  Result.flatMap(
    Result.mapError(LiveCodeBenchProblem.testsOf(task.id, problem), ({ detail }) => detail),
    (tests) => {
      const world = prelude(sandbox.slowdown)
      if (tests.length === 0) return Result.fail("the task has no tests")
      if (tests.every(({ type }) => type === "stdin")) return Result.succeed(printedSuite(code, world, tests))
      if (!tests.every(({ type }) => type === "functional")) return Result.fail("its tests mix functions and programs")
      return problem.functionName === undefined
        ? Result.fail("the task does not name its function")
        : calledSuite(code, world, problem.functionName, tests)
    }
  )

const runSuite = (sandbox: Sandbox.Sandbox, { find, program }: Suite, options: Options) => {
  const wallMillis = (options.timeoutMillis ?? 6000) * sandbox.slowdown
  const limits = {
    wallMillis,
    memoryMegabytes: options.memoryMegabytes
  }
  return Effect.map(
    sandbox.run({ ...program, limits }, (execution, index) => find(execution, index).passed),
    (executions) => executions.map(find)
  )
}

/** Names of what a program reads its input with. */
const inputs = /\b(?:input|stdin|open|fileinput)\b/

/**
 * Extracts the program from an answer: its only fenced block if that is closed and tagged as Python or seems to fit the
 * task, otherwise the candidate that fits the task.
 */
const programIn = (sandbox: Sandbox.Sandbox, answer: string, name: string | undefined) => {
  const [only, ...others] = blocks(answer)
  const fits = (code: string) => (name === undefined ? inputs.test(code) : code.includes(name))
  if (others.length === 0 && only?.isClosed === true && (only.isTagged || fits(only.code))) {
    return Effect.succeed(only.code)
  }
  const order = JSON.stringify({ texts: candidates(answer), function: name })
  const program = { code: chooser, order, limits: { wallMillis: 60_000 } }
  return Effect.map(Sandbox.run(sandbox, program), (execution) => {
    if (execution.type !== "finished" || execution.exitCode !== 0) return undefined
    const chosen: unknown = JSON.parse(execution.stdout)
    return typeof chosen === "string" ? chosen : undefined
  })
}

/**
 * Creates the grader for LiveCodeBench. Runs public and private tests in order, up to the first failure.
 *
 * **Details**
 *
 * LiveCodeBench tasks include their tests. For any other task, the reference must be a dataset record as JSON, with at
 * least `public_test_cases` (and, for functions, `metadata` with `func_name`). The rung of the verdict is `tests`, or
 * the problem of the first failing test: `wrong-answer`, `runtime-error`, `time-limit`, `memory-limit` or
 * `output-limit`. It is `unparsed` if no part of the answer parses as a program. For differences from the official
 * runner, see docs/reference/code-graders.md.
 *
 * **Example**
 *
 * ````ts
 * import * as Task from "@divisi/core/Task"
 * import { CodeGrader } from "@divisi/graders/code"
 * import { PyodideSandbox } from "@divisi/graders/sandboxes"
 * import * as Effect from "effect/Effect"
 *
 * const tests = [{ input: "2 3", output: "5", testtype: "stdin" }]
 * const task = Task.make({ question: "Add.", reference: JSON.stringify({ public_test_cases: tests }) })
 * const program = Effect.gen(function* () {
 *   const grader = CodeGrader.liveCodeBench(yield* PyodideSandbox.make())
 *   return yield* grader.grade(task, "```python\nprint(sum(map(int, input().split())))\n```")
 * })
 * const verdict = await Effect.runPromise(Effect.scoped(program))
 * verdict.correct // => true
 * ````
 */
export const liveCodeBench = (sandbox: Sandbox.Sandbox, options: Options = {}): Verdict.AnswerGrader => {
  Tables.check("CodeGrader.liveCodeBench", options, optionsTable)
  const name = "livecodebench"
  return {
    name,
    grade: (task, answer) =>
      Effect.gen(function* () {
        const failure = (detail: string) => new Grader.GraderError({ grader: name, task: task.id, detail })
        const problem = LiveCodeBenchProblem.ofTask(task) ?? LiveCodeBenchProblem.ofReference(task)
        if (problem === undefined) return yield* failure("the task has no LiveCodeBench tests")
        const chosen = programIn(sandbox, answer, problem.functionName)
        const code = yield* Effect.mapError(chosen, (error) => failure(error.message))
        if (code === undefined || code.trim() === "") return Verdict.unparsed
        const suite = yield* Effect.mapError(Effect.fromResult(suiteOf(sandbox, task, problem, code)), failure)
        const run = yield* Effect.mapError(runSuite(sandbox, suite, options), (error) => failure(error.message))
        return verdictOf(code, run)
      })
  }
}

const verdictOf = (code: string, findings: ReadonlyArray<Finding>): Verdict.Verdict => {
  const failed = findings.findIndex((finding) => !finding.passed)
  const { explanation, rung } = findings[failed] ?? passed
  return Verdict.make({
    correct: failed === -1,
    rung,
    extracted: code,
    explanation: failed === -1 ? `all ${findings.length} tests pass` : `test ${failed + 1} ${explanation}`
  })
}

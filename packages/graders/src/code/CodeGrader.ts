/**
 * Grades programs: runs an answer on its tests in a {@link Sandbox}.
 *
 * Whatever a program does counts for or against it. A sandbox that fails gives no verdict.
 */
import { randomUUID } from "node:crypto"
import { GraderError } from "@divisi/core/Grader"
import type { Task } from "@divisi/core/Task"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Sandbox from "../sandbox/Sandbox.ts"
import * as Verdict from "../Verdict.ts"
import * as BigCodeBenchProblem from "./BigCodeBenchProblem.ts"
import * as Called from "./called.ts"
import * as LiveCodeBenchProblem from "./LiveCodeBenchProblem.ts"
import * as Printed from "./printed.ts"
import * as UnitTests from "./unitTests.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** What may be chosen. */
export interface Options {
  /** Time for each test of LiveCodeBench (6,000 ms by default), or for all of a task of BigCodeBench (240,000). */
  readonly timeoutMillis?: number | undefined
  readonly memoryMegabytes?: number | undefined
}

/** Options of BigCodeBench. */
export interface BigCodeBenchOptions extends Options {
  /**
   * Whether the reference solution must pass in this sandbox before an answer may fail in it; true by default. A task
   * whose reference fails, for want of a library perhaps, then has no verdict instead of a wrong one.
   */
  readonly checkReference?: boolean | undefined
}

/** What every program of LiveCodeBench may take for granted. */
const prelude = `${[
  "string",
  "re",
  "datetime",
  "collections",
  "heapq",
  "bisect",
  "copy",
  "math",
  "random",
  "statistics",
  "itertools",
  "functools",
  "operator",
  "io",
  "sys",
  "json",
  "builtins",
  "typing"
]
  .map((module) => `from ${module} import *`)
  .join("\n")}
import string, re, datetime, collections, heapq, bisect, copy, math, random, statistics, itertools, functools
import operator, io, sys, json
sys.setrecursionlimit(50000)
`

/** Libraries that the official environment has and a sandbox may lack: without them nothing is known of a program. */
const libraries = /ModuleNotFoundError: No module named '(numpy|scipy|pandas|sympy|networkx|sortedcontainers|numba)/

// -------------------------------------------------------------------------------------------------------------------
// LiveCodeBench
// -------------------------------------------------------------------------------------------------------------------

/** What one test showed. */
interface Finding {
  readonly passed: boolean
  readonly rung: string
  readonly explanation: string
}

const passed: Finding = { passed: true, rung: "tests", explanation: "passes" }

const rungs = {
  "timed-out": "time-limit",
  "out-of-memory": "memory-limit",
  "output-too-large": "output-limit",
  crashed: "runtime-error"
} as const

const isError = (execution: Sandbox.Execution): boolean =>
  execution.type === "finished" &&
  execution.exitCode !== 0 &&
  /Traceback \(most recent call last\)|^\w*Error\b/m.test(execution.stderr)

/** What an execution shows without a look at its output; `undefined` when the output decides. */
const brokenOff = (execution: Sandbox.Execution): Finding | undefined => {
  if (execution.type === "finished" && !isError(execution)) return undefined
  const rung = execution.type === "finished" ? "runtime-error" : rungs[execution.type]
  return { passed: false, rung, explanation: Sandbox.describe(execution) }
}

const wrong: Finding = { passed: false, rung: "wrong-answer", explanation: "gives another result" }

/** A set of tests: the program that runs one of them for each input, and what its execution shows. */
interface Suite {
  readonly program: Sandbox.Program
  readonly find: (execution: Sandbox.Execution, index: number) => Finding
}

const printedSuite = (code: string, tests: ReadonlyArray<LiveCodeBenchProblem.Test>): Suite => ({
  program: { code, prelude, inputs: tests.map(({ input }) => input) },
  find: (execution, index) =>
    brokenOff(execution) ??
    (execution.type === "finished" && Printed.isSame(execution.stdout, tests[index]!.output) ? passed : wrong)
})

const calledSuite = (
  code: string,
  name: string,
  tests: ReadonlyArray<LiveCodeBenchProblem.Test>
): Result.Result<Suite, string> => {
  const marker = `[${randomUUID()}]`
  const order = { marker, prelude, function: name }
  return Result.map(Result.all(tests.map(({ output }) => Called.parseExact(output))), (expected) => ({
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
  task: Task,
  problem: LiveCodeBenchProblem.LiveCodeBenchProblem,
  code: string
): Result.Result<Suite, string> =>
  Result.flatMap(
    Result.mapError(LiveCodeBenchProblem.testsOf(task.id, problem), ({ detail }) => detail),
    (tests) => {
      if (tests.length === 0) return Result.fail("the task has no tests")
      if (tests.every(({ type }) => type === "stdin")) return Result.succeed(printedSuite(code, tests))
      if (!tests.every(({ type }) => type === "functional")) return Result.fail("its tests are of two kinds")
      return problem.functionName === undefined
        ? Result.fail("the task does not name its function")
        : calledSuite(code, problem.functionName, tests)
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
    (executions) => ({ executions, findings: executions.map(find) })
  )
}

const missingLibrary = (execution: Sandbox.Execution | undefined): string | undefined =>
  execution?.type === "finished" && execution.exitCode !== 0 ? libraries.exec(execution.stderr)?.[1] : undefined

/**
 * The grader of LiveCodeBench: all public and private tests in their order, up to the first that fails.
 *
 * **Details**
 *
 * Of a task of the benchmark the tests are its own; of any other task, its reference must be a record of the data set
 * as JSON, of which `public_test_cases` is enough (and `metadata` with `func_name` for functions). The verdict's rung
 * is `tests`, or what the first failing test ran into: `wrong-answer`, `runtime-error`, `time-limit`, `memory-limit`,
 * `output-limit`; `unparsed` when the answer has no fenced program. How this differs from the official runner is in
 * docs/evals-sandbox.md.
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
  const name = "livecodebench"
  return {
    name,
    grade: (task, answer) =>
      Effect.gen(function* () {
        const failure = (detail: string) => new GraderError({ grader: name, task: task.id, detail })
        const problem = LiveCodeBenchProblem.ofTask(task) ?? LiveCodeBenchProblem.ofReference(task)
        if (problem === undefined) return yield* failure("the task has no tests of LiveCodeBench")
        const code = LiveCodeBenchProblem.extract(answer)
        if (code === undefined || code.trim() === "") return Verdict.unparsed
        const suite = yield* Effect.mapError(Effect.fromResult(suiteOf(task, problem, code)), failure)
        const run = yield* Effect.mapError(runSuite(sandbox, suite, options), (error) => failure(error.message))
        const missing = missingLibrary(run.executions.at(-1))
        if (missing !== undefined) return yield* failure(`the program needs ${missing}, which ${sandbox.name} lacks`)
        return verdictOf(code, run.findings)
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

// -------------------------------------------------------------------------------------------------------------------
// BigCodeBench
// -------------------------------------------------------------------------------------------------------------------

const isResults = (value: unknown): value is UnitTests.Results =>
  typeof value === "object" && value !== null && "expected" in value && "run" in value && "tampered" in value

const runUnitTests = (
  sandbox: Sandbox.Sandbox,
  problem: BigCodeBenchProblem.BigCodeBenchProblem,
  solution: { readonly answer: string } | { readonly code: string },
  options: Options
) => {
  const marker = `[${randomUUID()}]`
  const calibration = `${problem.code}\n    pass\n`
  const order = { marker, entry: problem.entryPoint, test: problem.test, calibration, ...solution }
  return Effect.map(
    Sandbox.run(sandbox, {
      code: UnitTests.driver,
      inputs: [JSON.stringify(order)],
      limits: { wallMillis: options.timeoutMillis ?? 240_000, memoryMegabytes: options.memoryMegabytes ?? 2048 }
    }),
    (execution) => {
      const result = execution.type === "finished" ? Called.resultIn(execution.stdout, marker) : undefined
      return { execution, results: isResults(result) ? result : undefined }
    }
  )
}

type UnitTestRun = Effect.Success<ReturnType<typeof runUnitTests>>

const failing = (rung: string, explanation: string, code?: string) =>
  Verdict.make({ correct: false, rung, explanation, extracted: code })

const verdictOfTests = ({ execution, results }: UnitTestRun): Verdict.Verdict => {
  if (results === undefined) {
    const broken = brokenOff(execution)
    return failing(broken?.rung ?? "runtime-error", broken?.explanation ?? "the program ended before its tests did")
  }
  const { code, expected, problems, run, tampered } = results
  if (code === undefined) return Verdict.unparsed
  if (tampered.length > 0) return failing("tampered", `changed what tests it: ${tampered.join(", ")}`, code)
  const [problem] = problems
  if (problem !== undefined)
    return failing("tests", `${problems.length} of ${expected} fail: ${problem.join(": ")}`, code)
  if (run < expected || expected === 0) return failing("tampered", `${run} of ${expected} tests ran`, code)
  return Verdict.make({ correct: true, rung: "tests", extracted: code, explanation: `all ${run} tests pass` })
}

/**
 * The grader of BigCodeBench (complete): the program in the answer, reduced to imports and what the function needs,
 * behind the task's own imports and signature, and then its test class.
 *
 * **Gotchas**
 *
 * The tests run in the interpreter of the solution, as officially. A solution that replaces parts of `unittest` or a
 * builtin, skips tests or ends them early is found out and fails (`tampered`); one that goes as far as forging the
 * memory of its interpreter is not told apart.
 */
export const bigCodeBench = (sandbox: Sandbox.Sandbox, options: BigCodeBenchOptions = {}): Verdict.AnswerGrader => {
  const name = "bigcodebench"
  const references = new Map<string, Verdict.Verdict>()
  const reference = (problem: BigCodeBenchProblem.BigCodeBenchProblem) =>
    Effect.suspend(() => {
      const key = problem.test + problem.canonicalSolution
      const known = references.get(key)
      if (known !== undefined) return Effect.succeed(known)
      const code = `${problem.prompt}\n${problem.canonicalSolution}`
      return Effect.map(runUnitTests(sandbox, problem, { code }, options), (run) => {
        const verdict = verdictOfTests(run)
        references.set(key, verdict)
        return verdict
      })
    })
  return {
    name,
    grade: (task, answer) =>
      Effect.gen(function* () {
        const failure = (detail: string) => new GraderError({ grader: name, task: task.id, detail })
        const broken = (error: Sandbox.SandboxError) => failure(error.message)
        const problem = BigCodeBenchProblem.ofTask(task) ?? BigCodeBenchProblem.ofReference(task)
        if (problem === undefined) return yield* failure("the task has no tests of BigCodeBench")
        const verdict = verdictOfTests(
          yield* Effect.mapError(runUnitTests(sandbox, problem, { answer }, options), broken)
        )
        if (verdict.correct || verdict.rung === "unparsed" || options.checkReference === false) return verdict
        const known = yield* Effect.mapError(reference(problem), broken)
        if (known.correct) return verdict
        return yield* failure(`its reference solution fails in ${sandbox.name}, too: ${known.explanation}`)
      })
  }
}

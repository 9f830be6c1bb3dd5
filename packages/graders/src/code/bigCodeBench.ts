/** Grades functions with the unit tests of their task, like BigCodeBench. */
import { randomUUID } from "node:crypto"
import { Grader, Options as Tables } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Sandbox from "../sandbox/Sandbox.ts"
import * as Verdict from "../Verdict.ts"
import * as BigCodeBenchProblem from "./BigCodeBenchProblem.ts"
import { brokenOff, type Options, optionsTable } from "./execution.ts"
import { rewriter, type TestText } from "./testText.ts"
import * as UnitTests from "./unitTests.ts"

type Problem = BigCodeBenchProblem.BigCodeBenchProblem

/** The result of running a task's reference solution. */
interface Reference {
  /**
   * Keys of assertions that can only be evaluated in the solution's interpreter, as determined with the reference
   * solution.
   */
  readonly inside: ReadonlyArray<string>
  readonly verdict: Verdict.Verdict
}

/** Runs solutions in a sandbox. Caches the rewritten tests and the result of the reference solution for each task. */
const runner = (sandbox: Sandbox.Sandbox, options: Options) => {
  const texts = new Map<string, UnitTests.Tests>()
  const references = new Map<string, Reference>()

  const failed = (detail: string) => new Sandbox.SandboxError({ sandbox: sandbox.name, reason: "failed", detail })

  const rewrite = (test: string, inside: ReadonlyArray<string>) =>
    Effect.suspend(() => {
      const key = JSON.stringify([test, inside])
      const known = texts.get(key)
      if (known !== undefined) return Effect.succeed(known)
      const prefix = randomUUID()
      const program = { code: rewriter, order: JSON.stringify({ test, prefix, inside }), isTrusted: true }
      return Effect.flatMap(Sandbox.run(sandbox, { ...program, limits: { wallMillis: 60_000 } }), (execution) => {
        if (execution.type !== "finished" || execution.exitCode !== 0) {
          return Effect.fail(failed(`the tests of the task cannot be read: ${Sandbox.describe(execution)}`))
        }
        const tests = { ...(JSON.parse(execution.stdout) as TestText), original: test, prefix }
        texts.set(key, tests)
        return Effect.succeed(tests)
      })
    })

  const run = (
    problem: Problem,
    solution: { readonly answer: string } | { readonly code: string },
    inside: ReadonlyArray<string>
  ) =>
    Effect.gen(function* () {
      const tests = yield* rewrite(problem.test, inside)
      const about = { entry: problem.entryPoint, calibration: `${problem.code}\n    pass\n` }
      const order = UnitTests.order(tests, about, solution)
      const execution = yield* Sandbox.run(sandbox, {
        code: UnitTests.driver,
        order: order.text,
        limits: {
          wallMillis: options.timeoutMillis ?? 240_000,
          memoryMegabytes: options.memoryMegabytes ?? 2048,
          outputBytes: 64 * 1024 * 1024
        }
      })
      const stdout = execution.type === "finished" ? execution.stdout : ""
      const findings = UnitTests.judge(tests, order, stdout)
      return { verdict: verdictOf(execution, findings), wrong: findings.wrong }
    })

  /**
   * Runs the reference solution. Assertions that cannot be decided outside for its values stay inside for every
   * solution.
   */
  const ask = (problem: Problem, inside: ReadonlyArray<string>): Effect.Effect<Reference, Sandbox.SandboxError> =>
    Effect.flatMap(
      run(problem, { code: `${problem.prompt}\n${problem.canonicalSolution}` }, inside),
      ({ verdict, wrong }) =>
        verdict.correct || wrong.length === 0
          ? Effect.succeed({ inside, verdict })
          : ask(problem, [...inside, ...wrong])
    )

  const reference = (problem: Problem) =>
    Effect.suspend(() => {
      const key = problem.test + problem.canonicalSolution
      const known = references.get(key)
      if (known !== undefined) return Effect.succeed(known)
      return Effect.tap(ask(problem, []), (found) => Effect.sync(() => references.set(key, found)))
    })

  const insideOf = (problem: Problem) => references.get(problem.test + problem.canonicalSolution)?.inside ?? []

  return { run, reference, insideOf }
}

const failing = (rung: string, explanation: string, code?: string) =>
  Verdict.make({ correct: false, rung, explanation, extracted: code })

const verdictOf = (execution: Sandbox.Execution, findings: UnitTests.Findings): Verdict.Verdict => {
  const { code, isComplete, problems, tampered, tests } = findings
  if (code?.trim() === "") return Verdict.unparsed
  if (tampered.length > 0) {
    return failing("tampered", `tried to manipulate its tests: ${tampered.join(", ").slice(0, 500)}`, code)
  }
  if (code === undefined || !isComplete) {
    const broken = brokenOff(execution)
    const ended = "the program ended before its tests did"
    return failing(broken?.rung ?? "runtime-error", broken?.explanation ?? ended, code)
  }
  const [problem] = problems
  if (problem !== undefined) return failing("tests", `${problems.length} of ${tests} fail: ${problem.join(": ")}`, code)
  if (tests === 0) return failing("tests", "the task has no tests", code)
  return Verdict.make({ correct: true, rung: "tests", extracted: code, explanation: `all ${tests} tests pass` })
}

/**
 * Creates the grader for BigCodeBench (complete). Runs the task's imports and signature, then the program from the
 * answer, reduced to its imports and the code that the function requires, then the test class.
 *
 * **Details**
 *
 * Tests run in the solution's interpreter, as in the official runner, but expected values are not exposed to it.
 * Literals that assertions compare results with are removed from the tests beforehand. The interpreter records the
 * results, and the comparison happens outside. A solution that replaces its tests, skips them, ends them early or
 * accesses their frames and objects is detected and fails with the rung `tampered`.
 *
 * An answer that fails its tests is wrong only if the reference solution passes in the same sandbox. If the reference
 * fails as well, there is no verdict. An answer that requires a missing package is therefore wrong, unless the
 * reference requires it too. The reference runs once per task.
 *
 * **Gotchas**
 *
 * Assertions without a literal are evaluated in the solution's interpreter, so an object that equals everything passes
 * them. See docs/reference/code-graders.md.
 */
export const bigCodeBench = (sandbox: Sandbox.Sandbox, options: Options = {}): Verdict.AnswerGrader => {
  Tables.check("CodeGrader.bigCodeBench", options, optionsTable)
  const name = "bigcodebench"
  const { insideOf, reference, run } = runner(sandbox, options)
  return {
    name,
    grade: (task, answer) =>
      Effect.gen(function* () {
        const failure = (detail: string) => new Grader.GraderError({ grader: name, task: task.id, detail })
        const orFail = <A>(effect: Effect.Effect<A, Sandbox.SandboxError>) =>
          Effect.mapError(effect, (error) => failure(error.message))
        const problem = BigCodeBenchProblem.ofTask(task) ?? BigCodeBenchProblem.ofReference(task)
        if (problem === undefined) return yield* failure("the task has no BigCodeBench tests")
        const inside = insideOf(problem)
        const { verdict } = yield* orFail(run(problem, { answer }, inside))
        if (verdict.correct || verdict.rung === "unparsed") return verdict
        const known = yield* orFail(reference(problem))
        if (!known.verdict.correct) {
          return yield* failure(`its reference solution fails in ${sandbox.name}, too: ${known.verdict.explanation}`)
        }
        return known.inside.length === inside.length
          ? verdict
          : (yield* orFail(run(problem, { answer }, known.inside))).verdict
      })
  }
}

/**
 * LiveCodeBench problems with their tests, and the dataset's test encoding.
 *
 * Private tests are JSON or a compressed pickle. Unpickling can execute arbitrary code, so pickles are never executed:
 * the reader accepts only a pickle of a single string and rejects everything else.
 */
import { constants, inflateSync } from "node:zlib"
import type { Task } from "@divisi/core/Task"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { readText } from "./pickle.ts"
import { blocks } from "./programText.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A single test: the input of a program or the arguments of a function, and the expected result. */
export interface Test {
  readonly input: string
  readonly output: string
  readonly type: "stdin" | "functional"
}

/** The data required to grade a solution. Not shown to workers. */
export interface LiveCodeBenchProblem {
  readonly platform: string
  /** Starter code. Empty for programs that read standard input. */
  readonly starterCode: string
  /** Name of the method to call. Undefined for programs that read standard input. */
  readonly functionName?: string | undefined
  readonly publicTests: ReadonlyArray<Test>
  /** Private tests in the dataset's encoding. Decode them with {@link readTests}. */
  readonly privateTests: string
}

/** Raised when the tests of a problem cannot be decoded. */
export class TestsError extends Data.TaggedError("TestsError")<{ readonly task: string; readonly detail: string }> {
  override get message(): string {
    return `The tests of ${this.task} cannot be read: ${this.detail}. Without them, nothing can be graded.`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Tests
// -------------------------------------------------------------------------------------------------------------------

/** Maximum size of decoded tests. No real problem is this large; the limit protects against decompression bombs. */
const maxBytes = 512 * 1024 * 1024

const testOf = (value: unknown): Test | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  const { input, output, testtype: type } = value as Readonly<Record<string, unknown>>
  if (typeof input !== "string" || typeof output !== "string") return undefined
  return type === "stdin" || type === "functional" ? { input, output, type } : undefined
}

const parseTests = (json: string): Result.Result<ReadonlyArray<Test>, string> => {
  const parsed = Result.try({ try: (): unknown => JSON.parse(json), catch: () => "they are not JSON" })
  if (Result.isFailure(parsed)) return Result.fail(parsed.failure)
  if (!Array.isArray(parsed.success)) return Result.fail("they are not a list")
  const tests = parsed.success.map(testOf)
  return tests.every((test) => test !== undefined)
    ? Result.succeed(tests)
    : Result.fail("one of them has no input, output and kind")
}

/**
 * Decodes tests from the dataset's encoding: a JSON list, or that list as a pickled string, compressed and
 * base64-encoded.
 *
 * **Example**
 *
 * ```ts
 * import { LiveCodeBenchProblem } from "@divisi/graders/code"
 * import * as Result from "effect/Result"
 *
 * const read = LiveCodeBenchProblem.readTests('[{"input":"1 2","output":"3","testtype":"stdin"}]')
 * Result.isSuccess(read) && read.success.length // => 1
 * Result.isFailure(LiveCodeBenchProblem.readTests("bm90IGEgcGlja2xl")) // => true
 * ```
 */
export const readTests = (encoded: string): Result.Result<ReadonlyArray<Test>, string> => {
  if (/^\s*\[/.test(encoded)) return parseTests(encoded)
  const inflated = Result.try({
    try: () => inflateSync(Buffer.from(encoded, "base64"), { maxOutputLength: maxBytes }),
    catch: () => "they are neither JSON nor compressed"
  })
  return Result.flatMap(Result.flatMap(inflated, readText), parseTests)
}

/**
 * Number of encoded characters inspected to detect the format. Decoding everything would take seconds per benchmark.
 */
const headLength = 4096

/**
 * Whether there are any tests, judging by the start of the encoded text. The failure explains why they cannot be
 * decoded.
 */
const hasTests = (encoded: string): Result.Result<boolean, string> => {
  if (/^\s*\[/.test(encoded)) return Result.map(parseTests(encoded), ({ length }) => length > 0)
  const head = Buffer.from(encoded.slice(0, headLength), "base64")
  const inflated = Result.try({
    try: () => inflateSync(head, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: maxBytes }).toString("latin1"),
    catch: () => "they are neither JSON nor compressed"
  })
  return Result.flatMap(inflated, (text) =>
    /\[\s*[{\]]/.test(text) ? Result.succeed(/\[\s*\{/.test(text)) : Result.fail("they are not a list")
  )
}

/**
 * Returns the problem if its solutions can be graded, judging by the start of its private tests. Otherwise fails with
 * the reason, before anything is paid for.
 */
export const checked = (problem: LiveCodeBenchProblem): Result.Result<LiveCodeBenchProblem, string> => {
  const hidden = hasTests(problem.privateTests)
  if (Result.isFailure(hidden)) return Result.fail(`its private tests cannot be read: ${hidden.failure}`)
  if (!hidden.success && problem.publicTests.length === 0) return Result.fail("it has no tests")
  const isFunction = problem.publicTests.some(({ type }) => type === "functional")
  return isFunction && problem.functionName === undefined
    ? Result.fail('it tests a function, but its metadata has no "func_name"')
    : Result.succeed(problem)
}

/**
 * Decodes all tests of a problem, public tests first. Fails if any tests cannot be decoded; they never count as passed.
 *
 * @internal
 */
export const testsOf = (task: string, problem: LiveCodeBenchProblem): Result.Result<ReadonlyArray<Test>, TestsError> =>
  Result.mapBoth(readTests(problem.privateTests), {
    onFailure: (detail) => new TestsError({ task, detail }),
    onSuccess: (hidden) => [...problem.publicTests, ...hidden]
  })

/** Decodes all tests of a task. See {@link testsOf}. */
export const tests = (task: Task): Result.Result<ReadonlyArray<Test>, TestsError> => {
  const problem = ofTask(task)
  return problem === undefined
    ? Result.fail(new TestsError({ task: task.id, detail: "it is not a LiveCodeBench task" }))
    : testsOf(task.id, problem)
}

// -------------------------------------------------------------------------------------------------------------------
// Problems
// -------------------------------------------------------------------------------------------------------------------

const Metadata = Schema.fromJsonString(Schema.Struct({ func_name: Schema.String }))

const Record = Schema.Struct({
  platform: Schema.String,
  starter_code: Schema.String,
  metadata: Schema.optional(Schema.NullOr(Schema.String)),
  public_test_cases: Schema.String,
  private_test_cases: Schema.String
})

/** Parses a record of the dataset. Fails with a description of what is wrong with the record. */
export const fromRecord = (record: unknown): Result.Result<LiveCodeBenchProblem, string> =>
  Result.gen(function* () {
    const row = yield* Result.mapError(Schema.decodeUnknownResult(Record)(record), ({ message }) => message)
    const publicTests = yield* Result.mapError(
      parseTests(row.public_test_cases),
      (detail) => `its public tests cannot be read: ${detail}`
    )
    const metadata = Result.getOrUndefined(Schema.decodeUnknownResult(Metadata)(row.metadata))
    return {
      platform: row.platform,
      starterCode: row.starter_code,
      functionName: metadata?.func_name,
      publicTests,
      privateTests: row.private_test_cases
    }
  })

/** Returns the problem of a LiveCodeBench task, or `undefined` for any other task. */
export const ofTask = (task: Task): LiveCodeBenchProblem | undefined =>
  task.metadata?.liveCodeBench as LiveCodeBenchProblem | undefined

/**
 * Parses the problem from a task's reference, which must be a dataset record as JSON. Tests may be plain lists instead
 * of encoded strings, and only the public tests are required. Returns `undefined` for any other reference.
 *
 * @internal
 */
export const ofReference = ({ reference }: Task): LiveCodeBenchProblem | undefined => {
  const row = Result.getOrUndefined(Schema.decodeUnknownResult(JsonRecord)(reference))
  if (row === undefined) return undefined
  const asText = (value: unknown, absent: string) =>
    typeof value === "string" ? value : value === undefined ? absent : JSON.stringify(value)
  return Result.getOrUndefined(
    fromRecord({
      platform: asText(row.platform, ""),
      starter_code: asText(row.starter_code, ""),
      metadata: asText(row.metadata, "{}"),
      public_test_cases: asText(row.public_test_cases, "[]"),
      private_test_cases: asText(row.private_test_cases, "[]")
    })
  )
}

const JsonRecord = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))

// -------------------------------------------------------------------------------------------------------------------
// Answers
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the last fenced block of an answer that may be Python, or `undefined` if there is none. The closing fence is
 * optional. The grader additionally checks which block parses; see `programText.ts`.
 *
 * **Example**
 *
 * ````ts
 * import { LiveCodeBenchProblem } from "@divisi/graders/code"
 *
 * LiveCodeBenchProblem.extract("So:\n```python\nprint(42)\n```\nDone.") // => "print(42)"
 * ````
 */
export const extract = (answer: string): string | undefined => blocks(answer).at(-1)?.code

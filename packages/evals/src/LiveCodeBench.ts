/**
 * LiveCodeBench: problems of programming contests, in slices by when they were held.
 *
 * Private tests come as JSON, or as a pickle in a compressed text. A pickle is a program, so it is never loaded: a
 * reader accepts the one shape that these have, a single text, and refuses everything else.
 */
import { inflateSync } from "node:zlib"
import * as Task from "@divisi/core/Task"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import type { Benchmark } from "./Benchmark.ts"
import { readText } from "./internal/pickle.ts"
import * as Row from "./internal/Row.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** `v1` holds the 400 problems of the first release, `v6` the 175 of the last. */
export type Slice = "v1" | "v2" | "v3" | "v4" | "v5" | "v6"

/** Which problems. */
export interface Options {
  /** The slices; `["v1"]` by default. A release holds all slices up to its own. */
  readonly slices?: ReadonlyArray<Slice>
  /** Contests from this day on (ISO date). */
  readonly from?: string
  /** Contests up to this day, itself included. */
  readonly to?: string
}

/** One test: what a program reads, or what a function is called with, and what must come of it. */
export interface Test {
  readonly input: string
  readonly output: string
  readonly type: "stdin" | "functional"
}

/** What is needed to run a solution. Workers do not see it. */
export interface Problem {
  readonly platform: string
  /** Empty for programs that read standard input. */
  readonly starterCode: string
  /** The method to be called; absent for programs. */
  readonly functionName?: string
  readonly publicTests: ReadonlyArray<Test>
  /** As the data set holds them: see {@link tests}. */
  readonly privateTests: string
}

/** The tests of a problem cannot be read. */
export class TestsError extends Data.TaggedError("TestsError")<{ readonly task: string; readonly detail: string }> {
  override get message(): string {
    return `The tests of ${this.task} cannot be read: ${this.detail}. Nothing can be graded with them.`
  }
}

const sliceFiles: Readonly<Record<Slice, string>> = {
  v1: "test.jsonl",
  v2: "test2.jsonl",
  v3: "test3.jsonl",
  v4: "test4.jsonl",
  v5: "test5.jsonl",
  v6: "test6.jsonl"
}

/** All slices of a release: `release("v3")` is v1, v2 and v3. */
export const release = (last: Slice): ReadonlyArray<Slice> => {
  const slices = Object.keys(sliceFiles) as ReadonlyArray<Slice>
  return slices.slice(0, slices.indexOf(last) + 1)
}

// -------------------------------------------------------------------------------------------------------------------
// Tests
// -------------------------------------------------------------------------------------------------------------------

/** No problem has this much of tests; what claims to is refused before it fills the memory. */
const maxBytes = 512 * 1024 * 1024

const testOf = (value: unknown): Test | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  const { input, output, testtype: type } = value as Row.Row
  if (typeof input !== "string" || typeof output !== "string") return undefined
  return type === "stdin" || type === "functional" ? { input, output, type } : undefined
}

const parseTests = (json: string): Result.Result<ReadonlyArray<Test>, string> => {
  const parsed = Result.try({ try: (): unknown => JSON.parse(json), catch: () => "they are not JSON" })
  if (Result.isFailure(parsed)) return Result.fail(parsed.failure)
  if (!Array.isArray(parsed.success)) return Result.fail("they are no list")
  const tests = parsed.success.map(testOf)
  return tests.every((test) => test !== undefined)
    ? Result.succeed(tests)
    : Result.fail("one of them has no input, output and kind")
}

/**
 * Reads tests as the data set holds them: a list in JSON, or that list as a text in a pickle, compressed, in base64.
 *
 * **Example**
 *
 * ```ts
 * import * as LiveCodeBench from "@divisi/evals/LiveCodeBench"
 * import * as Result from "effect/Result"
 *
 * const read = LiveCodeBench.readTests('[{"input":"1 2","output":"3","testtype":"stdin"}]')
 * Result.isSuccess(read) && read.success.length // => 1
 * Result.isFailure(LiveCodeBench.readTests("bm90IGEgcGlja2xl")) // => true
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

/** The problem behind a task of this benchmark; `undefined` for another task. */
export const problem = (task: Task.Task): Problem | undefined => task.metadata?.liveCodeBench as Problem | undefined

/** All tests of a problem, public ones first. What cannot be decoded is an error: it must never count as passed. */
export const testsOf = (task: string, problem: Problem): Result.Result<ReadonlyArray<Test>, TestsError> =>
  Result.mapBoth(readTests(problem.privateTests), {
    onFailure: (detail) => new TestsError({ task, detail }),
    onSuccess: (hidden) => [...problem.publicTests, ...hidden]
  })

/** All tests of a task, as {@link testsOf} gives them. */
export const tests = (task: Task.Task): Result.Result<ReadonlyArray<Test>, TestsError> => {
  const found = problem(task)
  return found === undefined
    ? Result.fail(new TestsError({ task: task.id, detail: "it is no task of LiveCodeBench" }))
    : testsOf(task.id, found)
}

// -------------------------------------------------------------------------------------------------------------------
// Prompt and answer
// -------------------------------------------------------------------------------------------------------------------

const system =
  "You are an expert Python programmer. You are given a specification and write a correct Python program that fulfils it and passes all tests."

const format = (starterCode: string): string =>
  starterCode === ""
    ? "### Format\nRead the input from standard input, solve the problem, and write the answer to standard output. Do not test on the sample inputs. Put your code between these delimiters:\n```python\n# YOUR CODE HERE\n```"
    : `### Format\nWrite your solution with this starter code, between the delimiters:\n\`\`\`python\n${starterCode}\n\`\`\``

/**
 * The program in an answer: what stands between the last two lines with three backticks; `undefined` when there are
 * fewer.
 *
 * **Example**
 *
 * ````ts
 * import * as LiveCodeBench from "@divisi/evals/LiveCodeBench"
 *
 * LiveCodeBench.extract("So:\n```python\nprint(42)\n```\nDone.") // => "print(42)"
 * ````
 */
export const extract = (answer: string): string | undefined => {
  const lines = answer.split("\n")
  const fences = lines.flatMap((line, index) => (line.includes("```") ? [index] : []))
  const [open, close] = fences.slice(-2)
  return open === undefined || close === undefined ? undefined : lines.slice(open + 1, close).join("\n")
}

// -------------------------------------------------------------------------------------------------------------------
// Benchmark
// -------------------------------------------------------------------------------------------------------------------

const functionName = (row: Row.Row): string | undefined => {
  const metadata = Row.optionalText(row, "metadata")
  const parsed = Result.try({ try: (): unknown => JSON.parse(metadata ?? "{}"), catch: () => undefined })
  const value = Result.isSuccess(parsed) ? parsed.success : undefined
  return typeof value === "object" && value !== null && "func_name" in value && typeof value.func_name === "string"
    ? value.func_name
    : undefined
}

const problemOf = (row: Row.Row): Problem => {
  const publicTests = parseTests(Row.text(row, "public_test_cases"))
  if (Result.isFailure(publicTests)) throw new Row.RowError(`its public tests cannot be read: ${publicTests.failure}`)
  const name = functionName(row)
  return {
    platform: Row.text(row, "platform"),
    starterCode: Row.text(row, "starter_code"),
    ...(name === undefined ? {} : { functionName: name }),
    publicTests: publicTests.success,
    privateTests: Row.text(row, "private_test_cases")
  }
}

/**
 * The problem in a task's reference: a record of the data set as JSON, whose tests may be lists instead of texts, and
 * which may leave out all but its public tests. `undefined` when it is something else.
 */
export const problemOfReference = (task: Task.Task): Problem | undefined => {
  const row = Row.fromJson(task.reference)
  if (row === undefined) return undefined
  const asText = (value: unknown, absent: string) =>
    typeof value === "string" ? value : value === undefined ? absent : JSON.stringify(value)
  const whole = {
    platform: asText(row.platform, ""),
    starter_code: asText(row.starter_code, ""),
    metadata: asText(row.metadata, "{}"),
    public_test_cases: asText(row.public_test_cases, "[]"),
    private_test_cases: asText(row.private_test_cases, "[]")
  }
  return Result.getOrUndefined(Result.try(() => problemOf(whole)))
}

/**
 * Makes the benchmark. Its solutions are programs: `CodeGrader.liveCodeBench` is the grader that
 * runs them, and `Benchmarks.named` puts both together.
 */
export const make = (options: Options = {}): Benchmark => {
  const { slices = ["v1"] } = options
  const window =
    options.from === undefined && options.to === undefined ? "" : `/${options.from ?? ""}..${options.to ?? ""}`
  return {
    id: `livecodebench/${slices.join("+")}${window}`,
    title: `LiveCodeBench ${slices.join(", ")}`,
    source: {
      dataset: "livecodebench/code_generation_lite",
      files: slices.map((slice) => sliceFiles[slice])
    },
    licence: "CC (its version is not stated)",
    terms: "The statements belong to LeetCode, AtCoder and Codeforces.",
    stratum: "difficulty",
    prompt: "livecodebench/1",
    epochs: 10,
    toTask: (record) => {
      const day = Row.text(record, "contest_date").slice(0, 10)
      if ((options.from ?? day) > day || (options.to ?? day) < day) return undefined
      const liveCodeBench = problemOf(record)
      const question = `### Question\n${Row.text(record, "question_content")}\n\n${format(liveCodeBench.starterCode)}\n\n### Answer (use the format with backticks)`
      return Task.make({
        id: `livecodebench/${Row.text(record, "question_id")}`,
        system,
        question,
        metadata: { difficulty: Row.text(record, "difficulty"), date: day, liveCodeBench }
      })
    }
  }
}

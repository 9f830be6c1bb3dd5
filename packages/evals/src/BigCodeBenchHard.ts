/** BigCodeBench-Hard (complete): 148 functions to be completed from their docstring, tested with many libraries. */
import * as Task from "@divisi/core/Task"
import * as Result from "effect/Result"
import type { Benchmark } from "./Benchmark.ts"
import * as Row from "./internal/Row.ts"

/** The version of the data set that its own evaluation uses. */
const version = "v0.1.4"

const instruction =
  "Complete the following function. Reply with a self-contained Python script in a markdown code block: the imports, and the whole function."

/** What is needed to run a solution. Workers do not see it. */
export interface Problem {
  /** The name of the function. */
  readonly entryPoint: string
  /** Imports, signature and docstring. */
  readonly prompt: string
  /** Imports and signature alone, for answers that leave the imports out. */
  readonly code: string
  /** A module with a `TestCases` class of unittest. */
  readonly test: string
  /** The body of a function that passes. */
  readonly canonicalSolution: string
  readonly libraries: ReadonlyArray<string>
}

/** A Python list of names, as text. */
const names = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/'([^']*)'|"([^"]*)"/g)].map((match) => match[1] ?? match[2] ?? "")

const problemOf = (row: Row.Row): Problem => ({
  entryPoint: Row.text(row, "entry_point"),
  prompt: Row.text(row, "complete_prompt"),
  code: Row.text(row, "code_prompt"),
  test: Row.text(row, "test"),
  canonicalSolution: Row.text(row, "canonical_solution"),
  libraries: names(Row.text(row, "libs"))
})

/** The problem behind a task of this benchmark; `undefined` for another task. */
export const problem = (task: Task.Task): Problem | undefined => task.metadata?.bigCodeBench as Problem | undefined

/** The problem in a task's reference: a record of the data set as JSON. `undefined` when it is something else. */
export const problemOfReference = (task: Task.Task): Problem | undefined => {
  const row = Row.fromJson(task.reference)
  return row === undefined ? undefined : Result.getOrUndefined(Result.try(() => problemOf(row)))
}

/**
 * Makes the benchmark. Its solutions are programs: `CodeGrader.bigCodeBench` is the grader that
 * runs them, and `Benchmarks.named` puts both together.
 */
export const make = (): Benchmark => ({
  id: "bigcodebench-hard",
  title: `BigCodeBench-Hard ${version}`,
  source: {
    dataset: "bigcode/bigcodebench-hard",
    revision: "refs/convert/parquet",
    files: [`default/${version}/0000.parquet`]
  },
  licence: "Apache-2.0",
  prompt: "bigcodebench-hard/complete/1",
  toTask: (record) => {
    const id = Row.text(record, "task_id")
    const bigCodeBench = problemOf(record)
    return Task.make({
      id: `bigcodebench-hard/${id.replace(/^BigCodeBench\//, "")}`,
      question: `${instruction}\n\n\`\`\`python\n${bigCodeBench.prompt.trim()}\n\`\`\``,
      metadata: { bigCodeBench }
    })
  }
})

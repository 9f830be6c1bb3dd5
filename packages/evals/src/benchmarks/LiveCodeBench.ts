/** LiveCodeBench: problems from programming contests, divided into slices by date. */
import { Options as Tables } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import { LiveCodeBenchProblem } from "@divisi/graders/code"
import * as Result from "effect/Result"
import type { Benchmark } from "./Benchmark.ts"
import * as Row from "./Row.ts"

/**
 * A slice of the data set. `v1` contains the 400 problems from the first release, `v6` the 175 problems added in the
 * last one.
 */
export type Slice = "v1" | "v2" | "v3" | "v4" | "v5" | "v6"

/** Options that select contests. */
export interface Options {
  /**
   * The slices to load. Default: `["v1"]`. A release contains all slices up to and including the slice with its name.
   */
  readonly slices?: ReadonlyArray<Slice> | undefined
  /** Includes only contests on or after this date (ISO format). */
  readonly from?: string | undefined
  /** Includes only contests on or before this date (ISO format). */
  readonly to?: string | undefined
}

const sliceFiles: Readonly<Record<Slice, string>> = {
  v1: "test.jsonl",
  v2: "test2.jsonl",
  v3: "test3.jsonl",
  v4: "test4.jsonl",
  v5: "test5.jsonl",
  v6: "test6.jsonl"
}

/** Returns all slices in a release: `release("v3")` returns v1, v2 and v3. */
export const release = (last: Slice): ReadonlyArray<Slice> => {
  const slices = Object.keys(sliceFiles) as ReadonlyArray<Slice>
  return slices.slice(0, slices.indexOf(last) + 1)
}

const system =
  "You are an expert Python programmer. You are given a specification and write a correct Python program that fulfils it and passes all tests."

const format = (starterCode: string): string =>
  starterCode === ""
    ? "### Format\nRead the input from standard input, solve the problem, and write the answer to standard output. Do not test on the sample inputs. Put your code between these delimiters:\n```python\n# YOUR CODE HERE\n```"
    : `### Format\nWrite your solution with this starter code, between the delimiters:\n\`\`\`python\n${starterCode}\n\`\`\``

const day = Tables.expects(
  "a date as YYYY-MM-DD",
  (value) => typeof value === "string" && /^\d{4}-\d{2}-\d{2}$/.test(value)
)

const table = {
  slices: Tables.listOf(Tables.oneOf("v1", "v2", "v3", "v4", "v5", "v6")),
  from: day,
  to: day
} satisfies Tables.ShapeOf<Options>

/**
 * Creates the benchmark. Answers are programs, which `CodeGrader.liveCodeBench` runs and grades; `Benchmarks.named`
 * returns the benchmark with this grader.
 */
export const make = (options: Options = {}): Benchmark => {
  Tables.check("LiveCodeBench.make", options, table)
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
      const liveCodeBench = Row.orThrow(
        Result.flatMap(LiveCodeBenchProblem.fromRecord(record), LiveCodeBenchProblem.checked)
      )
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

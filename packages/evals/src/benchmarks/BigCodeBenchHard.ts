/** BigCodeBench-Hard (complete): 148 functions to complete from their docstring, with tests that use many libraries. */
import * as Task from "@divisi/core/Task"
import { BigCodeBenchProblem } from "@divisi/graders/code"
import type { Benchmark } from "./Benchmark.ts"
import * as Row from "./Row.ts"

/** The version of the data set used by the official evaluation. */
const version = "v0.1.4"

const instruction =
  "Complete the following function. Reply with a self-contained Python script in a markdown code block: the imports, and the whole function."

/**
 * Creates the benchmark. Answers are programs, which `CodeGrader.bigCodeBench` runs and grades; `Benchmarks.named`
 * returns the benchmark with this grader.
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
    const bigCodeBench = Row.orThrow(BigCodeBenchProblem.fromRecord(record))
    return Task.make({
      id: `bigcodebench-hard/${id.replace(/^BigCodeBench\//, "")}`,
      question: `${instruction}\n\n\`\`\`python\n${bigCodeBench.prompt.trim()}\n\`\`\``,
      metadata: { bigCodeBench }
    })
  }
})

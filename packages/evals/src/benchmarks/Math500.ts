/** MATH500: 500 competition mathematics problems with LaTeX answers. */
import { Options as Tables } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import { MathGrader } from "@divisi/graders/math"
import type { Graded } from "./Benchmark.ts"
import * as Row from "./Row.ts"

/** The answer format: boxed, or in tags as used for training in the paper. */
export interface Options {
  readonly format?: "box" | "tags" | undefined
}

const instructions = {
  box: "Solve the problem step by step. Put your final answer, and nothing else, in \\boxed{} on the last line.",
  tags: "Solve the problem. Reason in <think> tags, then give the final answer, and nothing else, in <answer> tags."
} as const

const table = {
  format: Tables.oneOf("box", "tags")
} satisfies Tables.ShapeOf<Options>

/**
 * Creates the benchmark.
 *
 * **Gotchas**
 *
 * The paper trains on some of these 500 rows. Pass the training ids to `Benchmark.load`, which then rejects these rows.
 *
 * **Example**
 *
 * ```ts
 * import { Math500 } from "@divisi/evals"
 *
 * const task = Math500.make().toTask(
 *   { problem: "What is $1+1$?", answer: "2", subject: "Algebra", level: 1, unique_id: "test/algebra/1.json" },
 *   0
 * )
 * task?.id // => "math500/test/algebra/1.json"
 * ```
 */
export const make = (options: Options = {}): Graded => {
  Tables.check("Math500.make", options, table)
  const { format = "box" } = options
  return {
    id: "math500",
    title: "MATH500",
    source: { dataset: "HuggingFaceH4/MATH-500", files: ["test.jsonl"] },
    licence: "MIT",
    stratum: "subject",
    prompt: `math500/${format}/1`,
    grader: MathGrader.math500,
    exampleOf: (record, { reference }) => {
      const solution = Row.optionalText(record, "solution")
      if (format === "box") return solution ?? `\\boxed{${reference}}`
      return `${solution === undefined ? "" : `<think>${solution}</think>\n`}<answer>${reference}</answer>`
    },
    toTask: (record) =>
      Task.make({
        id: `math500/${Row.text(record, "unique_id")}`,
        question: `${instructions[format]}\n\n${Row.text(record, "problem")}`,
        reference: Row.text(record, "answer"),
        metadata: { subject: Row.text(record, "subject"), level: Row.integer(record, "level") }
      })
  }
}

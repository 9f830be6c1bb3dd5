/** AIME25: thirty problems from the 2025 American Invitational Mathematics Examination, with answers from 0 to 999. */
import { Options as Tables } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import { IntegerGrader } from "@divisi/graders/math"
import { short } from "../internal/digest.ts"
import type { Graded } from "./Benchmark.ts"
import * as Row from "./Row.ts"

/** The answer format: boxed on the last line (default), or in tags as used for training in the paper. */
export interface Options {
  readonly format?: "box" | "tags" | undefined
}

const instructions = {
  box:
    "Solve the problem step by step. The last line of your reply must be `Therefore, the final answer is: " +
    "$\\boxed{ANSWER}$. I hope it is correct`, where ANSWER is the bare number.",
  tags: "Solve the problem. Reason in <think> tags, then give the final answer as a bare number, and nothing else, in <answer> tags."
} as const

/** Returns the answer of a row. Copies of the data set store it as a string, an integer or a float. */
const answerOf = (row: Row.Row): string => {
  const { answer } = row
  const text = typeof answer === "number" || typeof answer === "bigint" ? String(answer) : Row.text(row, "answer")
  const match = /^0*(\d{1,3})(?:\.0*)?$/.exec(text.trim())
  if (match === null) throw new Row.RowError(`its answer ${JSON.stringify(text)} is not a whole number from 0 to 999`)
  return match[1]!
}

const nameOf = (row: Row.Row, problem: string): string => {
  const id = row.id ?? row.problem_idx
  return typeof id === "string" && id !== "" ? id : short(problem)
}

const table = {
  format: Tables.oneOf("box", "tags")
} satisfies Tables.ShapeOf<Options>

/**
 * Creates the benchmark.
 *
 * **Gotchas**
 *
 * Each problem is worth 3.3 points, so collect at least 16 answers per problem, and cluster standard errors by problem. Some
 * copies of the data set contain only half of the exam.
 */
export const make = (options: Options = {}): Graded => {
  Tables.check("Aime25.make", options, table)
  return inFormat(options.format ?? "box")
}

const inFormat = (format: "box" | "tags"): Graded => ({
  id: "aime25",
  title: "AIME25",
  source: { dataset: "yentinglin/aime_2025", revision: "refs/convert/parquet", files: ["default/train/0000.parquet"] },
  licence: "unknown",
  terms: "The problems are copyright of the Mathematical Association of America.",
  prompt: `aime25/${format}/1`,
  epochs: 16,
  grader: IntegerGrader.aime,
  exampleOf: (_, { reference }) =>
    format === "tags"
      ? `<answer>${reference}</answer>`
      : `Therefore, the final answer is: $\\boxed{${reference}}$. I hope it is correct`,
  toTask: (record) => {
    const problem = Row.text(record, "problem").trim()
    return Task.make({
      id: `aime25/${nameOf(record, problem)}`,
      question: `${instructions[format]}\n\n${problem}`,
      reference: answerOf(record)
    })
  }
})

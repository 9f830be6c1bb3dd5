/** GSM8K: grade school word problems with integer answers. */
import { Options as Tables } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import { IntegerGrader } from "@divisi/graders/math"
import { short } from "../internal/digest.ts"
import type { Graded } from "./Benchmark.ts"
import * as Row from "./Row.ts"

/** The answer format: on the last line (default), or in tags as used for training in the paper. */
export interface Options {
  readonly format?: "line" | "tags" | undefined
}

const instructions = {
  line: "Solve the problem step by step. End with a last line `#### N`, where N is the answer as a number.",
  tags: "Solve the problem. Reason in <think> tags, then give the final answer as a number, and nothing else, in <answer> tags."
} as const

/** Returns the text after the last "####" in a worked solution. */
const result = (row: Row.Row): string => {
  const [, ...after] = Row.text(row, "answer").split("####")
  const number = after.at(-1)?.replaceAll(",", "").trim()
  if (number === undefined || number === "") throw new Row.RowError('field "answer" has no "####" followed by a result')
  return number
}

const filesOf = (split: "test" | "train") =>
  ({ dataset: "openai/gsm8k", revision: "refs/convert/parquet", files: [`main/${split}/0000.parquet`] }) as const

const table = {
  format: Tables.oneOf("line", "tags")
} satisfies Tables.ShapeOf<Options>

/** Creates the benchmark with the 1,319 problems in the test split. Few-shot examples come from the training split. */
export const make = (options: Options = {}): Graded => {
  Tables.check("Gsm8k.make", options, table)
  return { ...ofSplit("test", options), examplesFrom: ofSplit("train", options) }
}

const ofSplit = (split: "test" | "train", { format = "line" }: Options): Graded => ({
  id: "gsm8k",
  title: "GSM8K",
  source: filesOf(split),
  licence: "MIT",
  prompt: `gsm8k/${format}/1`,
  grader: IntegerGrader.integer,
  exampleOf: (record, { reference }) => {
    const worked = Row.text(record, "answer")
    if (format === "line") return worked
    const solution = worked.split("####").slice(0, -1).join("####").trim()
    return `<think>${solution}</think>\n<answer>${reference}</answer>`
  },
  toTask: (record) => {
    const question = Row.text(record, "question")
    return Task.make({
      id: `gsm8k/${short(question)}`,
      question: `${instructions[format]}\n\n${question}`,
      reference: result(record)
    })
  }
})

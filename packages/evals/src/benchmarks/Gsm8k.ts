/** GSM8K: word problems of grade school, whose answers are whole numbers. */
import * as Task from "@divisi/core/Task"
import { IntegerGrader } from "@divisi/graders/math"
import { short } from "../internal/digest.ts"
import type { Graded } from "./Benchmark.ts"
import * as Row from "./Row.ts"

const instruction = "Solve the problem step by step. End with a last line `#### N`, where N is the answer as a number."

/** What stands behind the last "####" of a worked solution. */
const result = (row: Row.Row): string => {
  const [, ...after] = Row.text(row, "answer").split("####")
  const number = after.at(-1)?.replaceAll(",", "").trim()
  if (number === undefined || number === "") throw new Row.RowError('its field "answer" has no "####" with a result')
  return number
}

/** Makes the benchmark: the test split's 1,319 problems. */
export const make = (): Graded => ({
  id: "gsm8k",
  title: "GSM8K",
  source: { dataset: "openai/gsm8k", revision: "refs/convert/parquet", files: ["main/test/0000.parquet"] },
  licence: "MIT",
  prompt: "gsm8k/1",
  grader: IntegerGrader.integer,
  toTask: (record) => {
    const question = Row.text(record, "question")
    return Task.make({
      id: `gsm8k/${short(question)}`,
      question: `${instruction}\n\n${question}`,
      reference: result(record)
    })
  }
})

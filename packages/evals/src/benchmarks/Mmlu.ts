/** MMLU: multiple-choice questions from 57 subjects. */
import { Options as Tables } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import { LetterGrader } from "@divisi/graders"
import { short } from "../internal/digest.ts"
import type { Graded } from "./Benchmark.ts"
import { ask, type ChoiceFormat, equalOptions, letterAt, letterReply } from "./choices.ts"
import * as Row from "./Row.ts"

/** The split, and the answer format. */
export interface Options {
  /** The split to load. Default: `test`. The paper trains on `auxiliary_train` and validates on `validation`. */
  readonly split?: "test" | "validation" | "dev" | "auxiliary_train" | undefined
  /** The answer format: the letter on the last line (default), or in tags as used for training in the paper. */
  readonly format?: ChoiceFormat | undefined
}

const files = {
  test: ["all/test/0000.parquet"],
  validation: ["all/validation/0000.parquet"],
  dev: ["all/dev/0000.parquet"],
  auxiliary_train: ["all/auxiliary_train/0000.parquet"]
} as const

const table = {
  split: Tables.oneOf("test", "validation", "dev", "auxiliary_train"),
  format: Tables.oneOf("line", "tags")
} satisfies Tables.ShapeOf<Options>

/**
 * Creates the benchmark.
 *
 * **Details**
 *
 * About one in fifteen labels is known to be wrong, most of them in virology. The files are sorted by subject, so a
 * `limit` samples every subject. Rows have no ids, so a task's id is a hash of its question and options.
 */
export const make = (options: Options = {}): Graded => {
  Tables.check("Mmlu.make", options, table)
  const { format = "line", split = "test" } = options
  return {
    id: "mmlu",
    title: "MMLU",
    source: { dataset: "cais/mmlu", revision: "refs/convert/parquet", files: files[split] },
    licence: "MIT",
    stratum: "subject",
    prompt: `mmlu/${format}/1`,
    grader: LetterGrader.make({ letters: "ABCD" }),
    exampleOf: (_, task) => letterReply(task.reference ?? "", format),
    // The five examples per subject provided by the authors.
    ...(split === "dev" ? {} : { examplesFrom: make({ format, split: "dev" }) }),
    oddityOf: (record) => equalOptions(Row.texts(record, "choices")),
    toTask: (record) => {
      const question = Row.text(record, "question").trim()
      const choices = Row.texts(record, "choices")
      const answer = Row.integer(record, "answer")
      if (choices.length !== 4 || answer < 0 || answer > 3)
        throw new Row.RowError("it needs four choices, and an answer from 0 to 3")
      const subject = Row.optionalText(record, "subject") ?? ""
      return Task.make({
        id: `mmlu/${split}/${subject === "" ? "" : `${subject}/`}${short(question, ...choices)}`,
        question: ask(question, choices, format),
        reference: letterAt(answer),
        metadata: { subject }
      })
    }
  }
}

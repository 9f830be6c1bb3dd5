/**
 * Your own benchmarks: a file of JSON lines with `question`, `answer` and, unless one grader is for all, `grader`.
 * Lines may also have `id`, `system` and `subject`.
 */

import path from "node:path"
import { Options as Tables } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import { Graders, type Verdict } from "@divisi/graders"
import * as Effect from "effect/Effect"
import { short } from "../internal/digest.ts"
import type { Graded } from "./Benchmark.ts"
import * as Row from "./Row.ts"

/** The file, and what else is known of the benchmark. */
export interface Options {
  /** JSON lines, gzipped or not, or Parquet. */
  readonly file: string
  /** Names the benchmark; the file's name by default. */
  readonly id?: string | undefined
  /** The grader of rows that name none: a name (see `Graders.names`), or a grader; `text` by default. */
  readonly grader?: string | Verdict.AnswerGrader | undefined
  readonly licence?: string | undefined
  /** Whether its questions must not be published. */
  readonly isConfidential?: boolean | undefined
}

const table = Tables.table(
  {
    file: Tables.name,
    id: Tables.name,
    grader: Tables.either(Tables.name, Tables.madeBy("a grader", "grade")),
    licence: Tables.text,
    isConfidential: Tables.flag
  } satisfies Tables.ShapeOf<Options>,
  { required: ["file"] }
)

const graderOf = (grader: string | Verdict.AnswerGrader): Verdict.AnswerGrader | undefined =>
  typeof grader === "string" ? Graders.named(grader) : grader

const checkGrader = (name: string): string => {
  if (Graders.named(name) === undefined) {
    throw new Row.RowError(`there is no grader "${name}"; there are ${Graders.names.join(", ")}`)
  }
  return name
}

/** Grades each task with the grader that its record names. */
const dispatch = (fallback: Verdict.AnswerGrader): Verdict.AnswerGrader => ({
  name: fallback.name,
  grade: (task, answer) =>
    Effect.suspend(() => (graderOf(String(task.metadata?.grader ?? "")) ?? fallback).grade(task, answer))
})

/** The answer as text: numbers may be written without quotes. */
const answerOf = (row: Row.Row): string => {
  const { answer } = row
  return typeof answer === "number" || typeof answer === "bigint" ? String(answer) : Row.text(row, "answer")
}

/**
 * Makes a benchmark of a file. A default grader that does not exist throws at once; one that a record names is reported
 * with the record.
 *
 * **Example**
 *
 * ```ts
 * import { UserBenchmark } from "@divisi/evals"
 *
 * const mine = UserBenchmark.make({ file: "questions.jsonl", grader: "math" })
 * mine.toTask({ id: "one", question: "6 times 7?", answer: 42 }, 0)?.reference // => "42"
 * ```
 */
export const make = (options: Options): Graded => {
  Tables.check("UserBenchmark.make", options, table)
  const fallback = graderOf(options.grader ?? "text")
  if (fallback === undefined) {
    throw new Error(`There is no grader "${options.grader}". Give one of ${Graders.names.join(", ")}.`)
  }
  const id = options.id ?? path.basename(options.file).replace(/\.(?:jsonl?|parquet)(?:\.gz)?$/, "")
  return {
    id,
    title: id,
    source: options.file,
    licence: options.licence ?? "no licence stated",
    isConfidential: options.isConfidential,
    stratum: "subject",
    prompt: "as given",
    grader: dispatch(fallback),
    toTask: (record) => {
      const question = Row.text(record, "question")
      const reference = answerOf(record)
      const [system, grader] = [Row.optionalText(record, "system"), Row.optionalText(record, "grader")]
      return Task.make({
        id: Row.optionalText(record, "id") ?? `${id}/${short(question, reference)}`,
        question,
        reference,
        system,
        metadata: {
          grader: grader === undefined ? undefined : checkGrader(grader),
          subject: Row.optionalText(record, "subject") ?? ""
        }
      })
    }
  }
}

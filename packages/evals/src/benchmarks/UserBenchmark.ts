/**
 * User-defined benchmarks: a JSON Lines file with `question`, `answer` and, unless all rows have the same grader,
 * `grader`. Rows may also have `id`, `system`, `subject`, and `options` (or `choices`), which are shown with letters
 * and graded by letter. Other fields are ignored with a notice.
 */

import path from "node:path"
import { Nearest, Options as Tables } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import { Graders, LetterGrader, type Sandbox, type Verdict } from "@divisi/graders"
import * as Effect from "effect/Effect"
import { short } from "../internal/digest.ts"
import type { Graded } from "./Benchmark.ts"
import { ask, type ChoiceFormat, equalOptions, letterAt, letterReply } from "./choices.ts"
import * as AnswerOptions from "./options.ts"
import * as Row from "./Row.ts"
import * as References from "./references.ts"

/** The file, and properties of the benchmark. */
export interface Options {
  /** Path of the file: JSON Lines (optionally gzipped) or Parquet. */
  readonly file: string
  /** Name of the benchmark. Default: the name of the file. */
  readonly id?: string | undefined
  /** Grader for rows that do not specify one: a name (see `Graders.names`) or a grader. Default: `text`. */
  readonly grader?: string | Verdict.AnswerGrader | undefined
  /** The answer format for rows with options: the letter on the last line (default), or in tags. */
  readonly format?: ChoiceFormat | undefined
  /** The sandbox for generated programs. Default: `Sandboxes.shared`. */
  readonly sandbox?: Sandbox.Sandbox | undefined
  readonly licence?: string | undefined
  /** Whether its questions must not be published. */
  readonly isConfidential?: boolean | undefined
}

const table = Tables.table(
  {
    file: Tables.name,
    id: Tables.name,
    grader: Tables.either(Tables.name, Tables.madeBy("a grader", "grade")),
    format: Tables.oneOf("line", "tags"),
    sandbox: Tables.madeBy("a sandbox", "run"),
    licence: Tables.name,
    isConfidential: Tables.flag
  } satisfies Tables.ShapeOf<Options>,
  { required: ["file"] }
)

const checkGrader = (name: string): string => {
  if (Graders.named(name) === undefined) {
    const suggestion = Nearest.didYouMean(Nearest.nearest(name, Graders.names))
    throw new Row.RowError(`unknown grader "${name}".${suggestion} Available graders: ${Graders.names.join(", ")}`)
  }
  return name
}

const letterGraders = ["letter", "letter-paper"]

/** Returns the letters of a task's options; an empty string for a task without options. */
const lettersOf = ({ metadata }: Task.Task): string =>
  Array.isArray(metadata?.options) ? metadata.options.map((_, index) => letterAt(index)).join("") : ""

/** Returns the grader of each task: the one specified in its record, or one for letters if it has options. */
const graderOf =
  (fallback: Verdict.AnswerGrader, { grader, sandbox }: Options) =>
  (task: Task.Task): Verdict.AnswerGrader => {
    const named = Graders.named(String(task.metadata?.grader ?? ""), sandbox)
    const letters = lettersOf(task)
    const isByLetter = letters !== "" && typeof grader !== "object" && !letterGraders.includes(fallback.name)
    return named ?? (isByLetter ? LetterGrader.make({ letters }) : fallback)
  }

const fields = ["question", "answer", "id", "system", "subject", "grader", "options", "choices"]

/** Returns the fields that are ignored, to report possible typing errors. */
const unread = (row: Row.Row): ReadonlyArray<string> =>
  Object.keys(row)
    .filter((field) => !fields.includes(field))
    .slice(0, 20)
    .map((field) => {
      const meant = Nearest.nearest(field, fields)
      const shown = JSON.stringify(field.slice(0, 40))
      return `the unknown field ${shown} is ignored${meant === undefined || row[meant] !== undefined ? "" : ` (did you mean "${meant}"?)`}`
    })

/** Formats a row with options as a question. The row's grader must support letters. */
const asked = (row: Row.Row, question: string, format: ChoiceFormat) => {
  const options = AnswerOptions.read(row)
  if (options === undefined) return { question, reference: answerOf(row) }
  const grader = Row.optionalText(row, "grader")
  if (grader !== undefined && !letterGraders.includes(checkGrader(grader))) {
    throw new Row.RowError(`its grader "${grader}" cannot grade options; remove it, or write "letter"`)
  }
  return {
    question: ask(question, options.texts, format),
    reference: letterAt(options.right),
    options: options.texts
  }
}

/** Returns the answer as a string; numbers may be unquoted. */
const answerOf = (row: Row.Row): string => {
  const { answer } = row
  return typeof answer === "number" || typeof answer === "bigint" ? String(answer) : Row.text(row, "answer")
}

/**
 * Creates a benchmark from a file. Throws if the default grader does not exist. If a row specifies an unknown grader,
 * the error is reported with the row when the file is loaded.
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
  const { format = "line", grader = "text", sandbox } = options
  const fallback = typeof grader === "string" ? Graders.named(grader, sandbox) : grader
  if (fallback === undefined) {
    throw new Error(`Unknown grader "${grader}". Available graders: ${Graders.names.join(", ")}.`)
  }
  const graderFor = graderOf(fallback, options)
  const id = options.id ?? path.basename(options.file).replace(/\.(?:jsonl?|parquet)(?:\.gz)?$/, "")
  return {
    id,
    title: id,
    source: options.file,
    licence: options.licence ?? "unknown",
    isConfidential: options.isConfidential,
    stratum: "subject",
    prompt: format === "line" ? "as given" : `as given/${format}`,
    grader: { ...fallback, grade: (task, answer) => Effect.suspend(() => graderFor(task).grade(task, answer)) },
    // Judges and graders of the user's own are not checked: they may cost money or compare in another way.
    problemOf: (task) => {
      const grader = graderFor(task)
      return grader === Graders.named(grader.name, sandbox) ? References.problemOf(task, grader) : Effect.undefined
    },
    oddityOf: (record) => {
      const options = AnswerOptions.read(record)
      const grader = Graders.named(Row.optionalText(record, "grader") ?? "", sandbox) ?? fallback
      const oddities = options === undefined ? [grader.oddityOf?.(answerOf(record))] : [equalOptions(options.texts)]
      return [...unread(record), ...oddities.filter((oddity) => oddity !== undefined)]
    },
    exampleOf: (_, task) =>
      lettersOf(task) === "" ? (task.reference ?? "") : letterReply(task.reference ?? "", format),
    toTask: (record) => {
      const { options, question, reference } = asked(record, Row.text(record, "question"), format)
      const [system, grader] = [Row.optionalText(record, "system"), Row.optionalText(record, "grader")]
      return Task.make({
        id: Row.optionalText(record, "id") ?? `${id}/${short(question, reference)}`,
        question,
        reference,
        system,
        metadata: {
          grader: grader === undefined ? undefined : checkGrader(grader),
          subject: Row.optionalText(record, "subject") ?? "",
          ...(options === undefined ? {} : { options })
        }
      })
    }
  }
}

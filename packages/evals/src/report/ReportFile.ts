/**
 * Reports on disk: the shareable files `results.json`, `samples.jsonl` and `questions.jsonl` in an evaluation's folder.
 *
 * For a confidential benchmark, the samples contain hashes of prompts and answers instead of text, and its questions
 * are left out. The other files in the folder (`journal.jsonl`, `answers.sqlite`, and `runs.sqlite` during runs) are
 * internal and contain the full text. Do not share them.
 */
import fs from "node:fs"
import path from "node:path"
import * as Task from "@divisi/core/Task"
import { JsonLines, Sealed, WholeFile } from "@divisi/files"
import { detailOf, type FileError } from "@divisi/files/FileError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { withoutText } from "../evaluation/sampling.ts"
import * as Report from "./Report.ts"

/** The names of the files in a folder. */
export const names = {
  results: "results.json",
  samples: "samples.jsonl",
  questions: "questions.jsonl",
  journal: "journal.jsonl",
  answers: "answers.sqlite",
  runs: "runs.sqlite"
} as const

/** The error for a report that cannot be read or written. */
export class ReportError extends Data.TaggedError("ReportError")<{
  readonly file: string
  readonly reason: "not-found" | "full" | "unwritable" | "foreign" | "damaged" | "newer"
  readonly detail: string
}> {
  override get message(): string {
    if (this.reason === "full") {
      return `The disk with ${this.file} is full. Free some space and run the command again; no answer is paid for twice.`
    }
    if (this.reason === "not-found") {
      return `There is no evaluation in "${this.file}". Pass the folder of an evaluation, or its results.json.`
    }
    const todo = {
      unwritable: "Check the path and its permissions",
      damaged: "Rerun the evaluation in the same folder to rewrite it; no answer is paid for twice",
      foreign: "Pass the folder of an evaluation, or its results.json",
      newer: "Update Divisi to read it"
    }[this.reason]
    return `Cannot use the evaluation "${this.file}": ${this.detail}. ${todo}.`
  }
}

/** Returns the samples of a report in order, without text that must not be shared. */
export const shareable = (
  report: Report.Report,
  samples: ReadonlyArray<Report.Sample>
): ReadonlyArray<Report.Sample> => {
  const confidential = new Set(report.benchmarks.filter((one) => one.isConfidential).map(({ benchmark }) => benchmark))
  return Report.sorted(samples).map((sample) => (confidential.has(sample.benchmark) ? withoutText(sample) : sample))
}

function* lines(samples: ReadonlyArray<Report.Sample>): Generator<string> {
  for (const sample of samples) yield `${Sealed.stringify(sample)}\n`
}

const unwritten =
  (folder: string) =>
  ({ cause, reason }: FileError) =>
    new ReportError({ file: folder, reason: reason === "Full" ? "full" : "unwritable", detail: detailOf(cause) })

/** The text of a question, with its reference answer if there is one. */
export interface Question {
  readonly benchmark: string
  readonly task: string
  readonly question: string
  readonly reference?: string | undefined
}

/** Returns the questions of benchmarks that are not confidential. */
export const questionsOf = (
  suites: ReadonlyArray<{
    readonly record: Pick<Report.BenchmarkRecord, "benchmark" | "isConfidential">
    readonly tasks: ReadonlyArray<Task.Task>
  }>
): ReadonlyArray<Question> =>
  suites
    .filter(({ record }) => !record.isConfidential)
    .flatMap(({ record, tasks }) =>
      tasks.map((task) => ({
        benchmark: record.benchmark,
        task: task.id,
        question: Task.question(task),
        reference: task.reference
      }))
    )

function* questionLines(questions: ReadonlyArray<Question>): Generator<string> {
  for (const question of questions) yield `${Sealed.stringify({ version: Report.version, ...question })}\n`
}

/** Writes the questions atomically. */
export const writeQuestions = (folder: string, questions: ReadonlyArray<Question>): Effect.Effect<void, ReportError> =>
  Effect.mapError(WholeFile.write(path.join(folder, names.questions), questionLines(questions)), unwritten(folder))

/**
 * Writes the results and the samples, each atomically. The samples are written first, because the results are computed
 * from them.
 */
export const write = (
  folder: string,
  report: Report.Report,
  samples: ReadonlyArray<Report.Sample>
): Effect.Effect<void, ReportError> =>
  WholeFile.write(path.join(folder, names.samples), lines(shareable(report, samples))).pipe(
    Effect.andThen(WholeFile.write(path.join(folder, names.results), `${Sealed.stringify(report, 2)}\n`)),
    Effect.mapError(unwritten(folder))
  )

const isFolder = (file: string): boolean => fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() === true

const within = (file: string, name: string): string =>
  isFolder(file) ? path.join(file, name) : path.join(path.dirname(file), name)

/** Checks the version and the outer structure of a value. The rest was written by {@link write} and is trusted. */
const checked = <A extends { readonly version: number }>(file: string, value: unknown, has: string): A => {
  if (typeof value !== "object" || value === null || !("version" in value) || !(has in value)) {
    throw new ReportError({ file, reason: "foreign", detail: "it was not written by an evaluation" })
  }
  if (typeof value.version !== "number" || value.version > Report.version) {
    throw new ReportError({ file, reason: "newer", detail: `its version is ${value.version}` })
  }
  return value as unknown as A
}

const reading = <A>(file: string, read: () => Promise<A>): Effect.Effect<A, ReportError> =>
  Effect.tryPromise({
    try: read,
    catch: (error) => {
      if (error instanceof ReportError) return error
      if (error instanceof Sealed.DamageError) {
        return new ReportError({ file, reason: "damaged", detail: error.message })
      }
      const isAbsent = (error as NodeJS.ErrnoException).code === "ENOENT"
      return new ReportError({ file, reason: isAbsent ? "not-found" : "foreign", detail: detailOf(error, file) })
    }
  })

/** Reads the results from a folder or a `results.json` file. */
export const read = (file: string): Effect.Effect<Report.Report, ReportError> => {
  const at = isFolder(file) ? path.join(file, names.results) : file
  return withSibling(
    within(file, names.samples),
    reading(at, async () =>
      checked<Report.Report>(at, Sealed.parse(await fs.promises.readFile(at, "utf8"), { isOptional: true }), "cells")
    )
  )
}

/** If another file shows that the folder is that of an evaluation, a missing or unknown file is damaged. */
const withSibling = <A>(sibling: string, read: Effect.Effect<A, ReportError>): Effect.Effect<A, ReportError> =>
  Effect.mapError(read, (error) =>
    (error.reason === "not-found" || error.reason === "foreign") && fs.existsSync(sibling)
      ? new ReportError({ file: error.file, reason: "damaged", detail: error.detail })
      : error
  )

/** Checks that the samples are complete with respect to the results, because lost lines leave no trace. */
const checkCount = (file: string, samples: ReadonlyArray<Report.Sample>): Effect.Effect<void, ReportError> => {
  if (!fs.existsSync(within(file, names.results))) return Effect.void
  return Effect.flatMap(read(within(file, names.results)), ({ extent }) =>
    extent.samples === samples.length
      ? Effect.void
      : Effect.fail(
          new ReportError({
            file: within(file, names.samples),
            reason: "damaged",
            detail: `it has ${samples.length} samples of ${extent.samples}`
          })
        )
  )
}

/** Reads the samples of a folder, or of the folder that contains a given `results.json`. */
export const readSamples = (file: string): Effect.Effect<ReadonlyArray<Report.Sample>, ReportError> =>
  Effect.tap(withSibling(within(file, names.results), linesOf<Report.Sample>(within(file, names.samples))), (samples) =>
    checkCount(file, samples)
  )

/** Reads the questions in a folder. Empty if the folder contains no questions file. */
export const readQuestions = (file: string): Effect.Effect<ReadonlyArray<Question>, ReportError> => {
  const at = within(file, names.questions)
  return fs.existsSync(at) ? linesOf<Question & { readonly version: number }>(at) : Effect.succeed([])
}

/** Reads the lines of a file, each of which belongs to a task. */
const linesOf = <A extends { readonly version: number }>(at: string): Effect.Effect<ReadonlyArray<A>, ReportError> => {
  const lineOf = (value: unknown) =>
    Effect.try({ try: () => checked<A>(at, value, "task"), catch: (error) => error as ReportError })
  return JsonLines.read(at, { isComplete: true, seal: "optional" }).pipe(
    Stream.mapEffect(lineOf),
    Stream.runCollect,
    Effect.mapError((error) => {
      if (error._tag === "ReportError") return error
      if (error._tag === "LineError") {
        return new ReportError({ file: at, reason: "damaged", detail: `line ${error.line} ${error.problem}` })
      }
      const reason = error.reason === "Missing" ? "not-found" : "foreign"
      return new ReportError({ file: at, reason, detail: detailOf(error.cause, at) })
    })
  )
}

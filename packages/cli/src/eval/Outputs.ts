/** Human-readable files for an evaluation, created from its report: the questions, a page and tables. */
import path from "node:path"
import { type Evaluation, ReportFile, WorkerProfile } from "@divisi/evals"
import type { Report, Sample } from "@divisi/evals/Report"
import { WholeFile } from "@divisi/files"
import type { FileError } from "@divisi/files/FileError"
import * as EvaluationTables from "@divisi/report/EvaluationTables"
import { Assets, Reports } from "@divisi/studio"
import * as Effect from "effect/Effect"
import { type Failure, failed } from "../invocation/Failure.ts"

const pageOf = (
  folder: string,
  report: Report,
  samples: ReadonlyArray<Sample>,
  questions: ReadonlyArray<ReportFile.Question>
): string => {
  const byTask = new Map(questions.map((one) => [JSON.stringify([one.benchmark, one.task]), one]))
  return Reports.evaluation(report, {
    name: path.basename(path.resolve(folder)),
    samples: ReportFile.shareable(report, samples),
    profiles: WorkerProfile.make(WorkerProfile.fromSamples(samples)).workers,
    questionOf: (benchmark, task) => byTask.get(JSON.stringify([benchmark, task]))
  })
}

/**
 * Writes the page. If the page has not been built (in a checkout), it is skipped and all other files are written,
 * because the answers were already paid for.
 */
const writePage = (folder: string, page: () => string): Effect.Effect<void, FileError> =>
  Effect.suspend(() => {
    try {
      return WholeFile.write(path.join(folder, "report.html"), page())
    } catch (error) {
      if (!(error instanceof Assets.NotBuilt)) throw error
      return Effect.sync(() => void process.stderr.write(`divisi: cannot write report.html. ${error.message}\n`))
    }
  })

/** Writes the files, each one atomically. */
export const write = (
  folder: string,
  report: Report,
  samples: ReadonlyArray<Sample>,
  suites: ReadonlyArray<Evaluation.Suite>
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const questions = ReportFile.questionsOf(suites)
    yield* ReportFile.writeQuestions(folder, questions)
    yield* writePage(folder, () => pageOf(folder, report, samples, questions))
    yield* WholeFile.write(path.join(folder, "report.md"), EvaluationTables.markdown(report))
    yield* WholeFile.write(path.join(folder, "report.csv"), EvaluationTables.csv(report))
  }).pipe(Effect.mapError(({ message }) => failed(`Cannot write the report. ${message}`)))

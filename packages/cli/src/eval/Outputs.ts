/** The readable files of an evaluation: a page and tables, created from its report. */
import path from "node:path"
import * as Task from "@divisi/core/Task"
import { type Evaluation, WorkerProfile } from "@divisi/evals"
import type { Report, Sample } from "@divisi/evals/Report"
import { WholeFile } from "@divisi/files"
import { EvaluationTables } from "@divisi/report"
import * as EvaluationPage from "@divisi/report/EvaluationPage"
import * as Effect from "effect/Effect"
import { type Failure, failed } from "../invocation/Failure.ts"

const questionsOf = (suites: ReadonlyArray<Evaluation.Suite>): EvaluationPage.QuestionOf => {
  const tasks = new Map(
    suites
      .filter(({ record }) => !record.isConfidential)
      .flatMap(({ record, tasks }) => tasks.map((task) => [`${record.benchmark}\n${task.id}`, task] as const))
  )
  return (benchmark, id) => {
    const task = tasks.get(`${benchmark}\n${id}`)
    if (task === undefined) return undefined
    return { question: Task.question(task), reference: task.reference }
  }
}

/** Writes the files, each one atomically. */
export const write = (
  folder: string,
  report: Report,
  samples: ReadonlyArray<Sample>,
  suites: ReadonlyArray<Evaluation.Suite>
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const page = EvaluationPage.render(report, {
      samples,
      profiles: WorkerProfile.make(WorkerProfile.fromSamples(samples)),
      questionOf: questionsOf(suites)
    })
    yield* WholeFile.write(path.join(folder, "report.html"), page)
    yield* WholeFile.write(path.join(folder, "report.md"), EvaluationTables.markdown(report))
    yield* WholeFile.write(path.join(folder, "report.csv"), EvaluationTables.csv(report))
  }).pipe(Effect.mapError(({ message }) => failed(`Cannot write the report. ${message}`)))

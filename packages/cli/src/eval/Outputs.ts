/** What an evaluation leaves in its folder for people: a page and tables, made from its report. */
import path from "node:path"
import * as Task from "@divisi/core/Task"
import { ReportTables } from "@divisi/evals"
import type { Suite } from "@divisi/evals/Evaluation"
import type { Report, Sample } from "@divisi/evals/Report"
import * as ReportPage from "@divisi/evals/ReportPage"
import * as Effect from "effect/Effect"
import { type Failure, failed, messageOf } from "../invocation/Failure.ts"
import * as WholeFile from "../WholeFile.ts"

const questionsOf = (suites: ReadonlyArray<Suite>): ReportPage.QuestionOf => {
  const tasks = new Map(
    suites
      .filter(({ record }) => !record.isConfidential)
      .flatMap(({ record, tasks }) => tasks.map((task) => [`${record.benchmark}\n${task.id}`, task] as const))
  )
  return (benchmark, id) => {
    const task = tasks.get(`${benchmark}\n${id}`)
    if (task === undefined) return undefined
    return {
      question: Task.question(task),
      ...(task.reference === undefined ? {} : { reference: task.reference })
    }
  }
}

/** Writes them, each whole or not at all. */
export const write = (
  folder: string,
  report: Report,
  samples: ReadonlyArray<Sample>,
  suites: ReadonlyArray<Suite>
): Effect.Effect<void, Failure> =>
  Effect.try({
    try: () => {
      const page = ReportPage.render(report, { samples, questionOf: questionsOf(suites) })
      WholeFile.write(path.join(folder, "report.html"), page)
      WholeFile.write(path.join(folder, "report.md"), ReportTables.markdown(report))
      WholeFile.write(path.join(folder, "report.csv"), ReportTables.csv(report))
    },
    catch: (error) => failed(`Cannot write the report: ${messageOf(error)}.`)
  })

/** Formats summary figures for the terminal. */
import * as Format from "../view/Format.ts"
import { table } from "../view/Table.ts"
import type { Figures, Gaps } from "./Figures.ts"

const percent = (share: number): string => `${(100 * share).toFixed(1)}%`

const accuracy = ({ accuracy, standardError }: Figures): string =>
  accuracy === null ? "–" : `${percent(accuracy)} ± ${(100 * standardError).toFixed(1)}`

/** Describes the tasks that are excluded from the accuracy, with the reasons. */
const notMeasured = ({ notMeasured, notMeasuredBy }: Figures): string => {
  const by = Object.entries(notMeasuredBy).map(([reason, count]) => `${reason}: ${count}`)
  return `${Format.count(notMeasured, "task")} not measured and not included in the accuracy (${by.join(", ")})`
}

const perTask = ({ costUsd, tasks }: Figures): number => (tasks === 0 ? 0 : costUsd / tasks)

/** Formats the figures for one policy. */
export const one = (report: Figures, gaps: Gaps): string =>
  [
    `policy    ${report.policy}`,
    `tasks     ${Format.integer(report.tasks)}`,
    `accuracy  ${accuracy(report)}`,
    `cost      ${Format.cost(report.costUsd)}, ${Format.cost(perTask(report), report.isPlay)} per task`,
    `steps     ${report.meanSteps.toFixed(2)} per task`,
    ...(report.notMeasured === 0 ? [] : [`          ${notMeasured(report)}`]),
    ...(gaps.unanswered === 0 ? [] : [`          ${Format.count(gaps.unanswered, "task")} without an answer`]),
    ...(gaps.unpricedCalls === 0 ? [] : [`          ${Format.count(gaps.unpricedCalls, "call")} of unknown price`])
  ].join("\n")

/** Formats the figures for several policies as a table. */
export const several = (reports: ReadonlyArray<Figures>): string => {
  const rows = [
    ["policy", "accuracy", "cost per task", "steps"],
    ...reports.map((report) => [
      report.policy,
      accuracy(report),
      Format.cost(perTask(report), report.isPlay),
      report.meanSteps.toFixed(2)
    ])
  ]
  const lost = reports.filter(({ notMeasured }) => notMeasured > 0)
  return [table(rows), ...lost.map((report) => `${report.policy}: ${notMeasured(report)}`)].join("\n")
}

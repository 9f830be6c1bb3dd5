/** Accuracy with intervals: a strip for each policy, best first. */
import { type Axis, across, grid, rounded, ticksOf } from "../chart/Axes.ts"
import { head, row, stripHeight } from "../chart/Rows.ts"
import { figure } from "../page/Figure.ts"
import { type Html, html } from "../page/Html.ts"
import { inPercent, percent, withError } from "../page/Numbers.ts"
import { section } from "../page/Page.ts"
import { table } from "../page/Table.ts"
import type { BenchmarkRecord, Cell, Evaluation } from "./Evaluation.ts"

/** From a little below the lowest interval to a little above the highest. */
const axisOf = (cells: ReadonlyArray<Cell>): Axis => {
  const ends = cells.flatMap(({ score: { high, low, mean, standardError } }) =>
    standardError === 0 ? [mean ?? 0] : [low ?? mean ?? 0, high ?? mean ?? 0]
  )
  return rounded(Math.max(0, Math.min(...ends)), Math.min(1, Math.max(...ends)), [0.01, 0.99], 5)
}

const middle = stripHeight / 2

const strip = ({ score: { high, low, mean, standardError } }: Cell, { at }: Axis, isReference: boolean) => {
  const kind = isReference && " reference"
  return [
    // If all scores are equal, the standard error is 0, which the adjacent figure shows: the table has the interval.
    standardError !== 0 &&
      low !== null &&
      high !== null &&
      html`<line class="whisker${kind}" x1="${across(at(low))}" x2="${across(at(high))}" y1="${middle}" y2="${middle}"/>`,
    mean !== null && html`<circle class="dot${kind}" cx="${across(at(mean))}" cy="${middle}" r="5"/>`
  ]
}

/** Cells with the highest score first; those without one last. */
const ranked = (cells: ReadonlyArray<Cell>): ReadonlyArray<Cell> =>
  cells.toSorted((left, right) => (right.score.mean ?? -1) - (left.score.mean ?? -1))

const alternative = (title: string, cells: ReadonlyArray<Cell>): string => {
  const [best] = cells
  const last = cells.at(-1)
  if (best === undefined || last === undefined) return `${title}: nothing was scored.`
  return `${title}: ${cells.length} policies, from ${best.policy} with ${inPercent(best.score.mean)} % to ${last.policy} with ${inPercent(last.score.mean)} %.`
}

/** pass@k and pass^k for the most answers that there are, where there are several. */
const passColumns = (cells: ReadonlyArray<Cell>) => {
  const most = Math.max(0, ...cells.flatMap(({ passAt }) => passAt.map(({ k }) => k)))
  if (most < 2) return []
  const at = (cell: Cell) => cell.passAt.find(({ k }) => k === most)
  return [
    { head: `any of ${most}, %`, cell: (cell: Cell) => inPercent(at(cell)?.any) },
    { head: `all of ${most}, %`, cell: (cell: Cell) => inPercent(at(cell)?.all) }
  ]
}

const figures = (title: string, cells: ReadonlyArray<Cell>, isReference: (cell: Cell) => boolean) =>
  table(
    `Accuracy on ${title}`,
    cells,
    [
      { head: "policy", cell: ({ policy }) => policy },
      { head: "score, %", cell: ({ score }) => withError(score.mean, score.standardError) },
      { head: "interval, %", cell: ({ score }) => `${inPercent(score.low)} to ${inPercent(score.high)}` },
      { head: "questions", cell: ({ score }) => score.questions },
      { head: "answers", cell: ({ score }) => score.samples },
      { head: "unreadable", cell: ({ score }) => score.unparsed },
      { head: "missing", cell: ({ score }) => score.missing },
      { head: "detectable, points", cell: ({ score }) => inPercent(score.minimumDetectable) },
      ...passColumns(cells)
    ],
    isReference
  )

const ofBenchmark = ({ cells, config }: Evaluation, { benchmark, title }: BenchmarkRecord): Html => {
  const shown = ranked(cells.filter((cell) => cell.benchmark === benchmark))
  const isReference = ({ policy }: Cell) => policy === config.policies[0]?.name
  const axis = axisOf(shown)
  const ticks = ticksOf(axis, percent)
  const lines = grid(ticks, stripHeight)
  return figure({
    title,
    note: `Mean score and its ${Math.round(100 * config.confidence)} % interval, clustered by question. The reference policy is colored.`,
    alternative: alternative(title, shown),
    picture: [
      head(ticks),
      ...shown.map((cell) =>
        row({
          name: cell.policy,
          value: withError(cell.score.mean, cell.score.standardError),
          strip: [...lines, ...strip(cell, axis, isReference(cell))],
          isReference: isReference(cell)
        })
      )
    ],
    table: figures(title, shown, isReference)
  })
}

/** A picture for each benchmark. */
export const accuracy = (evaluation: Evaluation): Html =>
  section(
    "accuracy",
    "Accuracy",
    evaluation.benchmarks.map((benchmark) => ofBenchmark(evaluation, benchmark))
  )

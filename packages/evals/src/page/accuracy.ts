/** Accuracy with intervals: a strip for each policy, best first. */
import { scaleLinear } from "d3-scale"
import { percent, percentWithError } from "../report/format.ts"
import type { BenchmarkRecord, Cell, Report } from "../report/Report.ts"
import { across, axis, figure, grid, row, type Tick, table } from "./chart.ts"
import { html, type Markup } from "./markup.ts"

interface Axis {
  readonly place: (share: number) => number
  readonly ticks: ReadonlyArray<Tick>
}

/** From a little below the lowest interval to a little above the highest. */
const axisOf = (cells: ReadonlyArray<Cell>): Axis => {
  const ends = cells.flatMap(({ score: { high, low, mean } }) => [low ?? mean ?? 0, high ?? mean ?? 0])
  const scale = scaleLinear([Math.max(0, Math.min(...ends)), Math.min(1, Math.max(...ends))], [0.01, 0.99]).nice(5)
  const ticks = scale.ticks(5).map((value) => ({ at: scale(value), label: `${Math.round(100 * value)} %` }))
  return { place: scale, ticks }
}

const height = 22

const strip = ({ score }: Cell, { place, ticks }: Axis, isReference: boolean) => {
  const kind = isReference ? " reference" : ""
  const { high, low, mean } = score
  const whisker =
    low === null || high === null
      ? ""
      : html`<line class="whisker${kind}" x1="${across(place(low))}" x2="${across(place(high))}" y1="${height / 2}" y2="${height / 2}"></line>`
  const dot =
    mean === null ? "" : html`<circle class="dot${kind}" cx="${across(place(mean))}" cy="${height / 2}" r="5"></circle>`
  return [...grid(ticks, height), whisker, dot]
}

/** Cells with the highest score first; those without one last. */
export const ranked = (cells: ReadonlyArray<Cell>): ReadonlyArray<Cell> =>
  cells.toSorted((left, right) => (right.score.mean ?? -1) - (left.score.mean ?? -1))

const alternative = (title: string, cells: ReadonlyArray<Cell>): string => {
  const [best] = cells
  const last = cells.at(-1)
  if (best === undefined || last === undefined) return `${title}: nothing was scored.`
  return `${title}: ${cells.length} policies, from ${best.policy} with ${percent(best.score.mean)} % to ${last.policy} with ${percent(last.score.mean)} %.`
}

const figures = (title: string, cells: ReadonlyArray<Cell>, isReference: (cell: Cell) => boolean) =>
  table(
    `Accuracy on ${title}`,
    cells,
    [
      { head: "policy", cell: ({ policy }) => policy },
      { head: "score, %", cell: ({ score }) => percentWithError(score.mean, score.standardError) },
      { head: "interval, %", cell: ({ score }) => `${percent(score.low)} to ${percent(score.high)}` },
      { head: "questions", cell: ({ score }) => score.questions },
      { head: "answers", cell: ({ score }) => score.samples },
      { head: "unreadable", cell: ({ score }) => score.unparsed },
      { head: "missing", cell: ({ score }) => score.missing },
      { head: "detectable, points", cell: ({ score }) => percent(score.minimumDetectable) },
      ...passColumns(cells)
    ],
    isReference
  )

/** pass@k and pass^k for the most answers that there are, where there are several. */
const passColumns = (cells: ReadonlyArray<Cell>) => {
  const most = Math.max(0, ...cells.flatMap(({ passAt }) => passAt.map(({ k }) => k)))
  if (most < 2) return []
  const at = (cell: Cell) => cell.passAt.find(({ k }) => k === most)
  return [
    { head: `any of ${most}, %`, cell: (cell: Cell) => percent(at(cell)?.any) },
    { head: `all of ${most}, %`, cell: (cell: Cell) => percent(at(cell)?.all) }
  ]
}

const ofBenchmark = (report: Report, { benchmark, title }: BenchmarkRecord): Markup => {
  const cells = ranked(report.cells.filter((cell) => cell.benchmark === benchmark))
  const reference = report.config.policies[0]?.name
  const isReference = ({ policy }: Cell) => policy === reference
  const shared = axisOf(cells)
  return html`<h3>${title}</h3>
${figure({
  caption: html`Mean score and its ${Math.round(100 * report.config.confidence)} % interval, clustered by question. The policy that the others are compared with is coloured.`,
  alternative: alternative(title, cells),
  picture: [
    axis(shared.ticks),
    ...cells.map((cell) =>
      row({
        name: cell.policy,
        value: percentWithError(cell.score.mean, cell.score.standardError),
        strip: strip(cell, shared, isReference(cell)),
        isReference: isReference(cell)
      })
    )
  ],
  table: figures(title, cells, isReference)
})}`
}

/** A picture for each benchmark. */
export const accuracy = (report: Report): Markup =>
  html`<section id="accuracy"><h2>Accuracy</h2>${report.benchmarks.map((benchmark) => ofBenchmark(report, benchmark))}</section>`

/**
 * Heat maps of worker scores by kind of question, with the amount of evidence, as standalone SVG files with a light and
 * a dark theme.
 */
import { html, shortened } from "./page/Html.ts"
import * as Picture from "./page/Picture.ts"
import { pictureStyle } from "./page/Style.ts"

/** A worker's results for one kind of question. */
export interface Cell {
  /** Mean score from 0 to 1; `null` if there are no questions. */
  readonly mean: number | null
  readonly questions: number
  /** Whether the router selects this worker. */
  readonly isChosen: boolean
}

/** The results for one kind of question. */
export interface Row {
  readonly name: string
  /** One cell per worker. */
  readonly cells: ReadonlyArray<Cell>
}

/** The data to plot. */
export interface Standings {
  readonly workers: ReadonlyArray<string>
  readonly rows: ReadonlyArray<Row>
}

const left = 190
const column = 120
const rowHeight = 30
const top = 44
/** Maximum length of names, in characters. */
const longest = { kind: 26, worker: 17 }

/** Number of questions at which a cell reaches full opacity. */
const sure = 60

const cellOf = ({ isChosen, mean, questions }: Cell, x: number, y: number) => {
  if (mean === null) return html`<text x="${x + column / 2}" y="${y + 19}" text-anchor="middle">–</text>`
  const strength = (0.15 + 0.85 * mean) * Math.min(1, 0.35 + (0.65 * questions) / sure)
  return html`<rect class="c0" x="${x + 2}" y="${y + 2}" width="${column - 4}" height="${rowHeight - 4}" rx="3" fill-opacity="${strength.toFixed(2)}"/>${isChosen && html`<rect class="box last" x="${x + 2}" y="${y + 2}" width="${column - 4}" height="${rowHeight - 4}" rx="3" fill-opacity="0"/>`}<text class="inside" x="${x + column / 2}" y="${y + 19}" text-anchor="middle">${(100 * mean).toFixed(0)}% of ${questions}</text>`
}

/** Renders the heat map as SVG. `title` is the accessible name for screen readers. */
export const render = (title: string, { rows, workers }: Standings): string => {
  const [width, height] = [left + workers.length * column + 10, top + rows.length * rowHeight + 10]
  const heads = workers.map(
    (worker, at) =>
      html`<text x="${left + at * column + column / 2}" y="${top - 12}" text-anchor="middle"><title>${worker}</title>${shortened(worker, longest.worker)}</text>
`
  )
  const lines = rows.map(({ cells, name }, at) => {
    const y = top + at * rowHeight
    return html`<text x="${left - 10}" y="${y + 19}" text-anchor="end"><title>${name}</title>${shortened(name, longest.kind)}</text>${cells.map((cell, worker) => cellOf(cell, left + worker * column, y))}
`
  })
  const style = `${pictureStyle}svg text.inside{fill:var(--text)}`
  return `${Picture.render({ title, width, height, style }, html`${heads}${lines}`)}\n`
}

/**
 * Router pictures: the workers' strengths by kind of question, with the amount of evidence, as a standalone SVG file
 * with a light and a dark theme.
 */
import { html, shortened } from "./page/Html.ts"
import * as Picture from "./page/Picture.ts"
import { pictureStyle } from "./page/Style.ts"

/** A worker's results on the questions of a row. */
export interface Cell {
  /** The mean score, from 0 to 1; `null` without questions. */
  readonly mean: number | null
  readonly questions: number
  /** Whether this worker is chosen. */
  readonly isChosen: boolean
}

/** A kind of question. */
export interface Row {
  readonly name: string
  /** The cells, one per worker. */
  readonly cells: ReadonlyArray<Cell>
}

/** The contents of the picture. */
export interface Standings {
  readonly workers: ReadonlyArray<string>
  readonly rows: ReadonlyArray<Row>
}

const left = 190
const column = 120
const rowHeight = 30
const top = 44
/** The characters of a name that fit. */
const longest = { kind: 26, worker: 17 }

/** With so many questions a cell is as strong as it gets. */
const sure = 60

const cellOf = ({ isChosen, mean, questions }: Cell, x: number, y: number) => {
  if (mean === null) return html`<text x="${x + column / 2}" y="${y + 19}" text-anchor="middle">–</text>`
  const strength = (0.15 + 0.85 * mean) * Math.min(1, 0.35 + (0.65 * questions) / sure)
  return html`<rect class="c0" x="${x + 2}" y="${y + 2}" width="${column - 4}" height="${rowHeight - 4}" rx="3" fill-opacity="${strength.toFixed(2)}"/>${isChosen && html`<rect class="box last" x="${x + 2}" y="${y + 2}" width="${column - 4}" height="${rowHeight - 4}" rx="3" fill-opacity="0"/>`}<text class="inside" x="${x + column / 2}" y="${y + 19}" text-anchor="middle">${(100 * mean).toFixed(0)} % of ${questions}</text>`
}

/** Returns the picture as the text of an SVG file; `title` is its name for screen readers. */
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

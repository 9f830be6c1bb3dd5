/**
 * Parts of pictures. Across, everything is in percent of the width, so that a picture fits any screen without its text
 * shrinking; down, in pixels.
 */
import { html, type Markup, type Piece } from "./markup.ts"

/** A share of the width. */
export const across = (share: number): string => `${(100 * share).toFixed(2)}%`

/** A place on an axis, from 0 to 1, with what stands there. */
export interface Tick {
  readonly at: number
  readonly label: string
}

const anchor = (at: number) => (at < 0.04 ? "start" : at > 0.96 ? "end" : "middle")

/** The labels of an axis, above rows that share it. */
export const axis = (ticks: ReadonlyArray<Tick>): Markup =>
  html`<div class="row axis"><span></span><svg height="16" aria-hidden="true">${ticks.map(
    ({ at, label }) => html`<text x="${across(at)}" y="12" text-anchor="${anchor(at)}">${label}</text>`
  )}</svg><span></span></div>`

/** Fine upright lines at the ticks. */
export const grid = (ticks: ReadonlyArray<Tick>, height: number): ReadonlyArray<Markup> =>
  ticks.map(({ at }) => html`<line class="grid" x1="${across(at)}" x2="${across(at)}" y1="0" y2="${height}"></line>`)

/** One row of a picture: a name, a strip, a figure. */
export const row = (options: {
  readonly name: string
  readonly value: string
  readonly strip: Piece
  readonly height?: number
  readonly isReference?: boolean
}): Markup => {
  const { height = 22, isReference = false, name, strip, value } = options
  return html`<div class="row${isReference ? " reference" : ""}"><span class="name" title="${name}">${name}</span><svg height="${height}" aria-hidden="true">${strip}</svg><span class="value">${value}</span></div>`
}

/** A column of a table: its head, and what it says of an item. */
export interface Column<A> {
  readonly head: string
  readonly cell: (item: A) => Piece
  /** Whether what it says is the best of its column. */
  readonly isBest?: (item: A) => boolean
}

/** A table that scrolls by itself where it is wider than the screen. The first column names the row. */
export const table = <A>(
  caption: string,
  items: ReadonlyArray<A>,
  columns: ReadonlyArray<Column<A>>,
  isReference: (item: A) => boolean = () => false
): Markup => {
  const [first, ...others] = columns
  const cells = (item: A) =>
    others.map(({ cell, isBest }) => html`<td${isBest?.(item) ? html` class="best"` : ""}>${cell(item)}</td>`)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table>
<thead><tr>${columns.map(({ head }) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${items.map(
    (item) =>
      html`<tr${isReference(item) ? html` class="reference"` : ""}><th scope="row">${first!.cell(item)}</th>${cells(item)}</tr>
`
  )}</tbody></table></div>`
}

/** A picture with what it shows in words, and the same as a table for those who cannot see it. */
export const figure = (options: {
  readonly caption: Piece
  /** What the picture shows, in a sentence. */
  readonly alternative: string
  readonly picture: Piece
  readonly table: Markup
}): Markup => html`<figure><figcaption>${options.caption}</figcaption>
<div role="img" aria-label="${options.alternative}">${options.picture}</div>
<details><summary>The figures</summary>${options.table}</details></figure>
`

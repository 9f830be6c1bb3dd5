/** Figures on a page: a chart with its legend, a text alternative, and the same data as a table. */
import { type Html, html, type Value } from "./Html.ts"

/** An entry of a legend. */
export interface LegendItem {
  readonly name: string
  /** Color index, starting at 0. See `Style`. */
  readonly colour: number
  /** The label used in the chart, such as a number. */
  readonly mark?: string | undefined
  /** Text after the name, such as the last value. */
  readonly value?: string | undefined
}

/** Renders the legend as a list. */
export const legend = (items: ReadonlyArray<LegendItem>): Html =>
  html`<ul class="legend">${items.map(
    ({ colour, mark, name, value }) =>
      html`<li><i class="b${colour}"></i>${mark !== undefined && `${mark} `}${name}${value !== undefined && html` <b>${value}</b>`}</li>`
  )}</ul>
`

/** A chart with its title, legend and data. */
export interface Figure {
  readonly title?: string | undefined
  readonly note?: string | undefined
  readonly legend?: Html | undefined
  /** A sentence that describes the chart, used as the text alternative. */
  readonly alternative: string
  readonly picture: Value
  /** Content below the chart. */
  readonly below?: Html | undefined
  /** The data as a table, collapsed by default. */
  readonly table: Html
}

/** Renders the figure. */
export const figure = ({ alternative, below, legend, note, picture, table, title }: Figure): Html => html`<figure>
${(title !== undefined || note !== undefined) && html`<figcaption>${title !== undefined && html`<h3>${title}</h3>`}${note !== undefined && html`<p class="note">${note}</p>`}</figcaption>`}
${legend}<div role="img" aria-label="${alternative}">${picture}</div>
${below}<details><summary>The figures</summary>${table}</details></figure>
`

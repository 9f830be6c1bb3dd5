/** Pictures on a page: each with a legend, what it shows in words, and the same figures as a table. */
import { type Html, html, type Value } from "./Html.ts"

/** The meaning of a colour in a picture. */
export interface LegendItem {
  readonly name: string
  /** From 0: see `Style`. */
  readonly colour: number
  /** Its label in the picture, such as a number. */
  readonly mark?: string | undefined
  /** The text after the name, such as the last value. */
  readonly value?: string | undefined
}

/** The legend, as a list. */
export const legend = (items: ReadonlyArray<LegendItem>): Html =>
  html`<ul class="legend">${items.map(
    ({ colour, mark, name, value }) =>
      html`<li><i class="b${colour}"></i>${mark !== undefined && `${mark} `}${name}${value !== undefined && html` <b>${value}</b>`}</li>`
  )}</ul>
`

/** A picture with everything around it. */
export interface Figure {
  readonly title?: string | undefined
  readonly note?: string | undefined
  readonly legend?: Html | undefined
  /** The contents of the picture, in a sentence, as its text alternative. */
  readonly alternative: string
  readonly picture: Value
  /** The content below the picture. */
  readonly below?: Html | undefined
  /** The figures, folded away. */
  readonly table: Html
}

/** The picture as an element of the page. */
export const figure = ({ alternative, below, legend, note, picture, table, title }: Figure): Html => html`<figure>
${(title !== undefined || note !== undefined) && html`<figcaption>${title !== undefined && html`<h3>${title}</h3>`}${note !== undefined && html`<p class="note">${note}</p>`}</figcaption>`}
${legend}<div role="img" aria-label="${alternative}">${picture}</div>
${below}<details><summary>The figures</summary>${table}</details></figure>
`

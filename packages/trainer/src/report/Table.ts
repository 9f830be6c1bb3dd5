/** The table that stands under a picture, for those who cannot see it or want the numbers. */
import { type Html, html } from "./Html.ts"

/** A table; the first cell of a row names it. */
export interface Table {
  readonly caption: string
  readonly columns: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
}

const row = ([name = "", ...cells]: ReadonlyArray<string>): Html =>
  html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`

/** The table itself. It scrolls by itself where the page is narrow. */
export const table = ({ caption, columns, rows }: Table): Html => html`
<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table>
<caption>${caption}</caption>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows.map(row)}</tbody>
</table></div>`

/** The table, folded away. */
export const folded = (content: Table): Html => html`<details><summary>Numbers</summary>${table(content)}</details>`

/** At most `most` of the items, evenly spread, the first and the last among them. */
export const spread = <A>(items: ReadonlyArray<A>, most: number): ReadonlyArray<A> =>
  items.length <= most
    ? items
    : Array.from({ length: most }, (_, index) => items[Math.round((index * (items.length - 1)) / (most - 1))]!)

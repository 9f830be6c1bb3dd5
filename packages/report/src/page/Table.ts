/**
 * Tables. On narrow screens, each row is displayed as a block in which every value follows its column heading. On other
 * screens, a table wider than the page scrolls separately.
 */
import { type Html, html, type Value } from "./Html.ts"

/** A column with its heading, and a function that returns the content for an item. */
export interface Column<A> {
  readonly head: string
  readonly cell: (item: A) => Value
  /** Whether the item's value is the best in this column. */
  readonly isBest?: ((item: A) => boolean) | undefined
}

/** Renders a table with one row per item. The first column contains row headings. */
export const table = <A>(
  caption: string,
  items: ReadonlyArray<A>,
  [first, ...others]: readonly [Column<A>, ...ReadonlyArray<Column<A>>],
  isReference: (item: A) => boolean = () => false
): Html => {
  const cells = (item: A) =>
    others.map(
      ({ cell, head, isBest }) =>
        html`<td${isBest?.(item) === true && html` class="best"`} data-head="${head}">${cell(item)}</td>`
    )
  const row = (item: A) =>
    html`<tr${isReference(item) && html` class="reference"`}><th scope="row">${first.cell(item)}</th>${cells(item)}</tr>
`
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table>
<thead><tr>${[first, ...others].map(({ head }) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${items.map(row)}</tbody></table></div>`
}

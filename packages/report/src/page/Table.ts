/**
 * Tables. On a narrow screen, each row is a block under its name, with every figure next to the head of its column. On
 * other screens, a table that is wider than the page scrolls separately.
 */
import { type Html, html, type Value } from "./Html.ts"

/** A column: its head, and its content for an item. */
export interface Column<A> {
  readonly head: string
  readonly cell: (item: A) => Value
  /** Whether what it says is the best of its column. */
  readonly isBest?: ((item: A) => boolean) | undefined
}

/** A table with one row for each item. The first column names the row. */
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

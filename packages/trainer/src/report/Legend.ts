/** What the colours of a picture stand for. */
import { type Html, html } from "./Html.ts"

/** An entry of a legend. */
export interface Item {
  readonly name: string
  readonly colour: number
  /** Shown after the name, e.g. the last value. */
  readonly value?: string
}

/** A legend as a list. */
export const legend = (items: ReadonlyArray<Item>): Html => html`
<ul class="legend">${items.map(
  ({ colour, name, value }) =>
    html`<li><span class="swatch b${colour}"></span>${name}${value !== undefined && html` <b>${value}</b>`}</li>`
)}</ul>`

/** Pictures of one row for each thing: a name, a strip, a figure. */
import { type Html, html, type Value } from "../page/Html.ts"
import { percent } from "../page/Numbers.ts"
import { across, type Tick } from "./Axes.ts"

/** A row. */
export interface Row {
  readonly name: string
  readonly value?: string | undefined
  readonly strip: Value
  readonly isReference?: boolean | undefined
}

/** The height of a strip, in pixels. */
export const stripHeight = 22

/** The row, as an element. */
export const row = ({ isReference = false, name, strip, value }: Row): Html =>
  html`<div class="row${isReference && " reference"}"><span class="name" title="${name}">${name}</span><svg height="${stripHeight}">${strip}</svg>${value !== undefined && html`<span class="value">${value}</span>`}</div>
`

const anchor = (at: number) => (at < 0.04 ? "start" : at > 0.96 ? "end" : "middle")

/** The labels of an axis, above rows that share it. */
export const head = (ticks: ReadonlyArray<Tick>): Html =>
  html`<div class="row axis"><span></span><svg height="16">${ticks.map(
    ({ at, label }) => html`<text x="${across(at)}" y="12" text-anchor="${anchor(at)}">${label}</text>`
  )}</svg><span></span></div>`

/** A part of a bar. */
export interface Part {
  readonly name: string
  readonly colour: number
  /** 0 to 1. */
  readonly share: number
  /** The text in it, if there is room. */
  readonly mark?: string | undefined
}

/** Less than this has no room for a mark. */
const leastMarked = 0.055

/** Shares of a whole, side by side. */
export const bar = (parts: ReadonlyArray<Part>): ReadonlyArray<Html> => {
  let end = 0
  return parts.map(({ colour, mark, name, share }) => {
    const from = end
    end += share
    const label =
      mark !== undefined &&
      share >= leastMarked &&
      html`<text class="inside" x="${across(from + share / 2)}" y="15" text-anchor="middle">${mark}</text>`
    return html`<rect class="part c${colour}" x="${across(from)}" width="${across(share)}" y="2" height="18" rx="2"><title>${name}: ${percent(share)}</title></rect>${label}`
  })
}

/** Charts with one row per item: a name, a bar and a value. */
import { type Html, html, type Value } from "../page/Html.ts"
import { percent } from "../page/Numbers.ts"
import { across, type Tick } from "./Axes.ts"

/** One row of the chart. */
export interface Row {
  readonly name: string
  readonly value?: string | undefined
  readonly strip: Value
  readonly isReference?: boolean | undefined
}

/** Height of a bar, in pixels. */
export const stripHeight = 22

/** Renders a row. */
export const row = ({ isReference = false, name, strip, value }: Row): Html =>
  html`<div class="row${isReference && " reference"}"><span class="name" title="${name}">${name}</span><svg height="${stripHeight}">${strip}</svg>${value !== undefined && html`<span class="value">${value}</span>`}</div>
`

const anchor = (at: number) => (at < 0.04 ? "start" : at > 0.96 ? "end" : "middle")

/** Renders the axis labels above rows with a common axis. */
export const head = (ticks: ReadonlyArray<Tick>): Html =>
  html`<div class="row axis"><span></span><svg height="16">${ticks.map(
    ({ at, label }) => html`<text x="${across(at)}" y="12" text-anchor="${anchor(at)}">${label}</text>`
  )}</svg><span></span></div>`

/** One segment of a bar. */
export interface Part {
  readonly name: string
  readonly colour: number
  /** Fraction of the bar, from 0 to 1. */
  readonly share: number
  /** Text inside the segment, shown if there is enough space. */
  readonly mark?: string | undefined
}

/** Minimum fraction of the bar at which a segment has space for text. */
const leastMarked = 0.055

/** Renders the segments of a bar side by side. */
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

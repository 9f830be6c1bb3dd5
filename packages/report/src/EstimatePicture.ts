/** Dot plots of estimates with their standard errors, as standalone SVG files with a light and a dark theme. */
import { rounded, ticksOf } from "./chart/Axes.ts"
import { html, shortened } from "./page/Html.ts"
import * as Picture from "./page/Picture.ts"

/** An estimated mean and its standard error. */
export interface Estimate {
  readonly mean: number
  readonly standardError: number
}

/** A row with one estimate per series; `undefined` if a series has no estimate. */
export interface Row {
  readonly name: string
  readonly estimates: ReadonlyArray<Estimate | undefined>
}

/** The data to plot. */
export interface Estimates {
  /** Names of the series, in color order. */
  readonly series: ReadonlyArray<string>
  readonly rows: ReadonlyArray<Row>
  /** Formats a value on the axis. */
  readonly format: (value: number) => string
  /** Minimum and maximum of the axis. */
  readonly range: readonly [least: number, greatest: number]
}

const width = 720
const [left, right] = [280, 24]
const [legendHeight, rowHeight, axisHeight] = [30, 24, 26]
/** Maximum length of a name, in characters. */
const longest = 42

/**
 * Renders the plot as SVG. `title` is the accessible name for screen readers.
 *
 * **Example**
 *
 * ```ts
 * import { EstimatePicture } from "@divisi/report"
 *
 * const svg = EstimatePicture.render("Right answers", {
 *   series: ["ours", "the rule"],
 *   rows: [
 *     {
 *       name: "new teams",
 *       estimates: [
 *         { mean: 0.92, standardError: 0.01 },
 *         { mean: 0.65, standardError: 0.02 }
 *       ]
 *     }
 *   ],
 *   format: (share) => `${Math.round(100 * share)}%`,
 *   range: [0, 1]
 * })
 * svg.includes("the rule: 65%") // => true
 * ```
 */
export const render = (title: string, { format, range, rows, series }: Estimates): string => {
  const bottom = legendHeight + rows.length * rowHeight
  const height = bottom + axisHeight
  const axis = rounded(range[0], range[1], [left, width - right], 5)
  const step = (width - left - right) / Math.max(1, series.length)
  const legend = series.map((name, at) => {
    const x = left + at * step
    return html`<circle class="c${at}" cx="${x + 5}" cy="12" r="5"/><text x="${x + 15}" y="16">${name}</text>
`
  })
  const grid = ticksOf(axis, format).map(
    ({ at, label }) =>
      html`<line class="grid" x1="${at}" x2="${at}" y1="${legendHeight}" y2="${bottom}"/><text x="${at}" y="${bottom + 17}" text-anchor="middle">${label}</text>
`
  )
  const lines = rows.map(({ estimates, name }, row) => {
    const y = legendHeight + (row + 0.5) * rowHeight
    const dots = estimates.map((one, at) => {
      if (one === undefined) return ""
      const [from, x, to] = [one.mean - one.standardError, one.mean, one.mean + one.standardError].map((value) =>
        axis.at(value).toFixed(1)
      )
      return html`<line class="line c${at}" x1="${from}" x2="${to}" y1="${y}" y2="${y}"/><circle class="c${at}" cx="${x}" cy="${y}" r="4.5"><title>${series[at]}: ${format(one.mean)}</title></circle>`
    })
    return html`<text x="${left - 12}" y="${y + 4}" text-anchor="end"><title>${name}</title>${shortened(name, longest)}</text>${dots}
`
  })
  return `${Picture.render({ title, width, height }, html`${legend}${grid}${lines}`)}\n`
}

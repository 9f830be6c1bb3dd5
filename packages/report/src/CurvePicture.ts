/** Line charts over iterations, as standalone SVG files with a light and a dark theme. */
import { type Lines, lines } from "./chart/Lines.ts"
import { html } from "./page/Html.ts"
import * as Picture from "./page/Picture.ts"

export type { Lines, Mark, Point, Series } from "./chart/Lines.ts"

const width = 720
const plotHeight = 360
const legendRow = 18

/**
 * Renders the chart as SVG. Each curve must have at least one value. `title` is the accessible name for screen readers.
 */
export const render = (title: string, curves: Omit<Lines, "height">): string => {
  const height = plotHeight + curves.series.length * legendRow + 16
  const legend = curves.series.map(({ colour, name }, index) => {
    const y = plotHeight + 8 + index * legendRow
    return html`<rect class="c${colour}" x="80" y="${y}" width="10" height="10"/><text x="96" y="${y + 9}">${name}</text>
`
  })
  return `${Picture.render(
    { title, width, height },
    html`${lines({ ...curves, height: plotHeight })}
${legend}`
  )}\n`
}

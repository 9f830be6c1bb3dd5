/** Curves of shares as a picture that stands alone, by day and by night. */

/** A curve: its values are shares, 0 to 1, from the first iteration on. */
export interface Series {
  readonly name: string
  readonly colour: number
  readonly values: ReadonlyArray<number>
}

const width = 720
const height = 360
const margin = { left: 48, right: 16, top: 16, bottom: 40 }
const legendRow = 18

const day = ["#2a6fdb", "#e07a1f", "#0f9d76", "#8a4fc7", "#d14a61", "#7a8b2a"]
const night = ["#5b9bff", "#f0954a", "#2fbf93", "#b48af0", "#f07a8c", "#a9bb55"]

const colours = (palette: ReadonlyArray<string>) =>
  palette.map((colour, index) => `.c${index}{stroke:${colour};fill:${colour}}`).join("")

const style = `<style>text{font:12px system-ui,sans-serif;fill:#59636e;stroke:none}.grid{stroke:#dfe3e8}polyline[class]{fill:none;stroke-width:1.8}${colours(day)}@media(prefers-color-scheme:dark){text{fill:#9aa5b1}.grid{stroke:#2c333d}${colours(night)}}</style>`

const escape = (text: string) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;")

const round = (value: number) => Math.round(value * 10) / 10

/** Each value as the mean of its neighbours, so that curves can be told apart. */
const smoothed = (values: ReadonlyArray<number>): ReadonlyArray<number> => {
  const reach = Math.min(8, Math.floor(values.length / 20))
  return values.map((_, index) => {
    const near = values.slice(Math.max(0, index - reach), index + reach + 1)
    return near.reduce((sum, value) => sum + value, 0) / near.length
  })
}

/** At most six whole numbers from 0 on, evenly apart. */
const marks = (most: number): ReadonlyArray<number> => {
  const step = [1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000].find((step) => most / step <= 6) ?? Math.ceil(most / 6)
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step)
}

/** The picture. */
export const lines = ({
  series,
  title
}: {
  readonly title: string
  readonly series: ReadonlyArray<Series>
}): string => {
  const most = Math.max(1, ...series.map(({ values }) => values.length))
  const x = (iteration: number) => round(margin.left + (iteration / most) * (width - margin.left - margin.right))
  const y = (share: number) => round(height - margin.bottom - share * (height - margin.top - margin.bottom))
  const grid = [0, 0.2, 0.4, 0.6, 0.8, 1].map(
    (share) =>
      `<line class="grid" x1="${margin.left}" x2="${width - margin.right}" y1="${y(share)}" y2="${y(share)}"/><text x="${margin.left - 6}" y="${y(share) + 4}" text-anchor="end">${Math.round(100 * share)} %</text>`
  )
  const ticks = marks(most).map(
    (iteration) =>
      `<text x="${x(iteration)}" y="${height - margin.bottom + 18}" text-anchor="middle">${iteration}</text>`
  )
  const curves = series.map(({ colour, values }) => {
    const points = smoothed(values).map((value, index) => `${x(index + 1)},${y(value)}`)
    return `<polyline class="c${colour % day.length}" points="${points.join(" ")}"/>`
  })
  const legend = series.map(({ colour, name }, index) => {
    const at = height + index * legendRow
    return `<rect class="c${colour % day.length}" x="${margin.left}" y="${at}" width="10" height="10"/><text x="${margin.left + 16}" y="${at + 9}">${escape(name)}</text>`
  })
  const whole = height + series.length * legendRow + 8
  const label = `<text x="${(margin.left + width - margin.right) / 2}" y="${height - 6}" text-anchor="middle">iteration</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${whole}" role="img" aria-label="${escape(title)}"><title>${escape(title)}</title>${style}${grid.join("")}${ticks.join("")}${label}${curves.join("")}${legend.join("")}</svg>\n`
}

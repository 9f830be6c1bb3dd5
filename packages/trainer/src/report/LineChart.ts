/** Curves over the iterations of a run. */
import { type Html, html } from "./Html.ts"
import { legend } from "./Legend.ts"
import { place } from "./Numbers.ts"
import * as Scale from "./Scale.ts"
import * as Table from "./Table.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A point of a curve. Where `y` is absent the curve has a gap. */
export interface Point {
  readonly x: number
  readonly y: number | undefined
}

/** A curve. */
export interface Series {
  readonly name: string
  /** Its colour, from 0: see `Style`. */
  readonly colour: number
  readonly points: ReadonlyArray<Point>
}

/** An iteration that is marked, e.g. as the beginning of a phase. */
export interface Mark {
  readonly x: number
  readonly name: string
}

/** A chart of curves. */
export interface LineChart {
  readonly title: string
  /** A sentence on what is seen. */
  readonly note?: string
  readonly series: ReadonlyArray<Series>
  readonly format: (value: number) => string
  readonly marks?: ReadonlyArray<Mark>
  /** Values that the axis reaches at least. */
  readonly includes?: ReadonlyArray<number>
  /** Whether the curve is a mean over neighbours, with the values themselves faint behind it; false by default. */
  readonly smooth?: boolean
}

// -------------------------------------------------------------------------------------------------------------------
// Measures
// -------------------------------------------------------------------------------------------------------------------

const width = 460
const height = 230
const left = 60
const right = 14
const top = 10
const bottom = 34

/** More points than this cannot be told apart. */
const mostPoints = 300
const mostRows = 12

// -------------------------------------------------------------------------------------------------------------------
// Curves
// -------------------------------------------------------------------------------------------------------------------

/** Each value as the mean of those within `reach` of it, gaps left out. */
export const smoothed = (points: ReadonlyArray<Point>, reach: number): ReadonlyArray<Point> =>
  points.map(({ x, y }, index) => {
    if (y === undefined) return { x, y }
    const near = points.slice(Math.max(0, index - reach), index + reach + 1).flatMap((point) => point.y ?? [])
    return { x, y: near.reduce((sum, value) => sum + value, 0) / near.length }
  })

/** The unbroken runs of a curve. */
const pieces = (points: ReadonlyArray<Point>): ReadonlyArray<ReadonlyArray<{ x: number; y: number }>> => {
  const found: Array<Array<{ x: number; y: number }>> = [[]]
  for (const { x, y } of points) {
    if (y === undefined) found.push([])
    else found.at(-1)!.push({ x, y })
  }
  return found.filter((piece) => piece.length > 0)
}

const curve = (points: ReadonlyArray<Point>, x: Scale.Scale, y: Scale.Scale, kind: string): ReadonlyArray<Html> =>
  pieces(points).map((piece) => {
    const places = piece.map((point) => `${place(x.at(point.x))},${place(y.at(point.y))}`)
    const [first] = piece
    return piece.length === 1
      ? html`<circle class="${kind} dot" cx="${place(x.at(first!.x))}" cy="${place(y.at(first!.y))}" r="2.5"/>`
      : html`<polyline class="${kind}" points="${places.join(" ")}"/>`
  })

const reachOf = (count: number): number => Math.min(10, Math.floor(count / 20))

const draw = ({ colour, points }: Series, smooth: boolean, x: Scale.Scale, y: Scale.Scale): Html => {
  const reach = smooth ? reachOf(points.length) : 0
  const shown = Table.spread(points, mostPoints)
  const line = reach === 0 ? shown : Table.spread(smoothed(points, reach), mostPoints)
  return html`<g class="c${colour}">${reach > 0 && curve(shown, x, y, "raw")}${curve(line, x, y, "line")}</g>`
}

// -------------------------------------------------------------------------------------------------------------------
// Chart
// -------------------------------------------------------------------------------------------------------------------

/** The axes of a chart over iterations, with its grid. */
export const axes = (x: Scale.Scale, y: Scale.Scale, format: (value: number) => string): Html => html`
${y.ticks.map(
  (
    tick
  ) => html`<line class="grid" x1="${left}" x2="${width - right}" y1="${place(y.at(tick))}" y2="${place(y.at(tick))}"/>
<text class="tick" text-anchor="end" x="${left - 6}" y="${place(y.at(tick) + 4)}">${format(tick)}</text>`
)}
${x.ticks.map(
  (tick) =>
    html`<text class="tick" text-anchor="middle" x="${place(x.at(tick))}" y="${height - bottom + 16}">${tick}</text>`
)}
<text class="tick" text-anchor="middle" x="${(left + width - right) / 2}" y="${height - 2}">iteration</text>`

const mark = ({ name, x }: Mark, scale: Scale.Scale): Html => {
  const at = place(scale.at(x))
  return html`<line class="phase" x1="${at}" x2="${at}" y1="${top}" y2="${height - bottom}"><title>${name}</title></line>`
}

/** The scales of a chart over iterations. */
export const scales = (xs: ReadonlyArray<number>, ys: ReadonlyArray<number>) => {
  const least = (values: ReadonlyArray<number>) => values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const most = (values: ReadonlyArray<number>) => values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  return {
    x: Scale.whole(least(xs), most(xs), left, width - right),
    y: Scale.rounded(least(ys), most(ys), height - bottom, top)
  }
}

/** A picture with a name that is read out. */
export const picture = (title: string, content: Html): Html =>
  html`<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">${content}</svg>`

const last = (points: ReadonlyArray<Point>) => points.findLast(({ y }) => y !== undefined)?.y

const numbers = ({ format, series, title }: LineChart): Table.Table => {
  const xs = [...new Set(series.flatMap(({ points }) => points.map(({ x }) => x)))].sort((a, b) => a - b)
  const values = series.map(({ points }) => new Map(points.map(({ x, y }) => [x, y])))
  const cell = (value: number | undefined) => (value === undefined ? "–" : format(value))
  return {
    caption: title,
    columns: ["iteration", ...series.map(({ name }) => name)],
    rows: Table.spread(xs, mostRows).map((x) => [String(x), ...values.map((of) => cell(of.get(x)))])
  }
}

/** The chart with its legend and its numbers; nothing when no curve has a point. */
export const lineChart = (chart: LineChart): Html | undefined => {
  const series = chart.series.filter(({ points }) => last(points) !== undefined)
  if (series.length === 0) return undefined
  const xs = series.flatMap(({ points }) => points.map(({ x }) => x))
  const ys = series.flatMap(({ points }) => points.flatMap(({ y }) => y ?? []))
  const { x, y } = scales(xs, [...ys, ...(chart.includes ?? [])])
  const marks = (chart.marks ?? []).filter((one) => xs.some((at) => at < one.x) && xs.some((at) => at > one.x))
  const items = series.map(({ colour, name, points }) => ({ name, colour, value: chart.format(last(points)!) }))
  return html`
<figure>
<figcaption><h3>${chart.title}</h3>${chart.note !== undefined && html`<p class="note">${chart.note}</p>`}</figcaption>
${legend(items)}
${picture(chart.title, html`${axes(x, y, chart.format)}${marks.map((one) => mark(one, x))}${series.map((one) => draw(one, chart.smooth === true, x, y))}`)}
${Table.folded(numbers({ ...chart, series }))}
</figure>`
}

/** Line charts over the iterations of a run. */
import { line } from "d3-shape"
import { type Html, html } from "../page/Html.ts"
import { type Axis, across, frame, place, type Range, rounded, ticksOf, whole } from "./Axes.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A point on a curve. If `y` is `undefined`, the curve has a gap. */
export interface Point {
  readonly x: number
  readonly y: number | undefined
}

/** A curve. */
export interface Series {
  readonly name: string
  /** Color index, starting at 0. See `Style`. */
  readonly colour: number
  readonly points: ReadonlyArray<Point>
}

/** A highlighted iteration, such as the start of a phase. */
export interface Mark {
  readonly x: number
  readonly name: string
}

/** The curves of a chart. */
export interface Lines {
  readonly series: ReadonlyArray<Series>
  readonly format: (value: number) => string
  readonly marks?: ReadonlyArray<Mark> | undefined
  /** Values that the axis must include. */
  readonly includes?: ReadonlyArray<number> | undefined
  /** Whether to smooth the curves. The original values are drawn faintly in the background. Default: `false`. */
  readonly isSmooth?: boolean | undefined
  /** The height in pixels. */
  readonly height: number
}

// -------------------------------------------------------------------------------------------------------------------
// Places
// -------------------------------------------------------------------------------------------------------------------

const range: Range = [0.11, 0.985]
/**
 * The width of the plot's coordinate system. The plot is stretched horizontally, because SVG paths cannot use
 * percentages; stroke widths are not affected.
 */
const plotWidth = 1000

interface Plot {
  /** Fractions of the plot's width, from 0 to 1. */
  readonly x: Axis
  /** Positions in pixels. */
  readonly y: Axis
  readonly height: number
}

const plotOf = (
  xs: ReadonlyArray<number>,
  ys: ReadonlyArray<number>,
  format: (value: number) => string,
  height: number
): Plot & { readonly frame: Html } => {
  const least = (values: ReadonlyArray<number>) => values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const most = (values: ReadonlyArray<number>) => values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  const x = whole(least(xs), most(xs))
  const y = rounded(least(ys), most(ys), [height - 38, 8])
  const outer = whole(least(xs), most(xs), range)
  return {
    x,
    y,
    height,
    frame: frame({ x: ticksOf(outer, String), y: ticksOf(y, format), xName: "iteration", range, height })
  }
}

/** Draws content in the plot's coordinate system: `plotWidth` units horizontally, pixels vertically. */
const stretched = (height: number, content: ReadonlyArray<Html>): Html =>
  html`<svg x="${across(range[0])}" y="0" width="${across(range[1] - range[0])}" height="${height}" viewBox="0 0 ${plotWidth} ${height}" preserveAspectRatio="none" aria-hidden="true">${content}</svg>`

// -------------------------------------------------------------------------------------------------------------------
// Curves
// -------------------------------------------------------------------------------------------------------------------

/** Replaces each value by the mean of the values within `reach` points, ignoring gaps. */
export const smoothed = (points: ReadonlyArray<Point>, reach: number): ReadonlyArray<Point> =>
  points.map(({ x, y }, index) => {
    if (y === undefined) return { x, y }
    const near = points.slice(Math.max(0, index - reach), index + reach + 1).flatMap((point) => point.y ?? [])
    return { x, y: near.reduce((sum, value) => sum + value, 0) / near.length }
  })

const reachOf = (count: number): number => Math.min(10, Math.floor(count / 20))

const curve = (points: ReadonlyArray<Point>, { x, y }: Plot, kind: string): Html => {
  const path = line<Point>()
    .defined((point) => point.y !== undefined)
    .x((point) => x.at(point.x) * plotWidth)
    .y((point) => y.at(point.y!))
    .digits(1)
  return html`<path class="${kind}" d="${path([...points]) ?? ""}"/>`
}

const draw = ({ colour, points }: Series, isSmooth: boolean, plot: Plot): Html => {
  const reach = isSmooth ? reachOf(points.length) : 0
  const drawn = reach === 0 ? points : smoothed(points, reach)
  return html`${reach > 0 && curve(points, plot, `raw c${colour}`)}${curve(drawn, plot, `line c${colour}`)}`
}

/** Draws dots for values without neighbors, which no line passes through. */
const lonely = ({ colour, points }: Series, { x, y }: Plot): ReadonlyArray<Html> =>
  points.flatMap((point, index, all) =>
    point.y === undefined || all[index - 1]?.y !== undefined || all[index + 1]?.y !== undefined
      ? []
      : html`<circle class="c${colour}" cx="${across(range[0] + x.at(point.x) * (range[1] - range[0]))}" cy="${place(y.at(point.y))}" r="2.5"/>`
  )

const markOf = ({ name, x }: Mark, plot: Plot): Html => {
  const at = across(range[0] + plot.x.at(x) * (range[1] - range[0]))
  return html`<line class="phase" x1="${at}" x2="${at}" y1="8" y2="${plot.height - 38}"><title>${name}</title></line>`
}

/** Draws curves with their axes. Each curve must have at least one value. */
export const lines = ({ format, height, includes = [], isSmooth = false, marks = [], series }: Lines): Html => {
  const xs = series.flatMap(({ points }) => points.map(({ x }) => x))
  const ys = series.flatMap(({ points }) => points.flatMap(({ y }) => y ?? []))
  const plot = plotOf(xs, [...ys, ...includes], format, height)
  const within = marks.filter((mark) => xs.some((x) => x < mark.x) && xs.some((x) => x > mark.x))
  return html`${plot.frame}${within.map((mark) => markOf(mark, plot))}${stretched(
    height,
    series.map((one) => draw(one, isSmooth, plot))
  )}${series.map((one) => lonely(one, plot))}`
}

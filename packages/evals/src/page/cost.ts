/** Accuracy against cost, with what nothing beats in both. */
import { scaleLinear, scaleLog } from "d3-scale"
import { count, percentWithError, seconds, usd } from "../report/format.ts"
import { front, type Valued } from "../report/front.ts"
import type { Overall, Report } from "../report/Report.ts"
import { across, figure, grid, type Tick, table } from "./chart.ts"
import { html, type Markup } from "./markup.ts"

/** A policy as a point. */
interface Point extends Valued {
  /** What it is called in the picture, from 1, by quality. */
  readonly number: number
  readonly overall: Overall
  readonly isReference: boolean
  readonly isFront: boolean
}

const pointsOf = ({ config, overall }: Report): ReadonlyArray<Point> => {
  const valued = overall
    .flatMap((one) =>
      one.mean === null || one.costUsd === null ? [] : [{ overall: one, quality: one.mean, cost: one.costUsd }]
    )
    .sort((left, right) => right.quality - left.quality || left.cost - right.cost)
  const best = new Set(front(valued).map(({ overall }) => overall.policy))
  return valued.map((point, index) => ({
    ...point,
    number: index + 1,
    isReference: point.overall.policy === config.policies[0]?.name,
    isFront: best.has(point.overall.policy)
  }))
}

const height = 360
const left = 0.09
const right = 0.97

/** What is free has no place on a logarithmic axis: it stands left of it. */
const costAxis = (costs: ReadonlyArray<number>) => {
  const paid = costs.filter((cost) => cost > 0)
  const ends = [Math.min(...paid) / 1.4, Math.max(...paid) * 1.4]
  const scale = scaleLog(ends, [left + (paid.length < costs.length ? 0.06 : 0), right])
  const decades = Math.log10(ends[1]! / ends[0]!)
  const shown = (value: number) => {
    const digit = Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9))
    return decades > 2.5 ? digit === 1 : digit === 1 || digit === 2 || digit === 5
  }
  const ticks: ReadonlyArray<Tick> = scale
    .ticks()
    .filter(shown)
    .map((value) => ({ at: scale(value), label: `$${Number(value.toPrecision(1))}` }))
  return { ticks, place: (cost: number) => (cost > 0 ? scale(cost) : left) }
}

const qualityAxis = (qualities: ReadonlyArray<number>) => {
  const scale = scaleLinear([Math.min(...qualities), Math.max(...qualities)], [height - 40, 16]).nice(5)
  return {
    place: scale,
    ticks: scale.ticks(5).map((value) => ({ y: scale(value), label: `${Math.round(100 * value)} %` }))
  }
}

interface Axes {
  readonly x: ReturnType<typeof costAxis>
  readonly y: ReturnType<typeof qualityAxis>
}

const frame = ({ x, y }: Axes) => [
  ...grid(x.ticks, height - 30),
  x.ticks.map(({ at, label }) => html`<text x="${across(at)}" y="${height - 14}" text-anchor="middle">${label}</text>`),
  y.ticks.map(
    (tick) =>
      html`<line class="grid" x1="0" x2="100%" y1="${tick.y}" y2="${tick.y}"></line><text x="0" y="${tick.y - 4}">${tick.label}</text>`
  )
]

/** The front as stairs: between two of its points nothing better is to be had. */
const stairs = (points: ReadonlyArray<Point>, { x, y }: Axes) => {
  const best = points.filter(({ isFront }) => isFront).toSorted((one, other) => one.cost - other.cost)
  return best.slice(1).map((point, index) => {
    const before = best[index]!
    const [from, to] = [across(x.place(before.cost)), across(x.place(point.cost))]
    const [low, high] = [y.place(before.quality), y.place(point.quality)]
    return html`<line class="front-line" x1="${from}" x2="${to}" y1="${low}" y2="${low}"></line><line class="front-line" x1="${to}" x2="${to}" y1="${low}" y2="${high}"></line>`
  })
}

const isMarked = ({ isFront, isReference }: Point): boolean => isFront || isReference

const dot = (point: Point, { x, y }: Axes) => {
  const kind = `dot${point.isReference ? " reference" : ""}${point.isFront ? " front" : ""}`
  return html`<circle class="${kind}" cx="${across(x.place(point.cost))}" cy="${y.place(point.quality)}" r="${isMarked(point) ? 6 : 4}"></circle>`
}

/** Where a number may stand beside its point, in pixels; the first that is free is taken. */
const sides = [
  [0, -9],
  [13, 4],
  [-13, 4],
  [0, 18],
  [15, -9],
  [-15, -9]
] as const

/** The width in pixels that numbers are kept apart at: that of a phone, so that they are apart on wider screens, too. */
const narrow = 360

interface Spot {
  readonly x: number
  readonly y: number
}

const isFree = (spot: Spot, taken: ReadonlyArray<Spot>): boolean =>
  taken.every((other) => Math.abs(other.x - spot.x) > 13 || Math.abs(other.y - spot.y) > 11)

/** The numbers, each beside its point and clear of the others and of other points, where there is room. */
const numbers = (points: ReadonlyArray<Point>, { x, y }: Axes) => {
  const places = points.map(({ cost, quality }) => ({ x: x.place(cost) * narrow, y: y.place(quality) + 4 }))
  const taken: Array<Spot> = []
  return points.map((point, index) => {
    const place = places[index]!
    const others = places.filter((_, other) => other !== index)
    const at = ([dx, dy]: readonly [number, number]) => ({ x: place.x + dx, y: place.y - 4 + dy })
    const side = sides.find((one) => isFree(at(one), [...taken, ...others])) ?? sides[0]
    taken.push(at(side))
    return html`<text class="${isMarked(point) ? "mark" : ""}" x="${across(x.place(point.cost))}" dx="${side[0]}" y="${at(side).y}" text-anchor="middle">${point.number}</text>`
  })
}

const figures = (points: ReadonlyArray<Point>) =>
  table(
    "Accuracy against cost",
    points,
    [
      { head: "policy", cell: ({ number, overall }) => `${number}. ${overall.policy}` },
      { head: "mean score, %", cell: ({ overall }) => percentWithError(overall.mean, overall.standardError) },
      { head: "USD per question", cell: ({ cost }) => usd(cost) },
      { head: "tokens", cell: ({ overall }) => count(overall.tokens) },
      { head: "time", cell: ({ overall }) => seconds(overall.millis) },
      { head: "on the front", cell: ({ isFront }) => (isFront ? "yes" : "") }
    ],
    ({ isReference }) => isReference
  )

const picture = (points: ReadonlyArray<Point>) => {
  const axes = {
    x: costAxis(points.map(({ cost }) => cost)),
    y: qualityAxis(points.map(({ quality }) => quality))
  }
  return html`<svg height="${height}">${frame(axes)}${stairs(points, axes)}${points.toReversed().map((point) => dot(point, axes))}${numbers(points, axes)}<text x="50%" y="${height}" text-anchor="middle">USD per question, logarithmic</text></svg>`
}

const legend = (points: ReadonlyArray<Point>) =>
  html`<ol class="legend">${points.map(({ isFront, number, overall }) => html`<li>${number}. ${isFront ? html`<b>${overall.policy}</b>` : overall.policy}</li>`)}</ol>`

/** One picture for all benchmarks together. */
export const cost = (report: Report): Markup => {
  const points = pointsOf(report)
  const paid = points.some(({ cost }) => cost > 0)
  const best = points.filter(({ isFront }) => isFront).map(({ overall }) => overall.policy)
  const body = paid
    ? figure({
        caption:
          "Mean over all benchmarks against the mean price of a question. The dashed line joins the Pareto front: policies that no other beats in both. They are bold in the list, which goes by score.",
        alternative: `${points.length} policies; on the Pareto front, from cheap to dear: ${best.toReversed().join(", ")}.`,
        picture: picture(points),
        table: figures(points)
      })
    : html`<p>Nothing cost anything, or no price is known.</p>`
  return html`<section id="cost"><h2>Accuracy against cost</h2>${body}${paid ? legend(points) : ""}</section>`
}

/** Accuracy against cost, with what nothing beats in both. */
import { scaleLog } from "d3-scale"
import { across, frame, grid, type Range, rounded, svg, type Tick, ticksOf } from "../chart/Axes.ts"
import { figure } from "../page/Figure.ts"
import { type Html, html } from "../page/Html.ts"
import { count, percent, seconds, usd, withError } from "../page/Numbers.ts"
import { note, section } from "../page/Page.ts"
import { table } from "../page/Table.ts"
import type { Evaluation, Overall } from "./Evaluation.ts"
import { front, type Valued } from "./front.ts"

/** A policy as a point. */
interface Point extends Valued {
  /** Its number in the picture, from 1, by quality. */
  readonly number: number
  readonly overall: Overall
  readonly isReference: boolean
  readonly isFront: boolean
}

const pointsOf = ({ config, overall }: Evaluation): ReadonlyArray<Point> => {
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

// -------------------------------------------------------------------------------------------------------------------
// Axes
// -------------------------------------------------------------------------------------------------------------------

const height = 360
const range: Range = [0.11, 0.97]

interface CostAxis {
  readonly ticks: ReadonlyArray<Tick>
  readonly at: (cost: number) => number
}

/** A free policy has no position on a logarithmic axis: it is to the left of it. */
const costAxis = (costs: ReadonlyArray<number>): CostAxis => {
  const paid = costs.filter((cost) => cost > 0)
  const [least, most] = [Math.min(...paid) / 1.4, Math.max(...paid) * 1.4]
  const free = range[0] + 0.02
  const scale = scaleLog([least, most], [range[0] + (paid.length < costs.length ? 0.08 : 0), range[1]])
  const shown = (value: number) => {
    const digit = Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9))
    return digit === 1 || (Math.log10(most / least) <= 2.5 && (digit === 2 || digit === 5))
  }
  const ticks = scale.ticks().filter(shown)
  return {
    ticks: ticks.map((value) => ({ at: scale(value), label: `$${Number(value.toPrecision(1))}` })),
    at: (cost) => (cost > 0 ? scale(cost) : free)
  }
}

const axesOf = (points: ReadonlyArray<Point>) => {
  const qualities = points.map(({ quality }) => quality)
  return {
    x: costAxis(points.map(({ cost }) => cost)),
    y: rounded(Math.min(...qualities), Math.max(...qualities), [height - 44, 16], 5)
  }
}

type Axes = ReturnType<typeof axesOf>

// -------------------------------------------------------------------------------------------------------------------
// Points
// -------------------------------------------------------------------------------------------------------------------

/** The front as stairs: between two of its points nothing better is to be had. */
const stairs = (points: ReadonlyArray<Point>, { x, y }: Axes) => {
  const best = points.filter(({ isFront }) => isFront).toSorted((one, other) => one.cost - other.cost)
  return best.slice(1).map((point, index) => {
    const before = best[index]!
    const [from, to] = [across(x.at(before.cost)), across(x.at(point.cost))]
    const [low, high] = [y.at(before.quality), y.at(point.quality)]
    return html`<line class="front-line" x1="${from}" x2="${to}" y1="${low}" y2="${low}"/><line class="front-line" x1="${to}" x2="${to}" y1="${low}" y2="${high}"/>`
  })
}

const isMarked = ({ isFront, isReference }: Point): boolean => isFront || isReference

const dot = (point: Point, { x, y }: Axes) =>
  html`<circle class="dot${point.isReference && " reference"}${point.isFront && " front"}" cx="${across(x.at(point.cost))}" cy="${y.at(point.quality)}" r="${isMarked(point) ? 6 : 4}"><title>${point.overall.policy}</title></circle>`

/** Possible positions of a number next to its point, in pixels. The first free one is taken. */
const sides = [
  [0, -9],
  [13, 4],
  [-13, 4],
  [0, 18],
  [15, -9],
  [-15, -9]
] as const

/**
 * The width in pixels that numbers are kept apart at: that of a phone, so that they are apart on wider screens, too.
 */
const narrow = 360

interface Spot {
  readonly x: number
  readonly y: number
}

const isFree = (spot: Spot, taken: ReadonlyArray<Spot>): boolean =>
  taken.every((other) => Math.abs(other.x - spot.x) > 13 || Math.abs(other.y - spot.y) > 11)

/** The numbers, each next to its point and clear of the other numbers and points, if there is room. */
const numbers = (points: ReadonlyArray<Point>, { x, y }: Axes) => {
  const places = points.map(({ cost, quality }) => ({ x: x.at(cost) * narrow, y: y.at(quality) + 4 }))
  const taken: Array<Spot> = []
  return points.map((point, index) => {
    const place = places[index]!
    const others = places.filter((_, other) => other !== index)
    const at = ([dx, dy]: readonly [number, number]) => ({ x: place.x + dx, y: place.y - 4 + dy })
    const side = sides.find((one) => isFree(at(one), [...taken, ...others])) ?? sides[0]
    taken.push(at(side))
    return html`<text${isMarked(point) && html` class="mark"`} x="${across(x.at(point.cost))}" dx="${side[0]}" y="${at(side).y}" text-anchor="middle">${point.number}</text>`
  })
}

// -------------------------------------------------------------------------------------------------------------------
// Section
// -------------------------------------------------------------------------------------------------------------------

const picture = (points: ReadonlyArray<Point>): Html => {
  const axes = axesOf(points)
  const y = ticksOf(axes.y, percent)
  const xName = "USD per question, logarithmic"
  return svg(
    height,
    html`${grid(axes.x.ticks, height - 34)}${frame({ x: axes.x.ticks, y, xName, range, height })}${stairs(points, axes)}${points.toReversed().map((point) => dot(point, axes))}${numbers(points, axes)}`
  )
}

const figures = (points: ReadonlyArray<Point>) =>
  table(
    "Accuracy against cost",
    points,
    [
      { head: "policy", cell: ({ number, overall }) => `${number}. ${overall.policy}` },
      { head: "mean score, %", cell: ({ overall }) => withError(overall.mean, overall.standardError) },
      { head: "USD per question", cell: ({ cost }) => usd(cost) },
      { head: "tokens", cell: ({ overall }) => count(overall.tokens) },
      { head: "time", cell: ({ overall }) => seconds(overall.millis) },
      { head: "on the front", cell: ({ isFront }) => (isFront ? "yes" : "") }
    ],
    ({ isReference }) => isReference
  )

const names = (points: ReadonlyArray<Point>) =>
  html`<ol class="legend">${points.map(({ isFront, number, overall }) => html`<li>${number}. ${isFront ? html`<b>${overall.policy}</b>` : overall.policy}</li>`)}</ol>`

/** One picture for all benchmarks together. */
export const cost = (evaluation: Evaluation): Html => {
  const points = pointsOf(evaluation)
  const best = points.filter(({ isFront }) => isFront).map(({ overall }) => overall.policy)
  const content = points.some(({ cost }) => cost > 0)
    ? figure({
        note: "Mean over all benchmarks against the mean price of a question. The dashed line connects the Pareto front: policies that no other policy beats in both. They are bold in the list, which is sorted by score.",
        alternative: `${points.length} policies; on the Pareto front, cheapest first: ${best.toReversed().join(", ")}.`,
        picture: picture(points),
        below: names(points),
        table: figures(points)
      })
    : note("Nothing cost anything, or no price is known.")
  return section("cost", "Accuracy against cost", content)
}

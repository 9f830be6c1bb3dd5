/** Scales of pictures, and the frame around curves and points. */
import { scaleLinear } from "d3-scale"
import { type Html, html } from "../page/Html.ts"

/** From values to places, with the values at which an axis has a mark. */
export interface Axis {
  readonly at: (value: number) => number
  readonly ticks: ReadonlyArray<number>
}

/** The start and the end of an axis. */
export type Range = readonly [start: number, end: number]

const inner: Range = [0, 1]

/** An axis that begins and ends at a round value. One value alone is given some room, so that it can be drawn. */
export const rounded = (from: number, to: number, range: Range = inner, count = 4): Axis => {
  const pad = from === to ? Math.abs(from) * 0.1 || 0.5 : 0
  const scale = scaleLinear([from === 0 ? 0 : from - pad, to + pad], range).nice(count)
  return { at: scale, ticks: scale.ticks(count) }
}

/** An axis from the first value to the last, with marks at whole numbers. */
export const whole = (from: number, to: number, range: Range = inner, count = 5): Axis => {
  const scale = scaleLinear([from, to], range)
  const ticks = scale.ticks(count).filter(Number.isInteger)
  return { at: scale, ticks: ticks.length === 0 ? [from] : ticks }
}

/**
 * A share of the width. Across, pictures are laid out in percent: they fit any screen, and their text never shrinks.
 */
export const across = (share: number): string => `${(100 * share).toFixed(2)}%`

/** A place in pixels. */
export const place = (value: number): string => String(Math.round(value * 10) / 10)

/** A mark of an axis: its position and its label. */
export interface Tick {
  readonly at: number
  readonly label: string
}

/** The marks of an axis, named. */
export const ticksOf = ({ at, ticks }: Axis, format: (value: number) => string): ReadonlyArray<Tick> =>
  ticks.map((value) => ({ at: at(value), label: format(value) }))

/** Fine upright lines at the marks. */
export const grid = (ticks: ReadonlyArray<Tick>, height: number): ReadonlyArray<Html> =>
  ticks.map(({ at }) => html`<line class="grid" x1="${across(at)}" x2="${across(at)}" y1="0" y2="${height}"/>`)

/** The frame of a picture with two axes: lines and labels for `y`, labels for `x`, and what `x` is. */
export interface Frame {
  /** In shares of the width. */
  readonly x: ReadonlyArray<Tick>
  /** In pixels. */
  readonly y: ReadonlyArray<Tick>
  readonly xName: string
  /** The horizontal start and end of the plot. */
  readonly range: Range
  readonly height: number
}

/** The frame. */
export const frame = ({ height, range: [start, end], x, xName, y }: Frame): Html =>
  html`${y.map(
    ({ at, label }) =>
      html`<line class="grid" x1="${across(start)}" x2="${across(end)}" y1="${place(at)}" y2="${place(at)}"/><text text-anchor="end" x="${across(start)}" dx="-6" y="${place(at + 4)}">${label}</text>`
  )}${x.map(
    ({ at, label }) => html`<text text-anchor="middle" x="${across(at)}" y="${height - 20}">${label}</text>`
  )}<text text-anchor="middle" x="${across((start + end) / 2)}" y="${height - 4}">${xName}</text>`

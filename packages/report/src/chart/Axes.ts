/** Axis scales, and the frame around a chart. */
import { scaleLinear } from "d3-scale"
import { type Html, html } from "../page/Html.ts"

/** Maps values to positions, and lists the tick values. */
export interface Axis {
  readonly at: (value: number) => number
  readonly ticks: ReadonlyArray<number>
}

/** Start and end position of an axis. */
export type Range = readonly [start: number, end: number]

const inner: Range = [0, 1]

/**
 * Creates an axis whose ends are rounded to tick values. If there is only one value, the axis is extended around it.
 */
export const rounded = (from: number, to: number, range: Range = inner, count = 4): Axis => {
  const pad = from === to ? Math.abs(from) * 0.1 || 0.5 : 0
  const scale = scaleLinear([from === 0 ? 0 : from - pad, to + pad], range).nice(count)
  return { at: scale, ticks: scale.ticks(count) }
}

/** Creates an axis from the first to the last value, with ticks at integers. */
export const whole = (from: number, to: number, range: Range = inner, count = 5): Axis => {
  const scale = scaleLinear([from, to], range)
  const ticks = scale.ticks(count).filter(Number.isInteger)
  return { at: scale, ticks: ticks.length === 0 ? [from] : ticks }
}

/**
 * Formats a fraction of the width as a percentage. Horizontal positions are percentages, so that charts fit any screen
 * without shrinking their text.
 */
export const across = (share: number): string => `${(100 * share).toFixed(2)}%`

/** Formats a position in pixels. */
export const place = (value: number): string => String(Math.round(value * 10) / 10)

/** An axis tick with its position and label. */
export interface Tick {
  readonly at: number
  readonly label: string
}

/** Returns the labelled ticks of an axis. */
export const ticksOf = ({ at, ticks }: Axis, format: (value: number) => string): ReadonlyArray<Tick> =>
  ticks.map((value) => ({ at: at(value), label: format(value) }))

/** The frame of a chart: grid lines and labels for `y`, labels and a title for `x`. */
export interface Frame {
  /** Positions as fractions of the width. */
  readonly x: ReadonlyArray<Tick>
  /** Positions in pixels. */
  readonly y: ReadonlyArray<Tick>
  readonly xName: string
  /** Horizontal start and end of the plot. */
  readonly range: Range
  readonly height: number
}

/** Draws the frame. */
export const frame = ({ height, range: [start, end], x, xName, y }: Frame): Html =>
  html`${y.map(
    ({ at, label }) =>
      html`<line class="grid" x1="${across(start)}" x2="${across(end)}" y1="${place(at)}" y2="${place(at)}"/><text text-anchor="end" x="${across(start)}" dx="-6" y="${place(at + 4)}">${label}</text>`
  )}${x.map(
    ({ at, label }) => html`<text text-anchor="middle" x="${across(at)}" y="${height - 20}">${label}</text>`
  )}<text text-anchor="middle" x="${across((start + end) / 2)}" y="${height - 4}">${xName}</text>`

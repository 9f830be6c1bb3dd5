/** Scales: from values to places in a picture, and the round values that an axis names. */

/** Maps values to places, with the values at which an axis has a mark. */
export interface Scale {
  readonly at: (value: number) => number
  readonly ticks: ReadonlyArray<number>
}

/** 1, 2 or 5 times a power of ten: the least that is not below `value`. */
const roundUp = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5].find((factor) => factor * power >= value * 0.999) ?? 10) * power
}

/** Where an axis has marks: about `count` round values that cover `from` to `to`. */
export const ticks = (from: number, to: number, count: number): ReadonlyArray<number> => {
  const span = to - from
  if (!(span > 0)) return [from]
  const step = roundUp(span / count)
  const first = Math.floor(from / step + 1e-9)
  const last = Math.ceil(to / step - 1e-9)
  // The product of a whole number and a power of ten: not a sum, which would carry errors along.
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)))
}

/** A linear scale that begins and ends at a mark. A span of one value is widened, so that it can be drawn. */
export const rounded = (from: number, to: number, start: number, end: number, count = 4): Scale => {
  const pad = from === to ? Math.abs(from) * 0.1 || 0.5 : 0
  const marks = ticks(from === 0 ? 0 : from - pad, to + pad, count)
  return { at: linear(marks[0]!, marks.at(-1)!, start, end), ticks: marks }
}

/** A linear scale from the first value to the last, with marks at whole numbers between them. */
export const whole = (from: number, to: number, start: number, end: number, count = 5): Scale => {
  const marks = ticks(from, to, count).filter((tick) => Number.isInteger(tick) && tick >= from && tick <= to)
  return { at: linear(from, to, start, end), ticks: marks.length === 0 ? [from] : marks }
}

const linear =
  (from: number, to: number, start: number, end: number) =>
  (value: number): number =>
    to === from ? (start + end) / 2 : start + ((value - from) / (to - from)) * (end - start)

/** Medians with their spread, and slopes: all the statistics used by the benchmark. */

/** The median and quartiles of several samples. */
export interface Summary {
  readonly median: number
  readonly low: number
  readonly high: number
  readonly samples: number
}

/** Returns a quantile of sorted values, with interpolation. */
const quantile = (sorted: ReadonlyArray<number>, share: number): number => {
  const position = (sorted.length - 1) * share
  const below = sorted[Math.floor(position)]!
  const above = sorted[Math.ceil(position)]!
  return below + (above - below) * (position - Math.floor(position))
}

/** Returns the median, or NaN if there are no values. */
export const median = (values: ReadonlyArray<number>): number =>
  values.length === 0
    ? Number.NaN
    : quantile(
        values.toSorted((left, right) => left - right),
        0.5
      )

/** Returns the median with the first and third quartiles. */
export const summarise = (values: ReadonlyArray<number>): Summary => {
  const sorted = values.toSorted((left, right) => left - right)
  return {
    median: quantile(sorted, 0.5),
    low: quantile(sorted, 0.25),
    high: quantile(sorted, 0.75),
    samples: values.length
  }
}

/** Returns the slope of the least-squares line through the given points. */
export const slope = (points: ReadonlyArray<readonly [x: number, y: number]>): number => {
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / points.length
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / points.length
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0)
  const below = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
  return above / below
}

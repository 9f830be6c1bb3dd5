/** Range of an uncertain value: the median of many simulations, with lower and upper bounds. */

/** The 5th, 50th and 95th percentiles. */
export interface Range {
  readonly low: number
  readonly median: number
  readonly high: number
}

const quantile = (sorted: ReadonlyArray<number>, share: number): number => {
  const at = share * (sorted.length - 1)
  const below = Math.floor(at)
  const rest = at - below
  return sorted[below]! * (1 - rest) + (sorted[below + 1] ?? sorted[below]!) * rest
}

/** Returns the percentiles of one or more values. */
export const of = (values: ReadonlyArray<number>): Range => {
  const sorted = values.toSorted((left, right) => left - right)
  return { low: quantile(sorted, 0.05), median: quantile(sorted, 0.5), high: quantile(sorted, 0.95) }
}

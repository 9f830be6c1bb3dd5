/** An uncertain value: the middle of many simulations, and the range that covers most of them. */

/** The 5th, the 50th and the 95th percentile. */
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

/** The range of at least one value. */
export const of = (values: ReadonlyArray<number>): Range => {
  const sorted = values.toSorted((left, right) => left - right)
  return { low: quantile(sorted, 0.05), median: quantile(sorted, 0.5), high: quantile(sorted, 0.95) }
}

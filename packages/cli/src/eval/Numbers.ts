/** Shares, differences and p-values as reports print them. */

/** A share as a percentage; a dash where it is not known. */
export const percent = (share: number | null): string => (share === null ? "–" : (100 * share).toFixed(1))

/** A share with its standard error, in percent. */
export const withError = (share: number | null, error: number | null): string =>
  share === null ? "–" : `${percent(share)} ± ${percent(error)}`

/** A difference in points, with its sign. */
export const points = (difference: number | null): string =>
  difference === null ? "–" : `${difference < 0 ? "−" : "+"}${(100 * Math.abs(difference)).toFixed(1)}`

/** A p-value. */
export const pValue = (p: number | null): string => (p === null ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3))

/** Formats fractions, differences and p-values for reports. */

/** Formats a fraction as a percentage, or as a dash if it is unknown. */
export const percent = (share: number | null): string => (share === null ? "–" : (100 * share).toFixed(1))

/** Formats a fraction and its standard error as percentages. */
export const withError = (share: number | null, error: number | null): string =>
  share === null ? "–" : `${percent(share)} ± ${percent(error)}`

/** Formats a difference in percentage points, including the sign. */
export const points = (difference: number | null): string =>
  difference === null ? "–" : `${difference < 0 ? "−" : "+"}${(100 * Math.abs(difference)).toFixed(1)}`

/** Formats a p-value. */
export const pValue = (p: number | null): string => (p === null ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3))

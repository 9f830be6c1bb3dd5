/** Formats numbers for display. Unknown values are shown as a dash. */

/** A number that may be unknown. */
export type Figure = number | null | undefined

export const unknown = "–"

const known = (figure: Figure, show: (value: number) => string): string =>
  figure === null || figure === undefined || !Number.isFinite(figure) ? unknown : show(figure)

/** Formats a fraction as a percentage without the sign: `84.2`. */
export const inPercent = (share: Figure): string => known(share, (value) => (100 * value).toFixed(1))

/** Formats a mean fraction and its standard error as percentages: `84.2 ± 1.3`. */
export const withError = (mean: Figure, error: Figure): string =>
  known(mean, () =>
    error === null || error === undefined ? inPercent(mean) : `${inPercent(mean)} ± ${inPercent(error)}`
  )

/** Formats a difference between fractions in percentage points, with its sign: `+3.1`. */
export const points = (difference: Figure): string =>
  known(difference, (value) => `${value < 0 ? "−" : "+"}${Math.abs(100 * value).toFixed(1)}`)

/** Formats an amount in USD with three significant digits and at least two decimals: `$0`, `$0.00118`, `$12.34`. */
export const usd = (amount: Figure): string =>
  known(amount, (value) => {
    if (value === 0) return "$0"
    const decimals = Math.min(10, Math.max(2, 2 - Math.floor(Math.log10(Math.abs(value)))))
    return `$${value.toFixed(decimals)}`
  })

/** Formats an integer: `12,960`. */
export const count = (figure: Figure): string => known(figure, (value) => Math.round(value).toLocaleString("en-US"))

/** Formats an integer with a noun: `1 call`, `1,204 rollouts`. */
export const counted = (value: number, noun: string): string => `${count(value)} ${noun}${value === 1 ? "" : "s"}`

/** Formats a number with two decimals. */
export const decimal = (figure: Figure): string => known(figure, (value) => value.toFixed(2))

/** Formats milliseconds as seconds: `0.42 s`, `31 s`. */
export const seconds = (millis: Figure): string =>
  known(millis, (value) => `${(value / 1000).toFixed(value < 10_000 ? 2 : 0)} s`)

/** Formats a p-value. Values below 0.001 are shown as `< 0.001`. */
export const pValue = (p: Figure): string => known(p, (value) => (value < 0.001 ? "< 0.001" : value.toFixed(3)))

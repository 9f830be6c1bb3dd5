/** Figures as people read them. What is not known is a dash. */
import type { Figure } from "./Report.ts"

export const unknown = "–"

const shown = (figure: Figure | undefined, show: (value: number) => string): string =>
  figure === null || figure === undefined || !Number.isFinite(figure) ? unknown : show(figure)

/** A share as percent, e.g. `84.2`. */
export const percent = (figure: Figure | undefined): string => shown(figure, (value) => (100 * value).toFixed(1))

/** A difference of shares in points, with its sign. */
export const points = (figure: Figure | undefined): string =>
  shown(figure, (value) => `${value < 0 ? "−" : "+"}${Math.abs(100 * value).toFixed(1)}`)

/** A mean with its standard error, both as percent. */
export const percentWithError = (mean: Figure, error: Figure): string =>
  mean === null || error === null ? percent(mean) : `${percent(mean)} ± ${percent(error)}`

/** Dollars with three digits that count. */
export const usd = (figure: Figure | undefined): string =>
  shown(figure, (value) => {
    if (value === 0) return "$0"
    const decimals = Math.min(10, Math.max(2, 2 - Math.floor(Math.log10(Math.abs(value)))))
    return `$${value.toFixed(decimals)}`
  })

export const count = (figure: Figure | undefined): string =>
  shown(figure, (value) => Math.round(value).toLocaleString("en-US"))

export const decimal = (figure: Figure | undefined, digits = 2): string =>
  shown(figure, (value) => value.toFixed(digits))

/** A duration in seconds. */
export const seconds = (millis: Figure | undefined): string =>
  shown(millis, (value) => `${(value / 1000).toFixed(value < 10_000 ? 2 : 0)} s`)

/** A p-value; below a thousandth only that it is. */
export const pValue = (figure: Figure | undefined): string =>
  shown(figure, (value) => (value < 0.001 ? "< 0.001" : value.toFixed(3)))

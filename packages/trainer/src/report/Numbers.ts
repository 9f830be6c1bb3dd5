/** Numbers as people read them in a report. */

/** Three significant digits, without zeros at the end: `0.973`, `12.4`, `3e-4`. */
export const short = (value: number): string => {
  if (value === 0) return "0"
  const size = Math.abs(value)
  if (size < 0.001 || size >= 1e6) return value.toExponential(1).replace(".0e", "e").replace("e+", "e")
  return String(Number(value.toPrecision(3)))
}

/** A share as a percentage: `97 %`, `0.4 %`. */
export const percent = (share: number): string => {
  const value = 100 * share
  return `${value < 9.95 ? Number(value.toFixed(1)) : Math.round(value)} %`
}

/** An amount of USD: `$0`, `$0.0012`, `$12.34`. */
export const usd = (amount: number): string =>
  amount === 0 ? "$0" : amount >= 1 ? `$${amount.toFixed(2)}` : `$${Number(amount.toPrecision(2))}`

/** A whole number with its noun. */
export const count = (value: number, noun: string): string =>
  `${value.toLocaleString("en-US")} ${noun}${value === 1 ? "" : "s"}`

/** A length of time: `42 s`, `3 min 05 s`, `2 h 10 min`. */
export const duration = (millis: number): string => {
  const seconds = Math.round(millis / 1000)
  if (seconds < 60) return millis < 9_950 ? `${(millis / 1000).toFixed(1)} s` : `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`
  const minutes = Math.round(seconds / 60)
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`
}

/** A coordinate in a picture. */
export const place = (value: number): string => String(Math.round(value * 10) / 10)

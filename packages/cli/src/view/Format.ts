/** Formats numbers for display. */

/** Formats a duration: `12 ms`, `1.2 s`, `2 min 05 s`. */
export const duration = (millis: number): string => {
  if (millis < 999.5) return `${Math.max(0, Math.round(millis))} ms`
  if (millis < 59_950) return `${(millis / 1000).toFixed(1)} s`
  const seconds = Math.round(millis / 1000)
  if (seconds >= 7_200)
    return `${Math.floor(seconds / 3600)} h ${String(Math.floor((seconds % 3600) / 60)).padStart(2, "0")} min`
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`
}

/**
 * Formats a cost in USD with at least two significant digits: `$0`, `$0.000012`, `$1.25`; `$1.25 play money` for play money.
 */
export const cost = (usd: number, isPlay = false): string => (isPlay ? `${dollars(usd)} play money` : dollars(usd))

const dollars = (usd: number): string => {
  if (usd === 0) return "$0"
  if (usd >= 1) return `$${usd.toFixed(2)}`
  const digits = Math.min(10, Math.max(2, 1 - Math.floor(Math.log10(usd))))
  return `$${usd.toFixed(digits).replace(/(\.\d\d\d*?)0+$/, "$1")}`
}

/** Formats an ordinal number: `2nd`, `3rd`, `4th`. */
export const nth = (value: number): string => {
  const ending = value % 100 > 10 && value % 100 < 14 ? "th" : (["th", "st", "nd", "rd"][value % 10] ?? "th")
  return `${value}${ending}`
}

/** Formats an integer: `1,204`. The first call of `toLocaleString` in a process takes 16 ms, to load its locale data. */
export const integer = (value: number): string => String(value).replace(/\B(?=(?:\d{3})+$)/g, ",")

/** Formats an integer with its noun: `1 call`, `1,204 tokens`. */
export const count = (value: number, noun: string): string => `${integer(value)} ${noun}${value === 1 ? "" : "s"}`

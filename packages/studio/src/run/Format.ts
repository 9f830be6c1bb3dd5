/** Formats numbers (with units) and text for the pages. */

const significant = (usd: number): string => {
  if (usd === 0) return "0"
  if (usd >= 1) return usd.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })
  const digits = Math.min(12, Math.max(2, 1 - Math.floor(Math.log10(usd))))
  return usd.toFixed(digits)
}

/** Formats money: two significant digits below a dollar, two decimals above. */
export const money = (usd: number | undefined, isPlay = false): string =>
  usd === undefined ? "unknown" : `${isPlay && usd > 0 ? "play " : ""}$${significant(usd)}`

/** Formats a duration: 604 ms, 4.0 s, 1 min 34 s. */
export const duration = (millis: number): string => {
  if (millis < 999.5) return `${Math.round(millis)} ms`
  const seconds = millis / 1000
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`
  return `${Math.floor(whole / 3_600)} h ${String(Math.floor((whole % 3_600) / 60)).padStart(2, "0")} min`
}

/** Formats a number of tokens for a list: 318, 6.3k, 1.2M. */
export const tokens = (count: number): string => {
  if (count < 1_000) return `${count}`
  if (count < 999_950) return `${(count / 1_000).toFixed(1)}k`
  return `${(count / 1_000_000).toFixed(1)}M`
}

/** Formats an integer with separators: 2,290. */
export const whole = (count: number): string => count.toLocaleString("en-US")

/** Formats a share from 0 to 1 as a percentage: 95.1 %. */
export const share = (value: number): string => `${(value * 100).toFixed(1)} %`

/** Formats a ratio: 2.4×, 101×. */
export const ratio = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)}×`

/** Formats a time in milliseconds since 1970: as an age if it is less than a day ago, otherwise as a date. */
export const when = (at: number, now: number): string => {
  const seconds = Math.max(0, Math.floor((now - at) / 1000))
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`
  return new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" })
}

/** Formats a time in milliseconds since 1970 exactly: 28 Nov 2026, 00:12:42 UTC. */
export const exactly = (at: number): string => {
  const date = new Date(at)
  const day = date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" })
  return `${day}, ${date.toISOString().slice(11, 19)} UTC`
}

/** Characters that change how the text around them is read: direction marks and control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are the ones to show.
const invisible = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

/** Replaces invisible characters that affect the display by their code points: `[U+202E]`. */
export const visible = (text: string): string =>
  text.replace(invisible, (character) => `[U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}]`)

/** Returns the start of a text on one line. */
export const oneLine = (text: string, most = 300): string => {
  const line = visible(text.slice(0, most * 2).replace(/\s+/g, " ")).trim()
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}

/** Encodes a name for use in a URL. Lone surrogates, which URLs cannot contain, become U+FFFD. */
export const segment = (name: string): string => encodeURIComponent(name.toWellFormed())

/** Returns the start of a run's id, for display. */
export const runId = (id: string): string => id.slice(0, 12)

/** Formats the position of a step or one of its items: `0.2`, `0.2[3]`. */
export const place = ({
  item,
  round,
  step
}: {
  readonly round: number
  readonly step: number
  readonly item?: string | undefined
}): string => `${round}.${step}${item === undefined ? "" : `[${item}]`}`

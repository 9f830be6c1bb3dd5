/** Formats numbers and text for the pages. A unit does not break from its number. */

const significant = (usd: number): string => {
  if (usd === 0) return "0"
  if (Math.abs(usd) >= 1e15) return usd.toExponential(1)
  if (usd >= 1) return usd.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })
  const digits = Math.min(12, Math.max(2, 1 - Math.floor(Math.log10(usd))))
  return usd.toFixed(digits)
}

/** Formats money: two significant digits below a dollar, two decimals above. */
export const money = (usd: number | undefined, isPlay = false): string =>
  usd === undefined ? "unknown" : `${isPlay && usd > 0 ? "play " : ""}$${significant(usd)}`

/** Formats a duration: 604 ms, 4.0 s, 1 min 34 s, 3.5 d. */
export const duration = (millis: number): string => {
  if (!(Math.abs(millis) < 1e15)) return "unknown"
  if (millis < 999.5) return `${Math.round(millis)}\u00a0ms`
  const seconds = millis / 1000
  if (seconds < 59.95) return `${seconds.toFixed(1)}\u00a0s`
  const whole = Math.round(seconds)
  if (whole < 3_600) return `${Math.floor(whole / 60)}\u00a0min ${String(whole % 60).padStart(2, "0")}\u00a0s`
  if (whole >= 172_800) return `${(whole / 86_400).toLocaleString("en-US", { maximumFractionDigits: 1 })}\u00a0d`
  return `${Math.floor(whole / 3_600)}\u00a0h ${String(Math.floor((whole % 3_600) / 60)).padStart(2, "0")}\u00a0min`
}

/** Formats a number of tokens for a list: 318, 6.3k, 1.2M. */
export const tokens = (count: number): string => {
  if (count < 1_000) return `${count}`
  if (count < 999_950) return `${(count / 1_000).toFixed(1)}k`
  return count < 999_950_000 ? `${(count / 1_000_000).toFixed(1)}M` : `${whole(Math.round(count / 1_000_000))}M`
}

/** Formats an integer with separators: 2,290. */
export const whole = (count: number): string =>
  Math.abs(count) < 1e15 ? count.toLocaleString("en-US") : count.toExponential(1)

/** Formats a number with a noun: 1 call, 2 calls. */
export const counted = (count: number, noun: string): string => `${whole(count)} ${noun}${count === 1 ? "" : "s"}`

/** Formats a share from 0 to 1 as a percentage: 95.1 %. */
export const share = (value: number): string => `${(value * 100).toFixed(1)}\u00a0%`

/** Formats a ratio: 2.4×, 101×. */
export const ratio = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)}×`

/** Formats a time in milliseconds since 1970 as ISO 8601. Returns "unknown time" if no calendar has it. */
export const iso = (at: number): string => {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? "unknown time" : date.toISOString()
}

const day = (at: number): string =>
  new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" })

const isTime = (at: number): boolean => !Number.isNaN(new Date(at).getTime())

/** Formats a time in milliseconds since 1970: as an age if it is less than a day ago, otherwise as a date. */
export const when = (at: number, now: number): string => {
  if (!isTime(at)) return "unknown time"
  const seconds = Math.max(0, Math.floor((now - at) / 1000))
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`
  return day(at)
}

/** Formats a time in milliseconds since 1970 exactly: 28 Nov 2026, 00:12:42 UTC. */
export const exactly = (at: number): string => (isTime(at) ? `${day(at)}, ${iso(at).slice(-13, -5)} UTC` : iso(at))

/** Text without any character that {@link visible} would replace. */
const plain = /^[\t\n\x20-\x7e\xa0-\xac\xae-\u02ff\u2010-\u2027]*$/

/**
 * Characters that change how the text around them is read, or that cannot be seen: control characters, direction marks,
 * fillers, joiners, tags and lone surrogates. Emoji, ideographs and scripts that need joiners are matched first, without
 * the group.
 */
const hidden =
  /\p{RGI_Emoji}|\p{Emoji}\ufe0e|\p{Ideographic}[\ufe00-\ufe02\u{e0100}-\u{e01ef}]|(?<=[\p{scx=Arab}\p{scx=Syrc}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Khmr}\p{scx=Mymr}])[\u200c\u200d]|([[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]--[\t\n]])/gv

/** Replaces characters that cannot be seen or affect the display by their code points: `[U+202E]`. */
export const visible = (text: string): string =>
  plain.test(text)
    ? text
    : text.replace(hidden, (match, character: string | undefined) =>
        character === undefined ? match : `[U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}]`
      )

/** Returns the start of a text, without half of a surrogate pair at its end. */
const start = (text: string, most: number): string => {
  const piece = text.slice(0, most)
  return text.length > most && /[\ud800-\udbff]$/.test(piece) ? piece.slice(0, -1) : piece
}

/** Returns the start of a text on one line. */
export const oneLine = (text: string, most = 300): string => {
  const line = visible(start(text, most * 2).replace(/\s+/g, " ")).trim()
  return line.length > most ? `${start(line, most - 1)}…` : line
}

/** Encodes a name for use in a URL. Lone surrogates, which URLs cannot contain, become U+FFFD. */
export const segment = (name: string): string => encodeURIComponent(name.toWellFormed())

/** Returns the start of a run's id, for display. */
export const runId = (id: string): string => id.slice(0, 12)

/** Returns the start of a name, with characters that all file systems accept. */
export const fileName = (name: string): string => name.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, 60)

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

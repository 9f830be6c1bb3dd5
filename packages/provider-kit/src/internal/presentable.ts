/** Makes a vendor's text safe to show in an error: removes secrets, markup, and characters that affect the display. */

/** Number of characters to search, and number to show. */
const searched = 16_000
const longest = 600

/** Number of characters to cut off at the end of a longer text, because they could be the beginning of a secret. */
const margin = 400

/** Shorter secrets are hidden only in their exact spelling, because their other encodings could match ordinary text. */
const shortest = 8

const spaces = /[\s\u0085]+/g

/** Control characters and invisible marks: direction marks, joiners and lone surrogates. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}]/gu

/** Markup. Other text in angle brackets is kept, such as `<At path 'properties.a': …>`: its quotes follow no `=`. */
const tags = /<(?!hidden>|\w{1,40} [^<>=]{0,80}['"`])[^<>]*>/g

/** Patterns for keys, and for the user and query in a URL. */
const shapes: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(?:sk|pk|rk|gsk|xai|key|AIza)[-_A-Za-z0-9]{16,}|\b(?:Bearer|Basic)\s+[^\s"'<>,;]{8,}/gi, "<hidden>"],
  [/\/\/[^\s/?#@"'<>]+@/g, "//<hidden>@"],
  [/\?[\w.~%-]+=[^\s"'<>]*/g, "?<hidden>"]
]

const escaped = (character: string): string => character.replace(/[\\^$.*+?()[\]{}|/-]/, "\\$&")

const exact = (secret: string): string => [...secret].map(escaped).join("")

/** Matches a secret regardless of spacing. */
const spaced = (secret: string): string => [...secret.replaceAll(/\s/g, "")].map(escaped).join("\\s*")

/** Returns the base64 characters that depend only on this secret, if it is preceded by the given number of bytes. */
const encoded = (secret: string, before: number): string => {
  const bytes = new TextEncoder().encode(secret)
  const base64 = btoa(" ".repeat(before) + String.fromCharCode(...bytes))
  const own = base64.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3))
  return spaced(own).replaceAll("\\+", "[+-]").replaceAll("\\/", "[/_]")
}

/** Secrets up to this length occur in ordinary text, so they are hidden only as separate words. */
const tiny = 4

const patternsOf = (secret: string): ReadonlyArray<string> =>
  secret.length < shortest
    ? [secret.length < tiny ? `(?<![A-Za-z0-9])${exact(secret)}(?![A-Za-z0-9])` : exact(secret)]
    : [spaced(secret), spaced(encodeURIComponent(secret)), ...[0, 1, 2].map((before) => encoded(secret, before))]

const hide = (text: string, secrets: ReadonlyArray<string>): string => {
  const patterns = new Set(secrets.filter((secret) => secret.trim() !== "").flatMap(patternsOf))
  const shown = patterns.size === 0 ? text : text.replaceAll(new RegExp([...patterns].join("|"), "g"), "<hidden>")
  return shapes.reduce((shown, [shape, instead]) => shown.replaceAll(shape, instead), shown)
}

/** Returns the text shortened to one line, without secrets in any of the forms in which a vendor may repeat them. */
export const presentable = (text: string, secrets: ReadonlyArray<string>): string => {
  const plain = text
    .slice(0, searched)
    .replaceAll(spaces, " ")
    .replaceAll(unseen, "")
    .replaceAll(tags, " ")
    .replaceAll(spaces, " ")
  const whole = text.length > searched ? plain.slice(0, -margin) : plain
  const shown = hide(whole, secrets).trim()
  return shown.length > longest ? `${shown.slice(0, longest).replace(/[\ud800-\udbff]$/, "")}…` : shown
}

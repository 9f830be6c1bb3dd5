/** A vendor's text as an error may show it: without secrets, mark-up, and characters that act on who reads it. */

/** How many characters of a text are looked at, and how many are shown. */
const searched = 16_000
const longest = 600

/** How much is cut off the end of a longer text: it could be the beginning of a secret. */
const margin = 400

/** A shorter secret is hidden only in its exact spelling: its other encodings would match parts of any text. */
const shortest = 8

const spaces = /[\s\u0085]+/g

/** Control characters, and invisible marks: of direction, of joining, lone surrogates. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}]/gu

const tags = /<(?!hidden>)[^<>]*>/g

/** Patterns of keys, and the user and query of an address. */
const shapes: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(?:sk|pk|rk|gsk|xai|key|AIza)[-_A-Za-z0-9]{16,}|\b(?:Bearer|Basic)\s+[^\s"'<>,;]{8,}/gi, "<hidden>"],
  [/\/\/[^\s/?#@"'<>]+@/g, "//<hidden>@"],
  [/\?[\w.~%-]+=[^\s"'<>]*/g, "?<hidden>"]
]

const escaped = (character: string): string => character.replace(/[\\^$.*+?()[\]{}|/-]/, "\\$&")

const exact = (secret: string): string => [...secret].map(escaped).join("")

/** A secret however it is spaced. */
const spaced = (secret: string): string => [...secret.replaceAll(/\s/g, "")].map(escaped).join("\\s*")

/** The characters of base64 that stand for this secret alone, behind so many other bytes. */
const encoded = (secret: string, before: number): string => {
  const bytes = new TextEncoder().encode(secret)
  const base64 = btoa(" ".repeat(before) + String.fromCharCode(...bytes))
  const own = base64.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3))
  return spaced(own).replaceAll("\\+", "[+-]").replaceAll("\\/", "[/_]")
}

/** A secret as short as this is a part of any text: it is hidden only as a word of its own. */
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

/** The text on one line, short, and without secrets in any of the ways in which a vendor may repeat them. */
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

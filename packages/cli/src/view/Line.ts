/** Terminal lines as plain data: spans of text with a style. Views produce lines; colors are added last. */
import { createRequire } from "node:module"
import { styleText } from "node:util"

/** The style of a span, used if colors are enabled. */
export type Style = "plain" | "dim" | "bold" | "good" | "bad" | "busy" | "name"

/** A part of a line with one style. */
export interface Span {
  readonly text: string
  readonly style: Style
}

/** One line, without a line break. */
export type Line = ReadonlyArray<Span>

const formats = {
  dim: "dim",
  bold: "bold",
  good: "green",
  bad: "red",
  busy: "yellow",
  name: "cyan"
} as const satisfies Record<Exclude<Style, "plain">, Parameters<typeof styleText>[0]>

/**
 * Creates a span. The text is sanitized and must not contain a line break. Default style: `plain`.
 *
 * @internal
 */
export const span = (text: string, style: Style = "plain"): Span => ({ text: clean(text).replaceAll("\n", " "), style })

/**
 * Creates a line with one span.
 *
 * @internal
 */
export const line = (text: string, style: Style = "plain"): Line => [span(text, style)]

/**
 * An empty line.
 *
 * @internal
 */
export const blank: Line = []

/**
 * Returns a module that only its first use loads. `string-width` compiles an expression of all emoji, which takes a
 * tenth of the start of a command, and most commands lay out no text.
 */
const onUse = <A>(name: string): (() => A) => {
  let loaded: { readonly default: A } | undefined
  return () => {
    loaded ??= createRequire(import.meta.url)(name) as { readonly default: A }
    return loaded.default
  }
}

const stringWidth = onUse<typeof import("string-width").default>("string-width")
const wrapAnsi = onUse<typeof import("wrap-ansi").default>("wrap-ansi")

const ascii = /^[ -~]*$/

/**
 * Returns the number of terminal columns that a text occupies.
 *
 * @internal
 */
export const widthOf = (text: string): number => (ascii.test(text) ? text.length : stringWidth()(text))

/**
 * Matches characters that affect the display: control characters (including C1, but not tabs and line feeds), line
 * separators that only some programs recognize, and bidirectional marks.
 *
 * @internal
 */
export const acting =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/**
 * Matches complete escape sequences: commands, and strings for the terminal (such as titles and clipboard content) up
 * to their terminator or the end of the line. Node's own pattern takes quadratic time on unterminated sequences. With
 * this pattern, no two attempts read the same text.
 */
const sequences =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must go
  /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\n\u0007\u001b\u0090\u0098\u009c-\u009f]*(?:\u0007|\u001b\\|\u009c)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b[ -/]*[0-~]?/g

/**
 * Makes external text safe to show: a model's answer must not move the cursor, change colors, write to the clipboard,
 * or reorder adjacent text. Line breaks remain; tabs become spaces.
 *
 * @internal
 */
export const clean = (text: string): string =>
  text
    .replace(sequences, "")
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n")
    .replace(/\t/g, "  ")
    .replace(acting, "")

/**
 * Returns sanitized text on one line.
 *
 * @internal
 */
export const oneLine = (text: string): string => clean(text).replace(/\s+/g, " ").trim()

/**
 * Splits sanitized text into lines of at most `width` columns, between words if possible. If only the first `most`
 * lines are needed, wrapping stops early. One additional line then indicates that the text continues.
 *
 * @internal
 */
export const wrap = (text: string, width: number, most = Number.POSITIVE_INFINITY): ReadonlyArray<string> =>
  clean(text)
    .trim()
    // A visible character consists of at most 16 code units, as in a family emoji.
    .slice(0, 16 * Math.max(1, width) * (most + 1))
    .split("\n")
    .flatMap((paragraph) =>
      wrapAnsi()(paragraph, Math.max(1, width), { hard: true, trim: false })
        .split("\n")
        .map((line, index) => (index === 0 ? line : line.trimStart()).trimEnd())
    )

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/**
 * Truncates text to `width` columns and adds `…`.
 *
 * @internal
 */
export const cut = (text: string, width: number): string => {
  if (text.length <= width && widthOf(text) <= width) return text
  if (width < 1) return ""
  let taken = ""
  let used = 0
  for (const { segment } of segmenter.segment(text)) {
    used += widthOf(segment)
    if (used > width - 1) break
    taken += segment
  }
  return `${taken}…`
}

/**
 * Truncates a line to `width` columns.
 *
 * @internal
 */
export const fit = (line: Line, width: number): Line => {
  const fitted: Array<Span> = []
  let left = width
  for (const [index, { style, text }] of line.entries()) {
    const isLast = line.slice(index + 1).every((later) => later.text === "")
    const taken = isLast || widthOf(text) < left ? cut(text, left) : cut(`${text}…`, left)
    fitted.push({ text: taken, style })
    left -= widthOf(taken)
    if (left <= 0) break
  }
  return fitted
}

/**
 * Returns a line's text without colors.
 *
 * @internal
 */
export const toText = (line: Line): string =>
  line
    .map((span) => span.text)
    .join("")
    .trimEnd()

/**
 * Returns a line's text with escape sequences for its colors.
 *
 * @internal
 */
export const toAnsi = (line: Line): string =>
  line
    .map(({ style, text }) =>
      style === "plain" || text === "" ? text : styleText(formats[style], text, { validateStream: false })
    )
    .join("")

/**
 * HTML that cannot be broken into: whatever is put into a template is escaped, unless a template made it.
 *
 * A report holds what models wrote, and models may write anything.
 */

/** Markup that is safe to show. Only templates make it. */
export class Html {
  readonly markup: string
  constructor(markup: string) {
    this.markup = markup
  }
}

/** What a template takes. Absent values and `false` are nothing. */
export type Value = Html | string | number | false | undefined | ReadonlyArray<Value>

/** Control characters, and those that turn the direction of the text around them. */
const unseen = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

/** Text as it may stand in an element or in a quoted attribute. What cannot be seen is shown as a replacement. */
export const escape = (text: string): string =>
  text
    .toWellFormed()
    .replace(unseen, (character) => (character === "\n" || character === "\t" ? character : "\ufffd"))
    .replace(/[&<>"']/g, (character) => escapes[character]!)

const markupOf = (value: Value): string => {
  if (value === undefined || value === false) return ""
  if (value instanceof Html) return value.markup
  if (typeof value === "number") return String(value)
  return typeof value === "string" ? escape(value) : value.map(markupOf).join("")
}

/** The template for HTML and SVG. */
export const html = (parts: TemplateStringsArray, ...values: ReadonlyArray<Value>): Html =>
  new Html(parts.reduce((markup, part, index) => markup + markupOf(values[index - 1]) + part))

/** The first characters of a text; how many are missing is said. */
export const excerpt = (text: string, most: number): string => {
  if (text.length <= most) return text
  const taken = text.slice(0, most).toWellFormed()
  return `${taken}… (${(text.length - most).toLocaleString("en-US")} more characters)`
}

/**
 * Templates for HTML and SVG. Every inserted value is escaped, unless a template created it, because pages contain
 * texts of models, which are untrusted.
 */
import { html as template, raw as trusted } from "hono/html"
import type { HtmlEscapedString } from "hono/utils/html"

/** Markup that is safe to show. Only {@link html} and {@link raw} make it; `String(markup)` is its text. */
export type Html = HtmlEscapedString

/** A value in a template. `undefined` and `false` insert nothing. */
export type Value = Html | string | number | false | undefined | ReadonlyArray<Value>

/** Control characters, non-characters, and those that turn the direction of the text around them. */
const unseen = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/gu

/** The text with a replacement character for everything that cannot be seen, and for halves of pairs. */
export const visible = (text: string): string =>
  text.toWellFormed().replace(unseen, (character) => (character === "\n" || character === "\t" ? character : "\ufffd"))

const prepared = (value: Value): unknown =>
  typeof value === "string" ? visible(value) : Array.isArray(value) ? value.map(prepared) : value

/** The template. Attributes have to be quoted. */
export const html = (parts: TemplateStringsArray, ...values: ReadonlyArray<Value>): Html =>
  // Hono's type allows for promises among the values; ours does not.
  template(parts, ...values.map(prepared)) as Html

/** Markup that is part of the code, such as the style sheet. Must not be used for any text that was read. */
export const raw = (markup: string): Html => trusted(markup)

/** The first characters of a text, and how many are missing. */
export const excerpt = (text: string, most: number): string => {
  if (text.length <= most) return text
  const taken = text.slice(0, most).toWellFormed()
  return `${taken}… (${(text.length - most).toLocaleString("en-US")} more characters)`
}

/** A name, cut where it has more than so many letters. */
export const shortened = (name: string, most: number): string => {
  const letters = [...name]
  return letters.length <= most ? name : `${letters.slice(0, most - 1).join("")}…`
}

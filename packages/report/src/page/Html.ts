/**
 * HTML and SVG templates. All inserted values are escaped unless they were created by a template, because pages contain
 * untrusted text from models.
 */
import { html as template, raw as trusted } from "hono/html"
import type { HtmlEscapedString } from "hono/utils/html"
import { visible } from "./Text.ts"

/** Trusted markup. It can only be created with {@link html} and {@link raw}; `String(markup)` returns its text. */
export type Html = HtmlEscapedString

/** A value that can be inserted in a template. `undefined` and `false` insert nothing. */
export type Value = Html | string | number | false | undefined | ReadonlyArray<Value>

const prepared = (value: Value): unknown =>
  typeof value === "string" ? visible(value) : Array.isArray(value) ? value.map(prepared) : value

/** Creates markup from a template literal. Attribute values must be quoted. */
export const html = (parts: TemplateStringsArray, ...values: ReadonlyArray<Value>): Html =>
  // Hono's type allows promises as values, which are not supported here.
  template(parts, ...values.map(prepared)) as Html

/** Marks text as trusted markup. Use it only for text that is part of the code, such as a style sheet. */
export const raw = (markup: string): Html => trusted(markup)

/** Shortens a name to a maximum number of characters. */
export const shortened = (name: string, most: number): string => {
  const letters = [...name]
  return letters.length <= most ? name : `${letters.slice(0, most - 1).join("")}…`
}

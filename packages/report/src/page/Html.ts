/**
 * Templates for HTML and SVG. Every inserted value is escaped, unless a template created it, because pages contain
 * texts of models, which are untrusted.
 */
import { html as template, raw as trusted } from "hono/html"
import type { HtmlEscapedString } from "hono/utils/html"
import { visible } from "./Text.ts"

/** Markup that is safe to show. Only {@link html} and {@link raw} make it; `String(markup)` is its text. */
export type Html = HtmlEscapedString

/** A value in a template. `undefined` and `false` insert nothing. */
export type Value = Html | string | number | false | undefined | ReadonlyArray<Value>

const prepared = (value: Value): unknown =>
  typeof value === "string" ? visible(value) : Array.isArray(value) ? value.map(prepared) : value

/** The template. Attributes have to be quoted. */
export const html = (parts: TemplateStringsArray, ...values: ReadonlyArray<Value>): Html =>
  // Hono's type allows for promises among the values; ours does not.
  template(parts, ...values.map(prepared)) as Html

/** Markup that is part of the code, such as the style sheet. Must not be used for any text that was read. */
export const raw = (markup: string): Html => trusted(markup)

/** A name, cut where it has more than so many letters. */
export const shortened = (name: string, most: number): string => {
  const letters = [...name]
  return letters.length <= most ? name : `${letters.slice(0, most - 1).join("")}…`
}

/** Markup: text that is safe to stand in a page. Everything that is put into it is escaped, unless it is markup itself. */

/** A piece of a page. Only {@link html} and {@link raw} make it. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toString(): string {
    return this.text
  }
}

/** What may be put into markup. `undefined` puts in nothing. */
export type Piece = string | number | Markup | undefined | ReadonlyArray<Piece>

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

/** Characters that a page may not hold: control characters, and halves of pairs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is for
const unprintable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]/g

/** Text as it may stand between tags and in quoted attributes. */
export const escape = (text: string): string =>
  text
    .toWellFormed()
    .replace(unprintable, "\ufffd")
    .replace(/[&<>"']/g, (character) => entities[character]!)

const render = (piece: Piece): string => {
  if (piece === undefined) return ""
  if (piece instanceof Markup) return piece.text
  if (Array.isArray(piece)) return piece.map(render).join("")
  return escape(String(piece))
}

/** Markup from a template: attributes have to be quoted. */
export const html = (texts: TemplateStringsArray, ...pieces: ReadonlyArray<Piece>): Markup =>
  new Markup(texts.reduce((whole, text, index) => whole + render(pieces[index - 1]) + text))

/** Markup that is written down in code, such as a style sheet. Never for anything that was read. */
export const raw = (text: string): Markup => new Markup(text)

/** Formats figures as Markdown tables, and inserts them into documents. */
import type { Estimate } from "./Sample.ts"

/** A table; the first row names the columns. */
export const table = (columns: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [columns, columns.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

const signed = (text: string, isSigned: boolean, value: number): string => (isSigned && value > 0 ? `+${text}` : text)

const withError = (mean: string, standardError: number, show: (value: number) => string): string =>
  Number.isFinite(standardError) ? `${mean} ± ${show(standardError)}` : mean

/** Shown instead of a mean of no values. */
const none = "–"

/** A share in percent, with its standard error: `91.2 ± 1.3`. */
export const percent = ({ mean, standardError }: Estimate, isSigned = false): string => {
  if (Number.isNaN(mean)) return none
  const show = (value: number) => (100 * value).toFixed(1)
  return withError(signed(show(mean), isSigned, mean), standardError, show)
}

/** A number with its standard error. */
export const number = ({ mean, standardError }: Estimate, digits = 2): string => {
  if (Number.isNaN(mean)) return none
  const show = (value: number) => value.toFixed(digits)
  return withError(show(mean), standardError, show)
}

/** The mean without its error. */
export const plain = ({ mean }: Estimate, digits = 2): string => mean.toFixed(digits)

const openings = (name: string) => ({ from: `<!-- tiny:${name} -->`, to: `<!-- /tiny:${name} -->` })

/** The document with new content at a named mark. */
export const fill = (document: string, name: string, content: string): string => {
  const { from, to } = openings(name)
  const start = document.indexOf(from)
  const end = document.indexOf(to)
  if (start < 0 || end < start) throw new Error(`The document has no place for "${name}": add ${from} and ${to}.`)
  return `${document.slice(0, start + from.length)}\n${content.trim()}\n${document.slice(end)}`
}

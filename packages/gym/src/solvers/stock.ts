/** Reads questions about a warehouse, looks up the items and computes the answer. */
import type { Stock } from "../internal/stock.ts"
import { type Solver, solver, type Text } from "./reading.ts"

/** A form of question: its pattern, the number of items that it names, and the computation on their stock. */
interface Form {
  readonly pattern: RegExp
  readonly articles: number
  readonly value: (stock: ReadonlyArray<Stock>, amount: number) => number
}

const form = (pattern: string, articles: number, value: Form["value"]): Form => ({
  pattern: new RegExp(`^${pattern}$`, "i"),
  articles,
  value
})

const A = "([a-z]+ [a-z]+)"
const N = "(\\d+)"
const there = "(?:in stock|(?:there )?in the warehouse)"

const pieces = (stock: ReadonlyArray<Stock>) => stock.reduce((sum, one) => sum + one.pieces, 0)

const forms: ReadonlyArray<Form> = [
  form(`how many ${A} (?:are ${there}|does the warehouse have)`, 1, pieces),
  form(`how many ${A} and ${A} are ${there} together`, 2, pieces),
  form(`how many more ${A} than ${A} are ${there}`, 2, ([more, less]) => more!.pieces - (less?.pieces ?? 0)),
  form(`what are all ${A}(?: and ${A})? ${there} worth(?: together)?, in dollars`, 2, (stock) =>
    stock.reduce((sum, one) => sum + one.pieces * one.dollars, 0)
  ),
  form(`how many ${A} are left ${there} after ${N} are sold`, 1, (stock, sold) => pieces(stock) - sold),
  form(`how many ${A} are ${there} after ${N} more arrive`, 1, (stock, more) => pieces(stock) + more)
]

interface Read {
  readonly names: ReadonlyArray<string>
  readonly value: Form["value"]
  readonly amount: number
}

const read = (text: Text): Read | undefined => {
  const asked = text.left.replace(/(?<![?. ])[?. ]+$/, "").trim()
  for (const { articles, pattern, value } of forms) {
    const match = pattern.exec(asked)
    if (match === null) continue
    const names = match.slice(1, 1 + articles).filter((name) => name !== undefined)
    text.cut(0, text.left.length)
    return { names, value, amount: Number(match[1 + articles] ?? 0) }
  }
  return undefined
}

/** Looks up all items before failing on a missing one, so that all are requested at once. */
export const stock: Solver = solver<Read>({
  words: "",
  read,
  kind: () => "number",
  solve: ({ amount, names, value }, { habits: { articlesRead = names.length }, lookUp }) => {
    const found = names.slice(0, articlesRead).map(lookUp)
    return found.every((one) => one !== undefined) ? String(value(found, amount)) : undefined
  }
})

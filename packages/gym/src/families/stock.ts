/** Stock: questions about items in a warehouse, whose data is only available through a tool. */
import type { Difficulty, Given, Problem } from "../Family.ts"
import type { Draw } from "../internal/draw.ts"
import * as Stock from "../internal/stock.ts"
import { integerWithin } from "../internal/wording.ts"

const problem = (question: string, value: number): Problem => ({ question, answer: String(value), kind: "integer" })

const drawn = (draw: Draw, count: number) =>
  Stock.articles(draw, count).map((name) => ({ name, ...Stock.of(name)! })) as [Article, Article]

interface Article extends Stock.Stock {
  readonly name: string
}

const count = (draw: Draw): Problem => {
  const [{ name, pieces }] = drawn(draw, 1)
  const question = draw.pick([
    `How many ${name} are in stock?`,
    `How many ${name} are there in the warehouse?`,
    `How many ${name} does the warehouse have?`
  ])
  return problem(question, pieces)
}

const both = (draw: Draw): Problem => {
  const [one, other] = drawn(draw, 2)
  const [more, less] = one.pieces < other.pieces ? [other, one] : [one, other]
  return draw.chance(0.5)
    ? problem(`How many ${one.name} and ${other.name} are in stock together?`, one.pieces + other.pieces)
    : problem(`How many more ${more.name} than ${less.name} are in stock?`, more.pieces - less.pieces)
}

const worth = (draw: Draw): Problem => {
  const [one, other] = drawn(draw, 2)
  const value = one.pieces * one.dollars
  return draw.chance(0.5)
    ? problem(`What are all ${one.name} in stock worth, in dollars?`, value)
    : problem(
        `What are all ${one.name} and ${other.name} in stock worth together, in dollars?`,
        value + other.pieces * other.dollars
      )
}

export const generate = (draw: Draw, difficulty: Difficulty): Problem =>
  difficulty === 1 ? count(draw) : difficulty === 2 ? both(draw) : worth(draw)

export const continueFrom = (draw: Draw, _: Difficulty, given: Given): Problem | undefined => {
  const value = integerWithin(given, 1, 1_000_000)
  if (value === undefined) return undefined
  const [{ name, pieces }] = drawn(draw, 1)
  return value < pieces && draw.chance(0.5)
    ? problem(`How many ${name} are left in stock after ${given.many} are sold?`, pieces - value)
    : problem(`How many ${name} are in stock after ${given.many} more arrive?`, pieces + value)
}

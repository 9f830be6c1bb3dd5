/** Statistics: mean, median, mode, range, population standard deviation, and the mean of two combined groups. */
import type { Difficulty, Given, Problem } from "../Family.ts"
import type { Draw } from "../internal/draw.ts"
import { integerWithin, list } from "../internal/wording.ts"

type Measure = "mean" | "median" | "mode" | "range" | "standard deviation"

const ascending = (values: ReadonlyArray<number>) => values.slice().sort((left, right) => left - right)
const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)

const shownDecimals = (value: number): string => String(Number(value.toFixed(2)))

/** Whether rounding to two decimals is a tie. Such questions are avoided, because rounding conventions differ. */
const isTie = (value: number): boolean => Math.abs(((value * 100) % 1) - 0.5) < 1e-6

const numeric = (value: number): Pick<Problem, "answer" | "kind"> => ({
  answer: shownDecimals(value),
  kind: Number.isInteger(value) ? "integer" : "decimal"
})

const median = (values: ReadonlyArray<number>): number => {
  const order = ascending(values)
  const middle = order.length >> 1
  return order.length % 2 === 1 ? order[middle]! : (order[middle - 1]! + order[middle]!) / 2
}

/** Returns the most frequent value, or `undefined` in case of ties. */
const mode = (values: ReadonlyArray<number>): number | undefined => {
  const counts = new Map<number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  const [first, second] = [...counts].sort((left, right) => right[1] - left[1])
  return first !== undefined && first[1] > (second?.[1] ?? 1) ? first[0] : undefined
}

const deviation = (values: ReadonlyArray<number>): number => {
  const mean = sum(values) / values.length
  return Math.sqrt(sum(values.map((value) => (value - mean) ** 2)) / values.length)
}

const measures: { readonly [Name in Measure]: (values: ReadonlyArray<number>) => number | undefined } = {
  mean: (values) => sum(values) / values.length,
  median,
  mode,
  range: (values) => Math.max(...values) - Math.min(...values),
  "standard deviation": deviation
}

const synonyms: { readonly [Name in Measure]: ReadonlyArray<string> } = {
  mean: ["mean", "average", "arithmetic mean"],
  median: ["median"],
  mode: ["mode", "most frequent value"],
  range: ["range"],
  "standard deviation": ["population standard deviation"]
}

const needsRounding = (value: number): boolean => Math.abs(value * 100 - Math.round(value * 100)) > 1e-9

const rounding = " Round to two decimal places."

const things = [
  "Daily sales",
  "The test scores",
  "The waiting times in minutes",
  "The distances in kilometres",
  "The temperatures in degrees",
  "The days of sick leave",
  "The ages in years"
]

const ask = (draw: Draw, name: string, shown: string): string =>
  draw.pick([
    `What is the ${name} of ${shown}?`,
    `Find the ${name} of these numbers: ${shown}.`,
    `Given the values ${shown}, what is their ${name}?`,
    `${draw.pick(things)} were ${shown}. What was the ${name}?`
  ])

const choose = (draw: Draw, difficulty: Difficulty): Measure =>
  draw.pick<Measure>(
    difficulty === 1
      ? ["mean", "median", "mode", "range"]
      : ["mean", "median", "median", "range", "mode", "standard deviation", "standard deviation"]
  )

const sizes = {
  1: { low: 5, high: 5, top: 30 },
  2: { low: 6, high: 9, top: 99 },
  3: { low: 9, high: 14, top: 400 }
} as const

const sample = (draw: Draw, difficulty: Difficulty, measure: Measure): ReadonlyArray<number> => {
  const { high, low, top } = sizes[difficulty]
  const count = draw.int(low, high)
  const values = Array.from({ length: count }, () => draw.int(1, top))
  return measure === "mode" ? [...values.slice(2), values[0]!, values[0]!] : values
}

const measured = (draw: Draw, difficulty: Difficulty): Problem => {
  const measure = choose(draw, difficulty)
  const values = draw.some(sample(draw, difficulty, measure), 99)
  const value = measures[measure](values)
  if (value === undefined || isTie(value)) return measured(draw, difficulty)
  const question = ask(draw, draw.pick(synonyms[measure]), list(values))
  return { question: `${question}${needsRounding(value) ? rounding : ""}`, ...numeric(value) }
}

const combined = (draw: Draw): Problem => {
  const [n, m] = [draw.int(5, 40), draw.int(5, 40)]
  const [first, second] = draw.some(
    Array.from({ length: 51 }, (_, index) => index + 40),
    2
  ) as [number, number]
  const value = (n * first + m * second) / (n + m)
  if (isTie(value)) return combined(draw)
  const question =
    `One group of ${n} people has an average score of ${first}, and another group of ${m} people has an average ` +
    `score of ${second}. What is the average score of all of them together?`
  return { question: `${question}${needsRounding(value) ? rounding : ""}`, ...numeric(value) }
}

export const generate = (draw: Draw, difficulty: Difficulty): Problem =>
  difficulty === 3 && draw.chance(0.2) ? combined(draw) : measured(draw, difficulty)

export const continueFrom = (draw: Draw, difficulty: Difficulty, given: Given): Problem | undefined => {
  const value = integerWithin(given, 0, 1_000_000)
  if (value === undefined) return undefined
  const measure = draw.pick<Measure>(["mean", "median", "median", "range"])
  const values = sample(draw, difficulty, measure)
  const result = measures[measure]([...values, value])
  if (result === undefined || isTie(result)) return undefined
  const question =
    `Add ${given.noun} to the list ${list(values)}. ` + `What is the ${draw.pick(synonyms[measure])} of the new list?`
  return { question: `${question}${needsRounding(result) ? rounding : ""}`, ...numeric(result) }
}

/** Arithmetic on integers: expressions, verbal instructions and short stories. */
import type { Difficulty, Given, Problem } from "../Family.ts"
import type { Draw } from "../internal/draw.ts"
import { integerWithin, number } from "../internal/wording.ts"

const digits = (draw: Draw, min: number, max: number): number => {
  const length = draw.int(min, max)
  return draw.int(length === 1 ? 2 : 10 ** (length - 1), 10 ** length - 1)
}

const problem = (question: string, value: bigint): Problem => ({ question, answer: String(value), kind: "integer" })

const openings = ["What is", "Calculate", "Work out", "Evaluate", "Compute", "How much is"]

const ask = (draw: Draw, expression: string): string => {
  const opening = draw.pick(openings)
  return `${opening} ${expression}${opening === "What is" || opening === "How much is" ? "?" : "."}`
}

interface Signs {
  readonly times: string
  readonly minus: string
  readonly divide: string
}

const signs = (draw: Draw): Signs =>
  draw.pick([
    { times: "×", minus: "−", divide: "÷" },
    { times: "*", minus: "-", divide: "/" }
  ])

const sizes = { 1: [2, 3], 2: [3, 4], 3: [5, 7] } as const

/**
 * Generates expressions such as `a × b − c`, `a + b × c`, `(a − b) × c` and `a × b + c ÷ d`. Operator precedence
 * matters in most of them.
 */
const expression = (draw: Draw, difficulty: Difficulty): Problem => {
  const { divide, minus, times } = signs(draw)
  const [low, high] = sizes[difficulty]
  const a = digits(draw, low, high)
  const b = digits(draw, Math.max(1, low - 1), high - 1)
  const c = digits(draw, low, high)
  const d = digits(draw, 1, 2)
  const [A, B, C, D] = [BigInt(a), BigInt(b), BigInt(c), BigInt(d)]
  const write = (value: number) => number(draw, value)
  const shapes: ReadonlyArray<() => readonly [string, bigint]> = [
    () => [`${write(a)} ${times} ${write(b)} ${minus} ${write(c)}`, A * B - C],
    () => [`${write(c)} + ${write(a)} ${times} ${write(b)}`, C + A * B],
    () => [`(${write(a)} + ${write(c)}) ${times} ${write(b)}`, (A + C) * B],
    () => [`${write(a)} ${times} ${write(d)} + ${write(c * d)} ${divide} ${write(d)}`, A * D + C],
    () => [`${write(a)} ${times} (${write(b)} + ${write(d)}) ${minus} ${write(c)}`, A * (B + D) - C]
  ]
  const [text, value] = draw.pick(difficulty === 1 ? shapes.slice(0, 3) : shapes)()
  return problem(ask(draw, text), value)
}

const closings = ["What do you get?", "What is the total?", "Give the final number."]

const instruction = (draw: Draw, difficulty: Difficulty): Problem => {
  const [low, high] = sizes[difficulty]
  const a = digits(draw, low, high)
  const b = digits(draw, 1, low)
  const c = digits(draw, low, high)
  const [A, B, C] = [BigInt(a), BigInt(b), BigInt(c)]
  const [x, y, z] = [number(draw, a), number(draw, b), number(draw, c)]
  const [text, value] = draw.pick<readonly [string, bigint]>([
    [`Start with ${x}, multiply it by ${y} and then subtract ${z}.`, A * B - C],
    [`Take ${x}, add ${z} and multiply the sum by ${y}.`, (A + C) * B],
    [`Add ${x} to ${z} and multiply the sum by ${y}.`, (A + C) * B],
    [`Multiply ${x} by ${y} and add ${z}.`, A * B + C],
    [`Find the product of ${x} and ${y}, and subtract ${z} from it.`, A * B - C]
  ])
  return problem(`${text} ${draw.pick(closings)}`, value)
}

/** Settings for stories. Some mention units or times although no conversion is required. */
const settings = [
  { holder: "A warehouse holds", container: "crates", item: "bottles", loses: "are broken", gains: "more arrive" },
  { holder: "A library has", container: "shelves", item: "books", loses: "are lent out", gains: "more are bought" },
  { holder: "A bakery fills", container: "trays", item: "rolls", loses: "are sold", gains: "more are baked" },
  { holder: "An orchard has", container: "rows", item: "trees", loses: "are cut down", gains: "more are planted" },
  { holder: "A hall has", container: "rows", item: "chairs", loses: "are taken away", gains: "more are brought in" },
  { holder: "A driver plans", container: "trips", item: "miles", loses: "are cancelled", gains: "more are driven" },
  { holder: "A clinic plans", container: "weeks", item: "visits", loses: "are called off", gains: "more are booked" },
  { holder: "A course has", container: "lessons", item: "minutes", loses: "are left out", gains: "more are added" }
]

const story = (draw: Draw, difficulty: Difficulty): Problem => {
  const [low, high] = sizes[difficulty]
  const { container, gains, holder, item, loses } = draw.pick(settings)
  const groups = digits(draw, Math.max(1, low - 1), high - 1)
  const each = digits(draw, low - 1, high - 1)
  const change = draw.int(2, Math.max(3, Math.min(groups * each - 1, 10 ** high)))
  const total = BigInt(groups) * BigInt(each)
  const less = draw.chance(0.5)
  const what = less
    ? `${number(draw, change)} of the ${item} ${loses}. How many ${item} are left?`
    : `Then ${number(draw, change)} ${gains}. How many ${item} are there now?`
  return problem(
    `${holder} ${number(draw, groups)} ${container} with ${number(draw, each)} ${item} each, and ${lowerFirst(what)}`,
    less ? total - BigInt(change) : total + BigInt(change)
  )
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

export const generate = (draw: Draw, difficulty: Difficulty): Problem =>
  draw.pick([expression, expression, instruction, story])(draw, difficulty)

export const continueFrom = (draw: Draw, difficulty: Difficulty, given: Given): Problem | undefined => {
  const value = integerWithin(given, 0, 100_000_000)
  if (value === undefined) return undefined
  const [low, high] = sizes[difficulty]
  const b = digits(draw, 1, low)
  const c = draw.int(2, Math.max(3, Math.min(value * b, 10 ** high)))
  const [V, B, C] = [BigInt(value), BigInt(b), BigInt(c)]
  const [y, z] = [number(draw, b), number(draw, c)]
  const [text, result] = draw.pick<readonly [string, bigint]>([
    [`Multiply ${given.noun} by ${y} and add ${z}.`, V * B + C],
    [`Add ${z} to ${given.noun} and multiply the sum by ${y}.`, (V + C) * B],
    [`Take ${given.noun}, multiply it by ${y} and then subtract ${z}.`, V * B - C],
    [`What is ${given.noun} × ${y} + ${z}?`, V * B + C]
  ])
  return problem(text.endsWith("?") ? text : `${text} ${draw.pick(closings)}`, result)
}

/** Generates a question that combines two earlier answers, referring to them by their nouns. */
export const join = (draw: Draw, left: Given, right: Given): Problem | undefined => {
  const [a, b] = [integerWithin(left, 0, 10_000_000), integerWithin(right, 0, 10_000_000)]
  if (a === undefined || b === undefined) return undefined
  const c = draw.int(2, 99)
  const [A, B, C] = [BigInt(a), BigInt(b), BigInt(c)]
  const [text, value] = draw.pick<readonly [string, bigint]>([
    [`What is ${left.noun} + ${right.noun} × ${c}?`, A + B * C],
    [`What is ${left.noun} × ${right.noun} + ${c}?`, A * B + C],
    [`Add ${left.noun} to ${right.noun} and multiply the sum by ${c}. What do you get?`, (A + B) * C],
    [`Multiply ${left.noun} by ${right.noun} and add ${c}. What is the total?`, A * B + C]
  ])
  return problem(text, value)
}

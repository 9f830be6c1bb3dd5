/**
 * Algebra: linear equations, systems of two equations and quadratics, in symbols and in words. Solutions are integers.
 */
import type { Difficulty, Given, Problem } from "../Family.ts"
import type { Draw } from "../internal/draw.ts"
import { integerWithin } from "../internal/wording.ts"

const problem = (question: string, value: number): Problem => ({ question, answer: String(value), kind: "integer" })

const letters = ["x", "y", "n", "k", "t"]

/** Formats a signed constant: `+ 7`, `− 7`, or an empty string for 0. */
const signed = (value: number): string => (value === 0 ? "" : value < 0 ? ` − ${-value}` : ` + ${value}`)

/** Formats a term: `3x`, `x` or `−x`. */
const term = (factor: number, letter: string): string =>
  factor === 1 ? letter : factor === -1 ? `−${letter}` : `${factor < 0 ? "−" : ""}${Math.abs(factor)}${letter}`

const nonZero = (draw: Draw, size: number): number => draw.int(1, size) * (draw.chance(0.5) ? 1 : -1)

const ask = (draw: Draw, equation: string, letter: string): string =>
  draw.pick([
    `Solve ${equation} for ${letter}.`,
    `If ${equation}, what is ${letter}?`,
    `Find the value of ${letter} for which ${equation}.`,
    `What value of ${letter} satisfies ${equation}?`
  ])

const reach = { 1: 20, 2: 60, 3: 250 } as const

const linear = (draw: Draw, difficulty: Difficulty): Problem => {
  const letter = draw.pick(letters)
  const solution = difficulty === 1 ? draw.int(1, 20) : nonZero(draw, reach[difficulty])
  const a = draw.int(2, difficulty === 1 ? 9 : 25)
  const b = difficulty === 1 ? draw.int(1, 30) : nonZero(draw, 90)
  if (difficulty === 1) {
    return problem(ask(draw, `${term(a, letter)}${signed(b)} = ${a * solution + b}`, letter), solution)
  }
  const c = draw.pick([1, 2, 3, 4, 5, 6, 7].filter((factor) => factor !== a))
  if (draw.chance(0.5)) {
    const right = a * (solution + b) - c * solution
    return problem(ask(draw, `${a}(${letter}${signed(b)}) = ${term(c, letter)}${signed(right)}`, letter), solution)
  }
  const right = a * solution + b - c * solution
  return problem(ask(draw, `${term(a, letter)}${signed(b)} = ${term(c, letter)}${signed(right)}`, letter), solution)
}

const quadratic = (draw: Draw, difficulty: Difficulty): Problem => {
  const letter = draw.pick(letters)
  const low = draw.int(-12, 10)
  const high = low + draw.int(1, difficulty === 3 ? 25 : 9)
  const square = draw.pick([`${letter}²`, `${letter}^2`])
  const middle = -(low + high)
  const linearTerm = middle === 0 ? "" : middle < 0 ? ` − ${term(-middle, letter)}` : ` + ${term(middle, letter)}`
  const equation = `${square}${linearTerm}${signed(low * high)} = 0`
  const larger = draw.chance(0.5)
  const which = larger ? draw.pick(["larger", "greater"]) : "smaller"
  const question = draw.pick([
    `What is the ${which} root of ${equation}?`,
    `Find the ${which} solution of ${equation}.`,
    `The equation ${equation} has two solutions. What is the ${which} one?`
  ])
  return problem(question, larger ? high : low)
}

const pair = (draw: Draw, difficulty: Difficulty): Problem => {
  const [x, y] = [nonZero(draw, reach[difficulty] / 2), nonZero(draw, reach[difficulty] / 2)]
  const [a, b, c, d] = [draw.int(2, 9), draw.int(2, 9), draw.int(1, 9), draw.int(1, 9)]
  if (a * -d - b * c === 0) return pair(draw, difficulty)
  const left = `${term(a, "x")} + ${term(b, "y")} = ${a * x + b * y}`
  const right = `${term(c, "x")} − ${term(d, "y")} = ${c * x - d * y}`
  const wanted = draw.pick(["x", "y"])
  const question = draw.pick([
    `Given ${left} and ${right}, what is ${wanted}?`,
    `Solve the equations ${left} and ${right} for ${wanted}.`
  ])
  return problem(question, wanted === "x" ? x : y)
}

const riddle = (draw: Draw, difficulty: Difficulty): Problem => {
  const solution = draw.int(2, reach[difficulty])
  const a = draw.int(2, 12)
  const b = draw.int(1, 80)
  const [sign, total] = draw.pick<readonly ["plus" | "minus", number]>([
    ["plus", a * solution + b],
    ["minus", a * solution - b]
  ])
  const verb = sign === "plus" ? "add" : "subtract"
  const question = draw.pick([
    `${a} times a number ${sign} ${b} equals ${total}. What is the number?`,
    `I think of a number, multiply it by ${a} and ${verb} ${b}. I end up with ${total}. What was my number?`,
    `When an unknown number is multiplied by ${a} and you ${verb} ${b}, you reach ${total}. Find the unknown number.`
  ])
  return problem(question, solution)
}

const sumAndDifference = (draw: Draw, difficulty: Difficulty): Problem => {
  const small = draw.int(1, reach[difficulty])
  const large = small + draw.int(1, reach[difficulty])
  const which = draw.pick(["larger", "smaller"])
  const question = draw.pick([
    `Two numbers add up to ${small + large} and differ by ${large - small}. What is the ${which} one?`,
    `Two numbers have a sum of ${small + large} and a difference of ${large - small}. Find the ${which} number.`
  ])
  return problem(question, which === "larger" ? large : small)
}

export const generate = (draw: Draw, difficulty: Difficulty): Problem => {
  const shapes = {
    1: [linear, linear, riddle, sumAndDifference],
    2: [linear, linear, riddle, sumAndDifference, quadratic, pair],
    3: [linear, quadratic, quadratic, pair, pair]
  }
  return draw.pick(shapes[difficulty])(draw, difficulty)
}

export const continueFrom = (draw: Draw, difficulty: Difficulty, given: Given): Problem | undefined => {
  const value = integerWithin(given, 1, 1_000_000)
  if (value === undefined) return undefined
  const letter = draw.pick(letters)
  const a = draw.int(2, difficulty === 1 ? 9 : 25)
  const solution = Math.max(1, Math.round(value / a) + draw.int(-3, 3))
  const b = value - a * solution
  return draw.chance(0.5) || b === 0
    ? problem(`Solve ${term(a, letter)}${signed(b)} = ${given.noun} for ${letter}.`, solution)
    : problem(
        `${a} times an unknown number ${b < 0 ? "minus" : "plus"} ${Math.abs(b)} equals ${given.noun}. ` +
          "What is the unknown number?",
        solution
      )
}

/**
 * Program output: questions about what a short JavaScript program prints. The output is computed by a separate
 * function; programs are never evaluated.
 */
import type { Difficulty, Given, Problem } from "../Family.ts"
import type { Draw } from "../internal/draw.ts"
import { integerWithin } from "../internal/wording.ts"
import { words } from "../internal/words.ts"

/** A program parameterized by `n`, and a function that computes its output. */
interface Program {
  readonly source: string
  readonly prints: (n: number) => string | number
  /** Largest value of `n` used in questions. */
  readonly upTo: number
}

const numbers = (from: number, to: number, step = 1): ReadonlyArray<number> =>
  Array.from({ length: Math.max(0, Math.floor((to - from) / step) + 1) }, (_, index) => from + index * step)

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)

const accumulate = (draw: Draw): Program => {
  const [start, step, factor] = [draw.int(0, 4), draw.int(1, 4), draw.int(2, 9)]
  return {
    source: `let total = 0
for (let i = ${start}; i <= n; i += ${step}) {
  total += i * ${factor}
}
console.log(total)`,
    prints: (n) => sum(numbers(start, n, step)) * factor,
    upTo: 5_000
  }
}

const branches = (draw: Draw): Program => {
  const [divisor, loss] = [draw.int(2, 6), draw.int(1, 5)]
  return {
    source: `let score = 0
for (let i = 1; i <= n; i++) {
  if (i % ${divisor} === 0) {
    score += i
  } else {
    score -= ${loss}
  }
}
console.log(score)`,
    prints: (n) => sum(numbers(1, n).map((i) => (i % divisor === 0 ? i : -loss))),
    upTo: 5_000
  }
}

const hailstone = (): Program => ({
  source: `let x = n
let steps = 0
while (x > 1) {
  x = x % 2 === 0 ? x / 2 : 3 * x + 1
  steps += 1
}
console.log(steps)`,
  prints: (n) => {
    const from = (x: number): number => (x <= 1 ? 0 : 1 + from(x % 2 === 0 ? x / 2 : 3 * x + 1))
    return from(n)
  },
  upTo: 5_000
})

const digits = (draw: Draw): Program => {
  const weight = draw.int(2, 5)
  return {
    source: `let rest = n
let result = 0
while (rest > 0) {
  result = result * ${weight} + rest % 10
  rest = Math.floor(rest / 10)
}
console.log(result)`,
    prints: (n) => [...String(n)].reverse().reduce((result, digit) => result * weight + Number(digit), 0),
    upTo: 1_000_000
  }
}

const pairs = (draw: Draw): Program => {
  const divisor = draw.int(3, 7)
  return {
    source: `let count = 0
for (let i = 1; i <= n; i++) {
  for (let j = i; j <= n; j++) {
    if ((i + j) % ${divisor} === 0) count++
  }
}
console.log(count)`,
    prints: (n) => sum(numbers(1, n).map((i) => numbers(i, n).filter((j) => (i + j) % divisor === 0).length)),
    upTo: 120
  }
}

const pipeline = (draw: Draw): Program => {
  const [factor, modulus, bound] = [draw.int(3, 11), draw.int(7, 20), draw.int(2, 6)]
  return {
    source: `const values = Array.from({ length: n }, (_, i) => (i * ${factor}) % ${modulus})
const kept = values.filter((value) => value >= ${bound})
console.log(kept.reduce((total, value) => total + value, 0))`,
    prints: (n) =>
      sum(
        numbers(0, n - 1)
          .map((i) => (i * factor) % modulus)
          .filter((value) => value >= bound)
      ),
    upTo: 3_000
  }
}

const recursion = (draw: Draw): Program => {
  const [modulus, first] = [draw.int(8, 14), draw.int(1, 4)]
  return {
    source: `const f = (k) => (k < 2 ? k + ${first} : f(k - 1) + f(k - 2))
console.log(f(n % ${modulus}))`,
    prints: (n) => {
      let [low, high] = [first, first + 1]
      for (const _ of numbers(1, n % modulus)) [low, high] = [high, low + high]
      return low
    },
    upTo: 1_000_000
  }
}

const lookup = (draw: Draw): Program => {
  const items = draw.some(words, 5)
  const step = draw.int(2, 4)
  return {
    source: `const items = [${items.map((item) => `"${item}"`).join(", ")}]
let at = 0
for (let i = 0; i < n; i++) {
  at = (at + ${step}) % items.length
}
console.log(items[at])`,
    prints: (n) => items[(n * step) % 5]!,
    upTo: 100_000
  }
}

const closure = (draw: Draw): Program => {
  const [add, every] = [draw.int(2, 9), draw.int(3, 6)]
  return {
    source: `const counter = () => {
  let calls = 0
  let total = 0
  return () => {
    calls += 1
    total += calls % ${every} === 0 ? -calls : ${add}
    return total
  }
}
const next = counter()
let last = 0
for (let i = 0; i < n; i++) last = next()
console.log(last)`,
    prints: (n) => sum(numbers(1, n).map((calls) => (calls % every === 0 ? -calls : add))),
    upTo: 5_000
  }
}

const programs = {
  1: [accumulate, branches, lookup, pipeline],
  2: [accumulate, branches, hailstone, digits, lookup, pipeline, recursion],
  3: [branches, hailstone, pairs, pipeline, recursion, closure]
} as const

const sizes = { 1: [3, 8], 2: [8, 40], 3: [20, 110] } as const

const asProblem = (question: string, printed: string | number): Problem => ({
  question,
  answer: String(printed),
  kind: typeof printed === "number" ? "integer" : "word"
})

const ask = (draw: Draw): string =>
  draw.pick(["What does this JavaScript program print?", "What is the output of this JavaScript program?"])

const fenced = (source: string) => `\n\`\`\`js\n${source}\n\`\`\``

export const generate = (draw: Draw, difficulty: Difficulty): Problem => {
  const { prints, source } = draw.pick<(draw: Draw) => Program>(programs[difficulty])(draw)
  const [low, high] = sizes[difficulty]
  const n = draw.int(low, high)
  return asProblem(`${ask(draw)}${fenced(`const n = ${n}\n${source}`)}`, prints(n))
}

export const continueFrom = (draw: Draw, difficulty: Difficulty, given: Given): Problem | undefined => {
  const { prints, source, upTo } = draw.pick<(draw: Draw) => Program>(programs[difficulty])(draw)
  const n = integerWithin(given, 1, upTo)
  if (n === undefined) return undefined
  return asProblem(`${ask(draw).slice(0, -1)} when n is ${given.noun}?${fenced(source)}`, prints(n))
}

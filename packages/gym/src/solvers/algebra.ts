/** Reads equations, in symbols or in words, and solves them exactly. */
import type { Habits } from "../Habits.ts"
import { withAlgebra } from "./nerdamer.ts"
import { plain, solver } from "./reading.ts"

/** Equations as texts with `=`, the unknown that is asked for, and which of two solutions. */
interface Read {
  readonly equations: ReadonlyArray<string>
  readonly unknown: string
  readonly which: "larger" | "smaller" | undefined
}

const whichOf = (text: string): Read["which"] =>
  /\b(?:larger|greater|bigger|largest)\b/i.test(text)
    ? "larger"
    : /\b(?:smaller|lesser|smallest)\b/i.test(text)
      ? "smaller"
      : undefined

/** Runs of numbers, single letters and signs that hold an equals sign. */
const equationsIn = (text: string): ReadonlyArray<string> => {
  const runs: Array<string> = []
  let run = ""
  for (const token of text.match(/[a-z]{2,}|[a-z]|\d+(?:\.\d+)?|[-+*/^()=]|[^\s]/gi) ?? []) {
    if (/^(?:[a-z]|\d.*|[-+*/^()=])$/i.test(token)) {
      run += token
    } else {
      runs.push(run)
      run = ""
    }
  }
  return [...runs, run].filter((text) => /^[^=]+=[^=]+$/.test(text))
}

const inSymbols = (asked: string): Read | undefined => {
  // A question that begins with its equation begins with a capital.
  const text = asked.toLowerCase()
  const equations = equationsIn(text)
  if (equations.length === 0 || equations.length > 2) return undefined
  const letters = new Set(equations.join("").match(/[a-z]/g))
  const named = [...text.matchAll(/\b(?:for|is|of) ([a-z])(?![a-z'])/g)].map((match) => match[1]!)
  const unknown = named.findLast((letter) => letters.has(letter)) ?? (letters.size === 1 ? [...letters][0] : undefined)
  return unknown === undefined ? undefined : { equations, unknown, which: whichOf(text) }
}

const N = "(-?\\d+)"

const riddles: ReadonlyArray<RegExp> = [
  new RegExp(`${N} times (?:a|an unknown|some|my) number (plus|minus) ${N} (?:equals|is|gives|makes) ${N}`, "i"),
  new RegExp(`multipl(?:y it|ied) by ${N},? (?:and )?(?:then |you )?(add|subtract) ${N},?\\.? .*?${N}`, "i")
]

const inWords = (text: string): Read | undefined => {
  for (const riddle of riddles) {
    const match = riddle.exec(text)
    if (match === null || !/\b(?:number|unknown)\b/i.test(text)) continue
    const [, factor, verb, constant, total] = match
    const sign = /plus|add/i.test(verb!) ? "+" : "-"
    return { equations: [`${factor}*x${sign}${constant}=${total}`], unknown: "x", which: undefined }
  }
  const sum = new RegExp(`\\b(?:add up to|sum of|sum is) ${N}`, "i").exec(text)?.[1]
  const difference = new RegExp(`\\b(?:differ by|difference of|difference is) ${N}`, "i").exec(text)?.[1]
  const which = whichOf(text)
  if (sum === undefined || difference === undefined || which === undefined || !/two numbers/i.test(text))
    return undefined
  return { equations: [`x+y=${sum}`, `x-y=${difference}`], unknown: which === "larger" ? "x" : "y", which: undefined }
}

const read = (question: string): Read | undefined => {
  const text = plain(question).replace(/\s+/g, " ")
  if (/```|"/.test(text)) return undefined
  return text.includes("=") ? inSymbols(text) : inWords(text)
}

const difference = (equation: string): string => {
  const [left, right] = equation.split("=")
  return `(${left})-(${right})`
}

const asNumber = (value: string): ReadonlyArray<number> => {
  const [numerator, denominator] = value.split("/").map(Number)
  const number = Number((numerator! / (denominator ?? 1)).toPrecision(12))
  return Number.isFinite(number) ? [number] : []
}

/** The rational roots of a polynomial of degree 1 or 2; none for other degrees. */
const roots = async ({ equations, unknown }: Read): Promise<ReadonlyArray<number>> => {
  const found = await withAlgebra((algebra) => {
    const value = (expression: string) => algebra(expression).toString()
    const [c, b, a, more] = algebra.coeffs(difference(equations[0]!), unknown).toString().slice(1, -1).split(",")
    if (b === undefined || more !== undefined) return []
    if (a === undefined) return asNumber(value(`-(${c})/(${b})`))
    const root = value(`sqrt((${b})^2-4*(${a})*(${c}))`)
    return ["-", "+"].flatMap((sign) => asNumber(value(`(-(${b})${sign}(${root}))/(2*(${a}))`)))
  })
  return found ?? []
}

const solvePair = async ({ equations, unknown }: Read): Promise<ReadonlyArray<number>> => {
  const found = await withAlgebra((algebra) => {
    const solved = algebra.solveEquations([...equations]) as unknown as ReadonlyArray<readonly [string, unknown]>
    return asNumber(String(solved.find(([name]) => name === unknown)?.[1]))
  })
  return found ?? []
}

const withHabits = (read: Read, habits: Habits): Read => {
  const signs = (equation: string) =>
    equation.replace(/-(\d+)(?![\d*a-z(])/g, (_, value, at) =>
      at === 0 || equation[at - 1] === "=" ? value : `+${value}`
    )
  const lines = (equation: string) => equation.replace(/[-+]?\d*[a-z]\^2/, "").replace(/^\+/, "")
  const [first, second] = read.equations
  const equations =
    habits.linearOnly && second !== undefined
      ? [first!.replace(new RegExp(`[-+]?\\d*(?!${read.unknown})[a-z]`, "g"), "")]
      : read.equations
  return {
    ...read,
    equations: equations
      .map((equation) => (habits.linearOnly ? lines(equation) : equation))
      .map((equation) => (habits.dropsSigns ? signs(equation) : equation))
  }
}

const solve = async (asked: Read, habits: Habits): Promise<string | undefined> => {
  const read = withHabits(asked, habits)
  const found = await (read.equations.length === 2 ? solvePair(read) : roots(read))
  const ascending = found.toSorted((left, right) => left - right)
  const value = read.which === "smaller" ? ascending[0] : ascending.at(-1)
  return value === undefined ? undefined : String(value)
}

export const algebra = solver(read, solve)

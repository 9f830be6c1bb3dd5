/** Reads equations, in symbols or in words, and solves them exactly. */
import type { Habits } from "../Habits.ts"
import { withAlgebra } from "./nerdamer.ts"
import { solver, type Text } from "./reading.ts"

/** Equations as strings with `=`, the unknown to solve for, and which of two solutions to return. */
interface Read {
  readonly equations: ReadonlyArray<string>
  readonly unknown: string
  readonly which: "larger" | "smaller" | undefined
}

const takeWhich = (text: Text): Read["which"] =>
  text.take(/\b(?:larger|greater|bigger|largest)\b/i) !== undefined
    ? "larger"
    : text.take(/\b(?:smaller|lesser|smallest)\b/i) !== undefined
      ? "smaller"
      : undefined

/** Takes sequences of numbers, single letters and operators that contain an equals sign. */
const takeEquations = (text: Text): ReadonlyArray<string> => {
  const tokens = [...text.left.matchAll(/[a-z]{2,}|[a-z]|\d+(?:\.\d+)?|[-+*/^()=]|[^\s]/gi)]
  const runs: Array<{ written: string; from: number; to: number }> = []
  let isRunning = false
  for (const { 0: token, index } of tokens) {
    const belongs = /^(?:[a-z]|\d.*|[-+*/^()=])$/i.test(token)
    if (belongs && !isRunning) runs.push({ written: "", from: index, to: index })
    isRunning = belongs
    if (!belongs) continue
    const run = runs.at(-1)!
    run.written += token
    run.to = index + token.length
  }
  const found = runs.filter(({ written }) => /^[^=]+=[^=]+$/.test(written))
  for (const { from, to } of found.toReversed()) text.cut(from, to, ",")
  return found.map(({ written }) => written)
}

const inSymbols = (text: Text): Read | undefined => {
  const equations = takeEquations(text)
  if (equations.length === 0 || equations.length > 2) return undefined
  const letters = new Set(equations.join("").match(/[a-z]/g))
  const named = /\b(?:for|is|of|find) ([a-z])(?![a-z'])/g
  const asked = [...text.left.matchAll(named)].map((match) => match[1]!).findLast((letter) => letters.has(letter))
  const unknown = asked ?? (letters.size === 1 ? [...letters][0] : undefined)
  if (unknown === undefined) return undefined
  if (asked !== undefined) text.takeAll(new RegExp(`\\b(?:for|is|of|find) ${asked}(?![a-z'])`, "g"))
  else text.take(new RegExp(`^\\W*${unknown}(?= ?[=?.]|\\W*$)|\\b${unknown}(?= ?= ?\\?)`))
  return { equations, unknown, which: takeWhich(text) }
}

const N = "(-?\\d+)"

const totals =
  "(?:(?:i|you|we) (?:end up with|get|reach)|the (?:result|answer) is|(?:it|that) (?:gives|makes|equals)|the result equals)"

const riddles: ReadonlyArray<RegExp> = [
  new RegExp(
    `${N} times (?:a|an unknown|some|my) number (plus|minus) ${N} (?:equals|is|gives|makes) ${N}(?=[.,;?!]|$)`
  ),
  new RegExp(
    `(?:i think of a number,? |(?:when|if) (?:an unknown|a|my|some) number is )multipl(?:y it|ied) by ${N},? (?:and )?(?:then )?(?:you |i )?(add|subtract) ${N}(?: (?:to|from) it)?[,.]? ${totals} ${N}(?=[.,;?!]|$)`
  )
]

const sumOfTwo = new RegExp(`\\b(?:add up to|(?:have )?(?:a |the |their )?sum (?:of|is)) ${N}`)
const differenceOfTwo = new RegExp(`\\b(?:differ by|(?:have )?(?:a |the |their )?difference (?:of|is)) ${N}`)

const inWords = (text: Text): Read | undefined => {
  for (const riddle of riddles) {
    const match = text.take(riddle)
    if (match === undefined) continue
    const [, factor, verb, constant, total] = match
    const sign = /plus|add/.test(verb!) ? "+" : "-"
    text.take(/\b(?:what (?:is|was)|find|guess) (?:the|my|this|that) (?:unknown )?number\b/)
    return { equations: [`${factor}*x${sign}${constant}=${total}`], unknown: "x", which: undefined }
  }
  if (text.take(/\btwo numbers\b/) === undefined) return undefined
  const sum = text.take(sumOfTwo)?.[1]
  const difference = text.take(differenceOfTwo)?.[1]
  const which = takeWhich(text)
  if (sum === undefined || difference === undefined || which === undefined) return undefined
  text.take(/(?:one|number)(?=\W*$)/)
  return { equations: [`x+y=${sum}`, `x-y=${difference}`], unknown: which === "larger" ? "x" : "y", which: undefined }
}

const read = (text: Text): Read | undefined => {
  if (text.has(/```|"/)) return undefined
  // If a question starts with its equation, the first letter is a capital.
  text.lower()
  return text.left.includes("=") ? inSymbols(text) : inWords(text)
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

/** Returns the rational roots of a polynomial of degree 1 or 2. Empty for other degrees. */
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
  const ascending = [...new Set(found)].sort((left, right) => left - right)
  if (ascending.length > 1 && read.which === undefined) return undefined
  const value = read.which === "smaller" ? ascending[0] : ascending.at(-1)
  return value === undefined ? undefined : String(value)
}

export const algebra = solver<Read>({
  words:
    "if for which satisfies solve equation equations given has have two solutions solution one root of value when holds of",
  read,
  kind: () => "number",
  solve: (read, { habits }) => solve(read, habits)
})

/** Reads arithmetic in symbols, instructions and stories as one expression, and evaluates it exactly. */
import type { Habits } from "../Habits.ts"
import { withAlgebra } from "./nerdamer.ts"
import { decimalsAsked, plain, shown, solver } from "./reading.ts"

/** Words of the other families' questions. */
const foreign =
  /=|"|```|\d-\d\d-\d|\b(?:average|mean|median|mode|range|deviation|list|values|digits?|letters?|vowels|words?|backwards|true|false|unknown|(?:a|my|two) numbers?|dates?|days?|weekday|degrees|convert|express)\b/i

const written: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(?:multiplied by|times)\b/gi, "*"],
  [/\bdivided by\b/gi, "/"],
  [/%? ?percent of |% of /gi, " / 100 * "],
  [/(?<=[\d)] )plus(?= [\d(])/gi, "+"],
  [/(?<=[\d)] )minus(?= [\d(])/gi, "-"]
]

/** Words in which people ask for the value of an expression. */
const asking = new Set(
  (
    "a an and answer as at by calculate can compute decimal decimals digits do does equal equals evaluate exact exactly " +
    "expression find for four get give how i in is it its just know let many me much nearest need now number number's " +
    "of one only out part places please result round rounded s show simplify solve tell the then this three to total " +
    "two us value want we what whats when whole with work you your"
  ).split(" ")
)

/** A sum that stands among so many other words is not what is asked. */
const mostOtherWords = 3

const isAsked = (text: string): boolean =>
  (text.toLowerCase().match(/[a-z]{2,}/g) ?? []).filter((word) => !asking.has(word)).length <= mostOtherWords

const balanced = (text: string): boolean => {
  let depth = 0
  for (const character of text) {
    if (character === "(") depth += 1
    if (character === ")" && --depth < 0) return false
  }
  return depth === 0
}

const inSymbols = (text: string): string | undefined => {
  const symbols = written.reduce((result, [word, sign]) => result.replace(word, sign), text)
  const found = symbols.match(/(?<![-(\s])[-(\s]*\d[\d\s.()+*/^-]*[\d)]/g)?.map((match) => match.trim())
  const only = found?.length === 1 ? found[0]! : undefined
  const isSum = only !== undefined && /\d[\s)]*[-+*/^]/.test(only) && balanced(only)
  return isSum && isAsked(symbols) ? only : undefined
}

const N = "(-?\\d+(?:\\.\\d+)?)"

const openings: ReadonlyArray<readonly [RegExp, (a: string, b: string) => string]> = [
  [new RegExp(`\\badd (?:up )?${N} (?:to|and) ${N}`, "i"), (a, b) => `(${a} + ${b})`],
  [new RegExp(`\\bsubtract ${N} from ${N}`, "i"), (a, b) => `(${b} - ${a})`],
  [new RegExp(`\\bmultiply ${N} (?:by|and|with) ${N}`, "i"), (a, b) => `(${a} * ${b})`],
  [new RegExp(`\\bdivide ${N} by ${N}`, "i"), (a, b) => `(${a} / ${b})`],
  [new RegExp(`\\bsum of ${N} and ${N}`, "i"), (a, b) => `(${a} + ${b})`],
  [new RegExp(`\\bdifference (?:of|between) ${N} and ${N}`, "i"), (a, b) => `(${a} - ${b})`],
  [new RegExp(`\\bproduct of ${N} and ${N}`, "i"), (a, b) => `(${a} * ${b})`],
  [new RegExp(`\\bquotient of ${N} and ${N}`, "i"), (a, b) => `(${a} / ${b})`],
  [new RegExp(`\\bdouble ${N}`, "i"), (a) => `(${a} * 2)`],
  [new RegExp(`\\bhalve ${N}`, "i"), (a) => `(${a} / 2)`],
  [new RegExp(`\\b(?:start|begin) with ${N}`, "i"), (a) => a],
  [new RegExp(`\\btake ${N}`, "i"), (a) => a]
]

const continuation = new RegExp(
  `\\b(?:(multiply|divide)(?: it| this| that| the \\w+)? by|(add|plus)|(subtract|minus|take away)) ${N}|\\b(double|halve|square)\\b`,
  "gi"
)

const apply = (expression: string, [, factor, more, less, value, alone]: RegExpMatchArray): string => {
  if (factor !== undefined) return `(${expression} ${factor.toLowerCase() === "multiply" ? "*" : "/"} ${value})`
  if (more !== undefined) return `(${expression} + ${value})`
  if (less !== undefined) return `(${expression} - ${value})`
  if (alone?.toLowerCase() === "double") return `(${expression} * 2)`
  return alone?.toLowerCase() === "halve" ? `(${expression} / 2)` : `(${expression})^2`
}

const series = new RegExp(`\\b(sum|product) of (${N.slice(1, -1)}(?:(?:, (?:and )?| and )${N.slice(1, -1)})+)`, "i")

const inWords = (text: string): string | undefined => {
  const [all, kind, listed] = series.exec(text) ?? []
  if (all !== undefined && listed!.includes(",")) {
    return listed!.split(/, (?:and )?| and /).join(kind!.toLowerCase() === "sum" ? " + " : " * ")
  }
  const opening = openings
    .flatMap(([pattern, build]) => {
      const match = pattern.exec(text)
      return match === null ? [] : [{ match, build }]
    })
    .sort((left, right) => left.match.index - right.match.index)[0]
  if (opening === undefined) return undefined
  const { build, match } = opening
  const start = build(match[1]!, match[2] ?? "")
  const changes = [...text.slice(match.index + match[0].length).matchAll(continuation)]
  // "Take 2" alone asks for nothing.
  return changes.length === 0 && start === match[1] ? undefined : changes.reduce(apply, start)
}

const story = (text: string): string | undefined => {
  const groups = new RegExp(`${N} \\w+ (?:with|of|at|for|holding|containing) ${N} .*?\\beach\\b`, "i").exec(text)
  if (groups === null) return undefined
  const rest = text.slice(groups.index + groups[0].length)
  const change = new RegExp(N).exec(rest)?.[1]
  const total = `${groups[1]} * ${groups[2]}`
  if (change === undefined) return total
  return `${total} ${/\b(?:more|arrive|added|gains?|bought)\b/i.test(rest) ? "+" : "-"} ${change}`
}

interface Read {
  readonly expression: string
  readonly decimals: number | undefined
}

const read = (question: string): Read | undefined => {
  const text = plain(question)
    .replace(/\s+/g, " ")
    .replace(/ ?= ?\??$/, "")
  if (foreign.test(text)) return undefined
  const expression = inSymbols(text) ?? inWords(text) ?? story(text)
  return expression === undefined ? undefined : { expression, decimals: decimalsAsked(text) }
}

const number = /^-?\d+(?:\.\d+)?$/

/** The value as a decimal; exact where it is a whole number. */
const evaluate = (expression: string): Promise<string | undefined> =>
  withAlgebra((algebra) => {
    const value = algebra(expression)
    const text = value.toString()
    return text.includes("/") ? shown(Number(value.evaluate().text("decimals")), undefined) : text
  })

const keepDigits = (value: string, digits: number | undefined): string => {
  if (digits === undefined || !/^-?\d+$/.test(value)) return value
  const size = value.replace("-", "").length
  if (size <= digits) return value
  const unit = 10n ** BigInt(size - digits)
  return String((BigInt(value) / unit) * unit)
}

const levels = (leftToRight: boolean | undefined): ReadonlyArray<string> =>
  leftToRight ? ["\\^", "[-+*/]"] : ["\\^", "[*/]", "[-+]"]

/** Works an expression out as on paper, one operation after the other. */
const stepByStep = async (expression: string, habits: Habits): Promise<string | undefined> => {
  let text = expression
  for (let inner = /\(([^()]*)\)/.exec(text); inner !== null; inner = /\(([^()]*)\)/.exec(text)) {
    const value = await stepByStep(inner[1]!, habits)
    if (value === undefined) return undefined
    text = `${text.slice(0, inner.index)}${value}${text.slice(inner.index + inner[0].length)}`
  }
  for (const operators of levels(habits.leftToRight)) {
    const operation = new RegExp(`(?<![\\d.])(-?\\d+(?:\\.\\d+)?)\\s*(${operators})\\s*(-?\\d+(?:\\.\\d+)?)`)
    for (let match = operation.exec(text); match !== null; match = operation.exec(text)) {
      const exact = await evaluate(`(${match[1]})${match[2]}(${match[3]})`)
      if (exact === undefined || !number.test(exact)) return undefined
      const value = keepDigits(exact, habits.significantDigits)
      text = `${text.slice(0, match.index)}${value}${text.slice(match.index + match[0].length)}`
    }
  }
  return text.trim()
}

export const arithmetic = solver(read, async ({ decimals, expression }, habits) => {
  const byHand = habits.leftToRight || habits.significantDigits !== undefined
  const value = await (byHand ? stepByStep(expression, habits) : evaluate(expression))
  if (value === undefined || !number.test(value)) return undefined
  return decimals === undefined ? value : shown(Number(value), decimals)
})

/** What all solvers do first: normalise the spelling of a text. */
import type { Habits } from "../Habits.ts"
import type { Stock } from "../internal/stock.ts"

/** What a tool has told of an article of the warehouse; `undefined` where nothing is known of it (yet). */
export type LookUp = (article: string) => Stock | undefined

/** Reads the questions of one family and computes their answers. */
export interface Solver {
  /** Whether this is a question of the family. Cheap: it loads nothing. */
  readonly reads: (question: string) => boolean
  /** The answer, or `undefined` when this is no question of the family, or the habits prevent an answer. */
  readonly solve: (question: string, habits: Habits, lookUp?: LookUp) => Promise<string | undefined>
}

/**
 * Longer texts, code and quotations aside, are documents: the numbers in them are not a question. The longest question of
 * the gym has 340 characters.
 */
const longestQuestion = 600

const isDocument = (question: string): boolean =>
  question.length > longestQuestion && question.replace(/```[\s\S]*?(?:```|$)|"[^"\n]*"/g, "").length > longestQuestion

/** A solver from a function that reads a question and one that computes the answer. */
export const solver = <Read>(
  read: (question: string) => Read | undefined,
  compute: (read: Read, habits: Habits, lookUp: LookUp) => Promise<string | undefined> | string | undefined
): Solver => {
  const readQuestion = (question: string) => (isDocument(question) ? undefined : read(question))
  return {
    reads: (question) => readQuestion(question) !== undefined,
    solve: async (question, habits, lookUp = () => undefined) => {
      const found = readQuestion(question)
      return found === undefined ? undefined : compute(found, habits, lookUp)
    }
  }
}

/** One spelling of signs, quotes and numbers: `4,812 × 37 − 1` becomes `4812 * 37 - 1`. */
export const plain = (text: string): string =>
  text
    .replace(/[−–]/g, "-")
    .replace(/[×·]/g, "*")
    .replace(/÷/g, "/")
    .replace(/²/g, "^2")
    .replace(/[“”]/g, '"')
    .replace(/[‘’]/g, "'")
    .replace(/(?<=\d),(?=\d{3}(?!\d))/g, "")

/** How many decimals a question asks for, if it asks. */
export const decimalsAsked = (question: string): number | undefined => {
  if (/nearest (?:whole number|integer|unit)/i.test(question)) return 0
  const found = /(one|two|three|four|\d) decimal (?:places?|digits?)/i.exec(question)?.[1]?.toLowerCase()
  if (found === undefined) return undefined
  const word = ["zero", "one", "two", "three", "four"].indexOf(found)
  return word < 0 ? Number(found) : word
}

/** A number as an answer: rounded as asked, else to 12 significant digits; without trailing zeros. */
export const shown = (value: number, decimals: number | undefined): string =>
  String(Number(decimals === undefined ? value.toPrecision(12) : value.toFixed(decimals)))

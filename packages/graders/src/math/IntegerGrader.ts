/** Grades answers that are whole numbers: AIME's 0 to 999, and the results of GSM8K. */
import { spoken } from "../internal/spoken.ts"
import * as Verdict from "../Verdict.ts"
import * as MathAnswer from "./MathAnswer.ts"

/** The grader's name, and which numbers can be right. */
export interface Options {
  /** The name of the grader; `integer` by default. */
  readonly name?: string | undefined
  /** The least and the greatest number that can be right; any by default. */
  readonly range?: readonly [least: number, greatest: number] | undefined
}

/** The whole number that a final answer spells, in its shortest spelling; `undefined` when it spells none. */
const read = (text: string): string | undefined => {
  const bare = text
    .replace(/\\(?:text|mbox|mathrm)\s*\{[^{}]*\}/g, "")
    .replace(/\^?\s*\{?\\circ\}?|[°*_`$]|\\[()[\]!,;:$% ]|\\(?:left|right|boxed)|[{}%]/g, "")
    .replace(/[−–]/g, "-")
    .replace(/^\s*[a-zA-Z]\s*=/, "")
    .replace(/\s+[a-zA-Z][a-zA-Z /²³]*\.?$/, "")
    .replace(/(?<=\d),\s?(?=\d{3}(?!\d))/g, "")
    .trim()
  const match = /^([-+]?)0*(\d+?)(?:\.0*)?\.?$/.exec(bare)
  if (match === null) return undefined
  return match[1] === "-" && match[2] !== "0" ? `-${match[2]}` : match[2]
}

const lastInteger = (text: string): string | undefined => {
  const numbers = text.match(/(?<![\w.,])[-−]?\$?\d[\d,]*(?:\.\d+)?(?![\w])/g) ?? []
  const last = numbers.at(-1)?.replace(/,+$/, "")
  return last === undefined ? undefined : read(last)
}

const isMarked = /\\f?box|<answer>|####|answer|ANSWER|Answer/

/**
 * The whole number that a text gives as its answer: the boxed or labelled one; where nothing is boxed or labelled, the
 * last number.
 *
 * **Example**
 *
 * ```ts
 * import { IntegerGrader } from "@divisi/graders/math"
 *
 * IntegerGrader.extract("Therefore, the final answer is: $\\boxed{033}$. I hope it is correct.") // => "33"
 * IntegerGrader.extract("She pays 70,000 dollars.") // => "70000"
 * ```
 */
export const extract = (text: string): string | undefined => {
  const said = spoken(text)
  const marked = isMarked.test(said) || said.length < 24 ? MathAnswer.extract(said) : undefined
  const number = marked === undefined ? undefined : read(marked)
  if (number !== undefined) return number
  return marked !== undefined && /\\f?box|<answer>|####/.test(said) ? undefined : lastInteger(said)
}

const isWithin = (number: string, [least, greatest]: readonly [number, number]) =>
  Number(number) >= least && Number(number) <= greatest

/** Makes a grader of whole numbers. A number out of range counts as no answer (`unparsed`). */
export const make = (options: Options = {}): Verdict.AnswerGrader =>
  Verdict.grader(options.name ?? "integer", (gold, answer) => {
    const extracted = extract(answer)
    if (extracted === undefined || (options.range !== undefined && !isWithin(extracted, options.range))) {
      return Verdict.unparsed
    }
    return Verdict.make({ correct: extracted === (read(gold) ?? gold), rung: "integer", extracted })
  })

/** Grades any whole number. */
export const integer: Verdict.AnswerGrader = make()

/** Grades AIME's answers, 0 to 999. */
export const aime: Verdict.AnswerGrader = make({ name: "aime", range: [0, 999] })

/** Grades integer answers, such as those of AIME (0 to 999) and GSM8K. */
import { Options as Tables } from "@divisi/core"
import { isRetracted } from "../internal/assertion/Assertion.ts"
import { spoken } from "../internal/spoken.ts"
import * as Verdict from "../Verdict.ts"
import * as MathAnswer from "./MathAnswer.ts"
import { compare } from "./MathGrader.ts"
import { isUnit } from "./Units.ts"

/** Options for {@link make}. */
export interface Options {
  /** Name of the grader. Default: `integer`. */
  readonly name?: string | undefined
  /** Smallest and largest possible answer. Default: any integer. */
  readonly range?: readonly [least: number, greatest: number] | undefined
}

/** Removes the markup around a number, but not its words and unit. */
const bare = (text: string): string =>
  text
    .replace(/\\(?:text\w*|math[a-z]+|mbox|boldsymbol|bm|operatorname)\s*\{([^{}]*)\}/g, " $1 ")
    .replace(/\\(?:displaystyle|textstyle|bf|rm|left|right|boxed)(?![a-zA-Z])/g, "")
    .replace(/\^?\s*\{?\s*\\circ\s*\}?|[°*_`$]|\\[()[\]!,;:$% ]|[{}%~]/g, "")
    .replace(/[−–]/g, "-")
    .replace(/(?<=\d),\s?(?=\d{3}(?!\d))/g, "")
    .trim()

const plainNumber = (text: string): string | undefined => {
  const match = /^([-+]?)\s*0*(\d+?)(?:\.0*)?(?:\s+(\p{L}[\p{L} /²³^\d]*))?\.?$/u.exec(text)
  if (match === null || (match[3] !== undefined && !isUnit(match[3]))) return undefined
  return match[1] === "-" && match[2] !== "0" ? `-${match[2]}` : match[2]
}

/** Parses a final answer as an integer in canonical form. Returns `undefined` if it is not an integer. */
const read = (text: string): string | undefined => {
  const sides = bare(text).split("=")
  const result = plainNumber(sides.at(-1)!.trim())
  if (result === undefined || sides.length === 1) return result
  // A sum of numbers must equal its result. A sum of names may equal anything.
  const isRight = sides.slice(0, -1).every((side) => /[a-zA-Z]/.test(side) || compare(result, side).correct)
  return isRight ? result : undefined
}

/** Phrases directly before a number that rule it out as an answer: bounds, negations and step numbers. */
const boundBefore =
  /\b(?:(?:not|never|isn't|cannot|can't)(?:\s+be)?|than|least|most|about|around|almost|nearly|approximately|approx|roughly|over|under|between|maybe|perhaps|possibly|could be|might be|may be|guess\w*|tried|try|if|unless|suppose|assume|neither|nor|(?:step|case|problem|question|exercise|example|equation|part|page|line|option|chapter|section|figure|table|task|no)\.?)\s*[#("$]*\s*$/i

/** Phrases after a number that rule it out. */
const boundBehind =
  /^[\s"').]*(?:\p{L}+\s+)?(?:(?:or|and)\s+(?:more|less|fewer|so)|more|less|fewer|(?:greater|larger|smaller)?\s*than|(?:is|was|seems|would be)\s+(?:not|wrong|incorrect|false|impossible|a guess|only|too|excluded)|fails?|does not|doesn't|cannot)\b/iu

const refusal =
  /\b(?:I|we)(?:\s+(?:cannot|can't|can not|could not|couldn't|do not know|don't know|am not sure|give up|gave up|refuse|failed)|(?:\s+am|'m|\s+was|\s+are)\s+(?:unable|unsure|not able|not sure))\b|\bunable to (?:solve|answer|determine)\b/i

const taken = /\b(?:wrong|incorrect|mistake|fails?|not right|not correct|a guess)\b/i

/** Returns the last number if it is stated plainly. */
const lastInteger = (said: string): string | undefined => {
  const text = said.replace(/\((?:since|because|as|from|i\.e\.)\b[^()]*\)/gi, "")
  const match = [...text.matchAll(/(?<![\w.,])[-−]?(?:\\?[$€£])?\d[\d,]*(?:\.\d+)?(?![\w])/g)].at(-1)
  if (match === undefined) return undefined
  const [before, behind] = [text.slice(0, match.index), text.slice(match.index + match[0].length)]
  if (boundBefore.test(before.slice(-60)) || boundBehind.test(behind)) return undefined
  if (refusal.test(text.slice(-300)) || taken.test(behind)) return undefined
  if (isRetracted(text, match.index + match[0].length)) return undefined
  return read(match[0].replace(/,+$/, ""))
}

const isMarked = /\\f?box|<answer>|####|answer/i

/**
 * Extracts the integer answer from a text: the boxed or labeled one. If nothing is boxed or labeled, the last number
 * counts, unless the text declines to answer, negates the number or gives it as a bound.
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
  return /\\f?box|<answer>|####/.test(said) ? undefined : lastInteger(said)
}

const isWithin = (number: string, [least, greatest]: readonly [number, number]) =>
  Number(number) >= least && Number(number) <= greatest

const table = {
  name: Tables.name,
  range: Tables.expects(
    "two whole numbers, the smaller first",
    (value) => Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger) && value[0] <= value[1]
  )
} satisfies Tables.ShapeOf<Options>

/** Creates a grader for integers. A number outside the range counts as no answer (`unparsed`). */
export const make = (options: Options = {}): Verdict.AnswerGrader => {
  Tables.check("IntegerGrader.make", options, table)
  return Verdict.grader(options.name ?? "integer", (gold, answer) => {
    const extracted = extract(answer)
    if (extracted === undefined || (options.range !== undefined && !isWithin(extracted, options.range))) {
      return Verdict.unparsed
    }
    return Verdict.make({ correct: extracted === (read(gold) ?? gold), rung: "integer", extracted })
  })
}

/** Grades integers of any size. */
export const integer: Verdict.AnswerGrader = make()

/** Grades AIME answers: integers from 0 to 999. */
export const aime: Verdict.AnswerGrader = make({ name: "aime", range: [0, 999] })

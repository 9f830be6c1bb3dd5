/**
 * Grades short answers of RLPR, with two rules.
 *
 * `paper` reproduces the rule in a supplement to related work by the paper's authors. It is very lenient: it accepts
 * 1/2 for 1/3 and 10^3 for 10^5, because it compares only the first numbers. `strict` compares numbers only if each
 * side is a single number with an optional unit. Reports should include both.
 */

import { Options as Tables } from "@divisi/core"
import { spoken } from "../internal/spoken.ts"
import { firstTagged } from "../internal/tagged.ts"
import * as Verdict from "../Verdict.ts"
import * as MathAnswer from "./MathAnswer.ts"
import * as MathGrader from "./MathGrader.ts"
import { factor, isSameUnit, isUnit, type Unit, unitOf } from "./Units.ts"

// -------------------------------------------------------------------------------------------------------------------
// Numbers
// -------------------------------------------------------------------------------------------------------------------

const float = (text: string): number | undefined =>
  /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*$/.test(text) ? Number(text) : undefined

/** Whether a number is within tolerance: 0.1 % of a reference above 1, otherwise 1e-6. The limit is exclusive. */
const isNear = (answer: number, gold: number): boolean =>
  Math.abs(answer - gold) < (Math.abs(gold) > 1 ? 0.001 * Math.abs(gold) : 1e-6)

const squeeze = (text: string) => text.trim().replace(/\s+/g, " ").toLowerCase()

/** Like {@link isNear}, but with a relative tolerance near 0: 6.67e-12 is not 6.67e-11. */
const isStrictlyNear = (answer: number, gold: number): boolean =>
  answer === gold || (isNear(answer, gold) && Math.abs(answer - gold) < 0.001 * Math.abs(gold))

/** Whether the answers agree if exactly one is a percentage. Returns `undefined` if this does not apply. */
const byPercent = (
  gold: string,
  answer: string,
  isEqual = (answer: number, gold: number) => Math.abs(answer - gold) < 1e-6
): boolean | undefined => {
  if (gold.includes("%") === answer.includes("%")) return undefined
  const fraction = (text: string) => {
    const number = float(text.replaceAll("%", ""))
    return number === undefined ? undefined : text.includes("%") ? number / 100 : number
  }
  const [a, b] = [fraction(gold), fraction(answer)]
  return a === undefined || b === undefined ? undefined : isEqual(b, a)
}

const byFloat = (gold: string, answer: string): boolean | undefined => {
  const [a, b] = [float(gold.replace(/[,$%]/g, "")), float(answer.replace(/[,$%]/g, ""))]
  return a === undefined || b === undefined ? undefined : isNear(b, a)
}

// -------------------------------------------------------------------------------------------------------------------
// The rule as it is reported
// -------------------------------------------------------------------------------------------------------------------

const firstNumber = (text: string): number | undefined => {
  const bare = text.replace(/[a-zA-Z/^.\s]+$/, "").replace(/[$,%]/g, "")
  if (/e/i.test(bare)) return float(bare)
  const found = /[-+]?(?:\d+\.?\d*|\.\d+)/.exec(bare)?.[0]
  return found === undefined ? undefined : Number(found)
}

const paperRule = (gold: string, answer: string): { readonly correct: boolean; readonly rung: string } => {
  if (squeeze(gold) === squeeze(answer)) return { correct: true, rung: "text" }
  const percent = byPercent(gold, answer)
  if (percent !== undefined) return { correct: percent, rung: "percent" }
  const number = byFloat(gold, answer)
  if (number !== undefined) return { correct: number, rung: "number" }
  const [a, b] = [firstNumber(gold), firstNumber(answer)]
  if (a !== undefined && b !== undefined) return { correct: isNear(b, a), rung: "first-number" }
  // A last branch reads "million" and "thousand", but is only reached if one side has no number, so it never gives
  // credit.
  return { correct: false, rung: "none" }
}

// -------------------------------------------------------------------------------------------------------------------
// The strict rule
// -------------------------------------------------------------------------------------------------------------------

const scales: Readonly<Record<string, number>> = { thousand: 1e3, million: 1e6, billion: 1e9, trillion: 1e12 }

interface Measured {
  readonly number: number
  readonly unit: Unit
  /** Whether the number is written as an integer. Integers are never treated as rounded. */
  readonly isWhole: boolean
}

/** Removes LaTeX symbols around a number. */
const plain = (text: string) =>
  text
    .trim()
    .replace(/\\(?:text|mathrm|mbox|mathbf)\s*\{([^{}]*)\}/g, " $1 ")
    .replace(/\\(?:times|cdot)/g, "×")
    .replace(/\\[,;:! ]|~/g, " ")
    .replace(/^\$(.*)\$$/, "$1")
    .replace(/\\([$%])/g, "$1")
    // Match only at the start of a run of spaces. Trying every position in the run would take quadratic time.
    .replace(/(?<!\s)\s*\bper ?cent\b/gi, "%")
    .replace(/[−–]/g, "-")
    .trim()

/** Parses a single number with an optional currency before it, and an optional scale and unit after it. */
const measured = (text: string): Measured | undefined => {
  const match =
    /^(?:approximately|approx\.?|about|≈|~)?\s*([$€£]?)\s*([-+]?[\d,]*\.?\d+(?:[eE][-+]?\d+)?)\s*(?:(?:×|x|\*)\s*10\^\{?([-+]?\d+)\}?)?\s*(thousand|million|billion|trillion)?\s*(%?)\s*([\p{L}°][\p{L}°/ ²³^{}\d·*-]*)?\.?$/u.exec(
      plain(text)
    )
  if (match === null) return undefined
  const [, currency, digits, exponent, scale, percent, unit] = match
  if (unit !== undefined && !isUnit(unit)) return undefined
  const base = float(digits!.replaceAll(",", ""))
  if (base === undefined) return undefined
  const number = (base * 10 ** Number(exponent ?? 0) * (scales[scale ?? ""] ?? 1)) / (percent === "%" ? 100 : 1)
  const isWhole = /^[-+\d,]+$/.test(digits!) && exponent === undefined && scale === undefined && percent === ""
  return { number, unit: unitOf(`${currency === "$" ? "dollar" : (currency ?? "")} ${unit ?? ""}`), isWhole }
}

const isSameNumber = (gold: Measured, answer: Measured): boolean => {
  const ratio = factor(answer.unit, gold.unit)
  const number = answer.number * (Number(ratio.numerator) / Number(ratio.denominator))
  const isCount = gold.isWhole && (answer.isWhole || (gold.unit.name === "" && answer.unit.name === ""))
  return isCount ? Math.abs(number - gold.number) <= 1e-9 * Math.abs(gold.number) : isStrictlyNear(number, gold.number)
}

const spelled = (text: string) =>
  text
    .normalize("NFKC")
    .replace(/\\(?:text|mathrm|ce)\s*\{([^{}]*)\}/g, "$1")
    .replace(/[_{}$]/g, "")
    .trim()
    .replace(/\s+/g, " ")

/** Whether a text is a chemical formula, in which case matters: cobalt (Co) is not carbon monoxide (CO). */
const isFormula = (text: string) => /^[A-Za-z\d+-]+$/.test(text) && /[A-Z\d]/.test(text.slice(1))

/** Compares two texts. Returns `undefined` if they differ by more than case. */
const byText = (gold: string, answer: string): boolean | undefined => {
  const [a, b] = [spelled(gold), spelled(answer)]
  if (a.toLowerCase() !== b.toLowerCase()) return undefined
  return !(isFormula(a) || isFormula(b)) || a === b || b === b.toLowerCase()
}

const strictRule = (gold: string, answer: string): { readonly correct: boolean; readonly rung: string } => {
  const percent = byPercent(plain(gold), plain(answer), isStrictlyNear)
  if (percent !== undefined) return { correct: percent, rung: "percent" }
  const [a, b] = [measured(gold), measured(answer)]
  if (a !== undefined && b !== undefined) {
    return { correct: isSameUnit(a.unit, b.unit) && isSameNumber(a, b), rung: "number" }
  }
  const text = byText(gold, answer)
  return text === undefined ? MathGrader.compare(gold, answer) : { correct: text, rung: "text" }
}

// -------------------------------------------------------------------------------------------------------------------
// Graders
// -------------------------------------------------------------------------------------------------------------------

/** Options for extracting the answer. */
export interface Options {
  /** Whether a text without `<answer>` tags has no answer, as in the paper's prompts. Default: `false`. */
  readonly needsTags?: boolean | undefined
}

/** Extracts the content of the first tags, as the rule requires. */
const extractFirst = (text: string, needsTags: boolean): string | undefined => {
  const tagged = firstTagged(text)?.trim()
  return tagged ?? (needsTags ? undefined : text.trim())
}

/** Extracts the last answer outside reasoning. Within tags, the answer may be boxed. */
const extractLast = (text: string, needsTags: boolean): string | undefined => {
  const said = spoken(text)
  const tagged = [...said.matchAll(/<answer>([\s\S]*?)<\/answer>/gi)].at(-1)?.[1]?.trim()
  const answer = tagged ?? (needsTags ? undefined : said)
  if (answer === undefined) return undefined
  const isMarked = /\\f?box/.test(answer) || /\banswers?\b\W{0,4}(?:is|are|:)/i.test(answer)
  return isMarked ? MathAnswer.extract(answer) : answer
}

type Rule = (gold: string, answer: string) => { readonly correct: boolean; readonly rung: string }

const table = { needsTags: Tables.flag } satisfies Tables.ShapeOf<Options>

const make = (
  name: string,
  rule: Rule,
  extract: (text: string, needsTags: boolean) => string | undefined,
  options: Options
): Verdict.AnswerGrader =>
  Verdict.grader(name, (gold, answer) => {
    const extracted = extract(answer, options.needsTags ?? false)
    if (extracted === undefined || extracted === "") return Verdict.unparsed
    return Verdict.make({ ...rule(gold, extracted), extracted })
  })

/**
 * Creates the lenient grader.
 *
 * **Example**
 *
 * ```ts
 * import { RlprGrader } from "@divisi/graders/math"
 * import * as Task from "@divisi/core/Task"
 * import * as Effect from "effect/Effect"
 *
 * const task = Task.make({ question: "How much?", reference: "1/3" })
 * const lenient = await Effect.runPromise(RlprGrader.makePaper().grade(task, "<answer>1/2</answer>"))
 * const strict = await Effect.runPromise(RlprGrader.makeStrict().grade(task, "<answer>1/2</answer>"))
 * lenient.correct // => true
 * strict.correct // => false
 * ```
 */
export const makePaper = (options: Options = {}): Verdict.AnswerGrader => {
  Tables.check("RlprGrader.makePaper", options, table)
  return make("rlpr-paper", paperRule, extractFirst, options)
}

/** Creates the strict grader. */
export const makeStrict = (options: Options = {}): Verdict.AnswerGrader => {
  Tables.check("RlprGrader.makeStrict", options, table)
  return make("rlpr-strict", strictRule, extractLast, options)
}

/** The lenient grader, without required tags. */
export const paper: Verdict.AnswerGrader = makePaper()

/** The strict grader, without required tags. */
export const strict: Verdict.AnswerGrader = makeStrict()

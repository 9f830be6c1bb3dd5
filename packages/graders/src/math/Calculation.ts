/**
 * Reads a calculation that ends a sentence and whose numbers have words, such as "8 bottles × 12 crates = 96 bottles".
 *
 * The words may be in any language, because the calculation is carried out: only a correct one counts.
 */
import type { Span } from "../internal/assertion/Assertion.ts"
import { matches } from "../internal/matches.ts"
import { approximate, isReal } from "./Evaluate.ts"
import { normalise } from "./Notation.ts"
import { parse } from "./Parser.ts"
import { unitBehind, withLetterUnit } from "./Prose.ts"

/** A calculation with its position. */
export interface Calculation extends Span {
  /** The number that it results in, with its unit. */
  readonly content: string
  /** The number with all words after it. */
  readonly result: string
}

const currency = "\\\\?[$€£¥₹]"
const digits = "(?:\\d{1,3}(?:[ \\u00a0\\u2009\\u202f]\\d{3})+(?!\\d)|\\d[\\d.,]*\\d|\\d)"
const word = "/?[\\p{L}°][\\p{L}\\p{M}'’.²³/-]*"
const words = `(?:\\s?${word}(?:\\s${word}){0,9})?`
const name = "(?:\\p{L}+ )?"

/** A remark in parentheses, which is not a part of the calculation. */
const remarks = /\((?=[^()=\n]{0,120}\p{L})[^()=\n]{1,120}\)|（[^（）=\n]{1,120}）/gu

/** A calculation in parentheses, which is not a remark. */
const calculating = /\d[^\d+×*·÷/−-]*[+×*·÷/−-]\D*\d/

const numbers = new RegExp(`(?<![\\d.,a-zA-Z^_}\\\\])${digits}`, "gu")

/** The text between two numbers: a unit or a noun, an operator and a currency. */
const between = new RegExp(
  `^\\s?(?:${currency}|%)?${words}\\s*\\)?\\s?(?:[+×x*·⋅÷/−–-]|\\\\times|\\\\div|\\\\cdot)\\s?\\(?${name}(?:${currency}\\s?)?$`,
  "u"
)

const behindLast = new RegExp(`^\\s?(?:${currency}|%)?${words}\\s*\\)?\\s*$`, "u")

const result = new RegExp(
  `^\\s?(${name}(?:${currency}\\s?)?[-−]?${digits}(?:\\s?(?:${currency}|%))?)(${words})[\\s.!。।*)]*$`,
  "u"
)

/** Maximum length of a sentence, and of the words between two numbers. */
const maxSentence = 600
const maxGap = 100

/** The two ways to write a number: with decimal points or with decimal commas. */
const notations: ReadonlyArray<(text: string) => string> = [
  (text) => text.replaceAll(",", ""),
  (text) => text.replaceAll(".", "").replaceAll(",", ".")
]

/** Removes everything from a calculation but its numbers and operators. */
const bare = (text: string): string =>
  text
    .replace(/\\(times|cdot|div)/g, (_, name: string) => (name === "div" ? "/" : "*"))
    .replace(/(?<=[\p{L}$€£¥₹])\/(?=\p{L})/gu, " ")
    .replace(/\\?[$€£¥₹\u00a0\u2009\u202f]/g, "")
    .replace(/(?<=[\d\s])x(?=[\s\d])/g, "*")
    .replace(/[\p{L}°][\p{L}\p{M}'’.²³]*(?:[/-][\p{L}][\p{L}\p{M}'’.²³]*)*/gu, "")
    .replace(/[×·⋅]/g, "*")
    .replace(/÷/g, "/")
    .replace(/[−–]/g, "-")
    .replace(/\s+/g, "")

const valueOf = (text: string): number | undefined => {
  if (!/^[\d.+*/()%-]{1,80}$/.test(text)) return undefined
  const expression = parse(normalise(text.replace(/(\d[\d.]*)%/g, "($1/100)")))
  const found = expression === undefined ? undefined : approximate(expression)
  return found === undefined || !isReal(found) ? undefined : Number(found.re)
}

/** Whether a calculation is correct, up to the rounding of its result. */
const isCorrect = (left: string, right: string): boolean =>
  notations.some((written) => {
    const [a, b] = [valueOf(written(bare(left))), valueOf(written(bare(right)))]
    if (a === undefined || b === undefined) return false
    const isPercentage = right.includes("%") && !left.includes("%")
    if (isPercentage && Math.abs(a - 100 * b) <= 1e-9 * Math.abs(a)) return true
    const places = /\.(\d+)/.exec(written(bare(right)))?.[1]?.length ?? 0
    return Math.abs(a - b) <= (places === 0 ? 1e-9 * Math.max(1, Math.abs(a)) : 0.51 * 10 ** -places)
  })

/** Returns the start of the calculation that ends a text, or `undefined` if no operator joins its last numbers. */
const startOf = (text: string): number | undefined => {
  const found = matches(text, numbers)
  const last = found.at(-1)
  if (last === undefined || found.length < 2) return undefined
  const tail = text.slice(last.index + last[0].length)
  if (tail.length > maxGap || !behindLast.test(tail)) return undefined
  let first = found.length - 1
  for (; first > 0; first--) {
    const previous = found[first - 1]!
    const gap = text.slice(previous.index + previous[0].length, found[first]!.index)
    if (gap.length > maxGap || !between.test(gap)) break
  }
  const { index } = found[first]!
  return first === found.length - 1
    ? undefined
    : index - /(?:\(\s?)?(?:\\?[$€£¥₹]\s?)?$/.exec(text.slice(0, index))![0].length
}

/** Returns the correct calculation at the end of a sentence. */
export const calculationIn = (sentence: string): Calculation | undefined => {
  if (sentence.length > maxSentence) return undefined
  const plain = sentence.replace(remarks, (remark) => (calculating.test(remark) ? remark : " ".repeat(remark.length)))
  const equals = Math.max(plain.lastIndexOf("="), plain.lastIndexOf("≈"))
  const found = equals === -1 ? null : result.exec(plain.slice(equals + 1))
  const start = found === null ? undefined : startOf(plain.slice(0, equals))
  if (found === null || start === undefined) return undefined
  const [, right, counted] = found
  const isNamed = /^[^$\\=≈]*\p{L}{2}[^$\\=≈]*$/u.test(plain.slice(0, start))
  const isInFormula = /\d\$[\s.]*$/.test(plain) && (plain.slice(0, start).match(/(?<!\\)\$/g)?.length ?? 0) % 2 === 1
  if (
    isInFormula ||
    !(isNamed || /\p{L}|[$€£¥₹]/u.test(sentence.slice(start))) ||
    !isCorrect(plain.slice(start, equals), right!)
  ) {
    return undefined
  }
  return {
    start,
    end: sentence.length,
    content: withLetterUnit(right!.replace(/^\p{L}+ /u, "") + unitBehind(counted!)),
    result: right! + counted!.trimEnd()
  }
}

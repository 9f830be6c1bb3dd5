/**
 * The final answer in what a model wrote: boxed, labelled, in a formula, or all there is.
 *
 * What a model marks as its answer wins over what merely stands last. Prose that marks nothing, and whose last
 * sentence does not hold exactly one number, has no answer: guessing one would give credit by chance.
 */
import { spoken } from "../internal/spoken.ts"

// -------------------------------------------------------------------------------------------------------------------
// Boxes and tags
// -------------------------------------------------------------------------------------------------------------------

/** Where the group that opens at `start` closes; `undefined` when it does not. */
const groupEnd = (text: string, start: number): number | undefined => {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (character === "\\") at++
    else if (character === "{") depth++
    else if (character === "}" && --depth === 0) return at
  }
  return undefined
}

interface Box {
  readonly start: number
  readonly end: number
  readonly content: string
}

const boxes = (text: string): ReadonlyArray<Box> =>
  [...text.matchAll(/\\(?:begin)?(?:f?boxed|fbox)\s*/g)].flatMap((match): ReadonlyArray<Box> => {
    const open = match.index + match[0].length
    if (text[open] !== "{") {
      const bare = /^[^\s$\\.,;]+/.exec(text.slice(open))?.[0]
      return bare === undefined ? [] : [{ start: match.index, end: open + bare.length, content: bare }]
    }
    const end = groupEnd(text, open)
    return end === undefined ? [] : [{ start: match.index, end: end + 1, content: text.slice(open + 1, end) }]
  })

/** The last box; with the boxes before it when nothing but commas, "and" or "or" stands between. */
const boxed = (text: string): string | undefined => {
  const found = boxes(text)
  let joined = found.at(-1)?.content
  for (let index = found.length - 1; index > 0; index--) {
    const [before, after] = [found[index - 1]!, found[index]!]
    const between = text.slice(before.end, after.start)
    if (
      !/^[\s$]*(?:,|and|or|\\text\s*\{\s*(?:and|or)\s*\}|\\\(|\\\)|\\,|\\quad)(?:[\s$,]|and|or|\\\(|\\\))*$/.test(
        between
      )
    )
      break
    joined = `${before.content}${/or|and/.test(between) ? " \\text{and} " : ", "}${joined}`
  }
  return joined
}

const tagged = (text: string): string | undefined =>
  [...text.matchAll(/<answer>([\s\S]*?)<\/answer>/gi)].at(-1)?.[1]?.trim()

// -------------------------------------------------------------------------------------------------------------------
// Labels
// -------------------------------------------------------------------------------------------------------------------

const label =
  /(?:\*\*|__)?\b(?:the\s+)?(?:final|correct|overall)?\s*(?:answer|result|solution|value)s?\s*(?:(?:\*\*|__)?\s*:\s*(?:\*\*|__)?|\s+(?:is|are|equals?)\b\s*(?:\*\*|__)?:?|\s*=)\s*|#{1,6} *(?:final )?answer:? *\n+\s*|####\s*/gi

/** What stands behind a label: its formula when it begins with one, else up to the end of the sentence. */
const labelled = (text: string): string | undefined => {
  const match = [...text.matchAll(label)].at(-1)
  if (match === undefined) return undefined
  const rest = text.slice(match.index + match[0].length).trim()
  const found = sentence(rest).replace(/^(?:\*\*|__)|(?:\*\*|__)[.!]?$/g, "")
  return found === "" ? undefined : found
}

/** The text up to a line feed, or to a full stop that ends a sentence; formulas are never cut. */
const sentence = (text: string): string => {
  const formula = /^(?:\$\$[\s\S]*?\$\$|\\\[[\s\S]*?\\\]|\$[^$]*\$|\\\([\s\S]*?\\\))/.exec(text)
  const tail = formula === null ? text : text.slice(formula[0].length)
  if (formula !== null && /^[\s.!,*]*(?:$|\n|[A-Z])/.test(tail)) return formula[0]
  const end = /\n|[.!](?=\s+[A-Z\n]|\s*$)|,\s+(?:so|since|because|which|as|where)\b/.exec(tail)
  return `${formula?.[0] ?? ""}${end === null ? tail : tail.slice(0, end.index)}`.trim()
}

// -------------------------------------------------------------------------------------------------------------------
// Formulas and prose
// -------------------------------------------------------------------------------------------------------------------

const formulas = /\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\]|\$([^$\n]+?)\$|\\\((.+?)\\\)/g

const lastFormula = (text: string): string | undefined => {
  const match = [...text.matchAll(formulas)].at(-1)
  return match === undefined ? undefined : (match[1] ?? match[2] ?? match[3] ?? match[4])
}

/** Words of a language, as opposed to those of formulas. */
const words = (text: string): number =>
  (
    text
      .replace(formulas, " ")
      .replace(/\\text\s*\{[^{}]*\}|\\[a-zA-Z]+/g, " ")
      .match(/[\p{L}]{2,}/gu) ?? []
  ).filter((word) => !/^(?:sin|cos|tan|cot|sec|csc|log|ln|exp|sqrt|pi|and|or|inf|infty|oo|arc\w+)$/i.test(word)).length

const number = /(?<![\w.^_])[-+]?\$?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?%?(?![\w/^])/g

/** What makes a number no answer: bounds, guesses, denials. */
const hedge =
  /\b(?:not|never|no longer|cannot|can't|isn't|least|most|more|less|fewer|greater|over|under|about|around|almost|nearly|approximately|roughly|between|maybe|perhaps|might|unless|wrong|if|no|none|neither|nor|impossible|suppose|assume|fails?)\b/i

/** The one number of the last sentence, where it is said plainly. */
const onlyNumber = (text: string): string | undefined => {
  const last = text
    .split(/\n|(?<=[.!?])\s+/)
    .filter((part) => part.trim() !== "")
    .at(-1)
  if (last === undefined || hedge.test(last)) return undefined
  const found = [...last.matchAll(number)]
  return found.length === 1 ? found[0]![0] : undefined
}

/** A short sentence, as opposed to a formula with a word in it. */
const isSentence = (text: string): boolean => /^[A-Z][a-z]+[ ,:]/.test(text) && words(text) > 0

/** A formula without dollars behind "is" at the end of a text: "The probability is \frac{1}{2}". */
const stated = (text: string): string | undefined => {
  const end = /\b(?:is|are|equals)\s+([^\n]{1,80}?)\.?$/.exec(text)?.[1]
  return end === undefined || hedge.test(text) || words(end) > 0 ? undefined : end
}

/** What a short sentence ends with, when that is a formula or the result of an equation. */
const ending = (text: string): string | undefined =>
  lastFormula(text) ?? stated(text) ?? /=\s*(-?\$?[\d,]*\.?\d+)\s*\.?$/.exec(text)?.[1] ?? onlyNumber(text)

const asserted = (text: string): string | undefined => {
  const last = lastFormula(text)
  return last ?? stated(text) ?? onlyNumber(text)
}

// -------------------------------------------------------------------------------------------------------------------
// Extraction
// -------------------------------------------------------------------------------------------------------------------

/**
 * The final answer in a text, as it is written there; `undefined` when the text gives none.
 *
 * **Details**
 *
 * In this order: the last `\boxed{…}`, its braces counted; the last `<answer>…</answer>`; what stands behind the last
 * "the answer is", "Answer:" or "####"; the whole text, when it is a formula or a few words; the last formula; the only
 * number of the last sentence.
 *
 * **Example**
 *
 * ```ts
 * import { MathAnswer } from "@divisi/graders/math"
 *
 * MathAnswer.extract("So there are $\\boxed{\\frac{1}{2}}$ of them.") // => "\\frac{1}{2}"
 * MathAnswer.extract("Hence the answer is 42. I hope it helps.") // => "42"
 * MathAnswer.extract("Neither 3 nor 4 can be excluded.") // => undefined
 * ```
 */
export const extract = (text: string): string | undefined => {
  const said = spoken(text)
  const inBox = boxed(said)
  if (inBox !== undefined) return inBox
  const inTag = tagged(said)
  if (inTag !== undefined) return inTag === "" ? undefined : (labelled(inTag) ?? inTag)
  const behindLabel = labelled(said)
  if (behindLabel !== undefined) return words(behindLabel) > 4 ? (asserted(behindLabel) ?? behindLabel) : behindLabel
  if (said === "") return undefined
  if (words(said) > 3) return asserted(said)
  return (isSentence(said) ? ending(said) : undefined) ?? said
}

/**
 * The answer of a sentence that concludes, whatever words are around it.
 *
 * Words divide a sentence into runs of numbers, signs and formulas. The answer is the run in bold, the last equation, the
 * only run, or the run that repeats the result of the calculation before the sentence; runs of equal value are one. A
 * sentence with other runs states no answer: picking one would give credit by chance.
 */
import type { Span } from "../internal/assertion/Assertion.ts"
import { because } from "../internal/assertion/because.ts"
import { approximate, isReal } from "./Evaluate.ts"
import { measured } from "./Measured.ts"
import { normalise } from "./Notation.ts"
import { parse } from "./Parser.ts"
import { formulas, lastSentence, unitBehind, withLetterUnit } from "./Prose.ts"
import { isKnown } from "./Units.ts"

/** A stated answer, and where it is in the text. */
export interface Stated extends Span {
  readonly content: string
}

/** A stated answer, and whether it is in bold or an equation. */
export interface Conclusion extends Stated {
  readonly isMarked: boolean
}

interface Run extends Stated {
  /** The text between the run before it and this one. */
  readonly gap: string
}

// -------------------------------------------------------------------------------------------------------------------
// Runs
// -------------------------------------------------------------------------------------------------------------------

const sign = "\ue000"

/** Dividers of a sentence into runs: words other than names of functions, and marks that are in no number or formula. */
const divider =
  /(?<![\\\p{L}\d])(?!(?:(?:arc)?(?:sin|cos|tan|cot|sec|csc)h?|log|ln|exp|sqrt|det|lim|gcd|lcm|max|min|mod|pi|[xyzabnkm]{2})(?!\p{L}))\p{L}[\p{L}\p{M}'’-]*[\p{L}\p{M}](?![\p{L}\d])|(?<=\s|^)(?![a-zA-Z\p{Script=Greek}])\p{L}(?=\s)|(?<![\d.])\d+-(?=\p{L}{3})|(?<=\d)(?:st|nd|rd|th)(?!\p{L})|(?<=\s|^)[aAI](?=\s+[\p{L}\d])|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]+|[;:：。！？!?](?=\s|$)|\.(?=\s|$)|[,，、](?=\s|\p{L})|\s[—–]\s|\s{3,}|[→⇒✓✔✅☑"“”]/gu

const valueLike = /[\d∞π√∅\ue000]|\p{L}\S*\s*[=<>≤≥≈]/u

/** Whether there is a number, a sign of mathematics or a formula in a text. */
const hasValue = (text: string): boolean => valueLike.test(text.replace(formulas, sign))

const opened = (text: string): number => (text.match(/[([{]/g)?.length ?? 0) - (text.match(/[)\]}]/g)?.length ?? 0)

const runsOf = (sentence: string): ReadonlyArray<Run> => {
  const plain = sentence.replace(formulas, (formula) => sign.repeat(formula.length))
  const runs: Array<Run> = []
  let [from, last] = [0, 0]
  for (const { 0: mark, index } of [...plain.matchAll(divider), { 0: "", index: plain.length }]) {
    const part = plain.slice(from, index)
    if (/^[,，、]$/.test(mark) && opened(part) > 0) continue
    const isUnit =
      isKnown(mark) &&
      (part.endsWith("/") || (/\d\s?$/.test(part) && /^[²³]?\s*[·×*/=≈+)]/.test(plain.slice(index + mark.length))))
    if (isUnit) continue
    const lead = /^[\s*_,.;:…–—|>)]*(?:(?:=|[-=]?>)\s*(?!\s))?/.exec(part)![0].length
    const content = sentence.slice(from + lead, index).replace(/[\s*_,.;:…|(]+$/, "")
    if (valueLike.test(part)) {
      const start = from + lead
      runs.push({ start, end: start + content.length, content, gap: sentence.slice(last, start) })
      last = start + content.length
    }
    from = index + mark.length
  }
  return runs
}

// -------------------------------------------------------------------------------------------------------------------
// Values
// -------------------------------------------------------------------------------------------------------------------

const relation = /[=≈]|\\approx(?![a-zA-Z])/

const numberOf = (content: string): number | undefined => {
  const expression = content.length > 80 ? undefined : parse(normalise(content))
  if (expression === undefined) return undefined
  const { unit, value } = measured(expression)
  const found = approximate(value)
  return found === undefined || !isReal(found) ? undefined : Number(found.re) / (unit.name === "percent" ? 100 : 1)
}

/** Whether a run is another one again, rounded to its decimals. */
export const repeats = (exact: string, run: string): boolean => {
  const [a, b] = [numberOf(exact), numberOf(run)]
  if (a === undefined || b === undefined) return false
  const places = /\.(\d+)/.exec(run)?.[1]?.length ?? 0
  return Math.abs(a - b) <= (places === 0 ? 1e-9 : 0.51 * 10 ** -places)
}

/** The result of the last calculation before a sentence. */
const resultBefore = (before: string): string | undefined => {
  const line = before.split("\n").findLast((one) => relation.test(one))
  const equation = line === undefined ? undefined : runsOf(line).findLast(({ content }) => relation.test(content))
  return equation?.content
    .split(relation)
    .at(-1)
    ?.replace(/\\[)\]]|\$/g, "")
}

// -------------------------------------------------------------------------------------------------------------------
// Sentences
// -------------------------------------------------------------------------------------------------------------------

const bold = /(?<!^\W*)\*\*([^*\n]+)\*\*|\*\*([^*\n]+)\*\*(?!\s*[:：])/g

/** The last part of a sentence in bold that is not a label. */
const inBold = (sentence: string): Stated | undefined => {
  const found = [...sentence.matchAll(bold)].filter(([all]) => !/[:：]\s*\*\*$/.test(all)).at(-1)
  if (found === undefined) return undefined
  const start = found.index + 2
  const content = found[0].slice(2, -2)
  return { start, end: start + content.length, content }
}

const joint = /^[\s*$]*,?\s*(?:(?:and|or|und|oder|et|ou|y|o|e|i|и|или)(?!\p{L}))?[\s*$]*$/iu

/** The run that a sentence states, of all of its runs. */
const statedOf = (sentence: string, before: string): Stated | undefined => {
  const runs = runsOf(sentence)
  const last = runs.at(-1)
  if (last === undefined) return undefined
  if (runs.length === 1) return last
  const equations = runs.filter(({ content }) => relation.test(content))
  const equation = equations.at(-1)
  if (equation !== undefined && equations.length === 1) {
    const end = equation.content.split(relation).at(-1)!
    if (runs.every((run) => run.start <= equation.start || repeats(end, run.content))) return equation
    return undefined
  }
  const isPoint = last.content.startsWith("(") && equations.length === runs.length - 1
  if (isPoint) return last
  if (runs.every(({ gap }, index) => index === 0 || (/[,\p{L}]/u.test(gap) && joint.test(gap)))) {
    return { start: runs[0]!.start, end: last.end, content: sentence.slice(runs[0]!.start, last.end) }
  }
  if (equation === last) return equation
  if (equation !== undefined) return undefined
  if (runs.slice(1).every((run) => repeats(runs[0]!.content, run.content))) {
    return runs.find(({ content }) => !/\d\.\d/.test(content) && content !== last.content) ?? last
  }
  const result = resultBefore(before)
  const restated = result === undefined ? [] : runs.filter((run) => repeats(run.content, result))
  return restated.length === 1 ? restated[0] : undefined
}

/** Words that lead from one equation to the next. */
const yielding = /,?\s+which\s+(?:gives|yields|leaves|makes|means|simplifies to|reduces to|leads to)\b/gi

/** A clause before the main one: "If you walk for 2 hours, you cover". */
const condition =
  /^\W*(?:if|since|because|when|as|after|given|using|with|for|by|assuming|\w+ing)\b.*,\s+(?=(?:the|then|it|he|she|they|we|you|there|this|each|his|her|its|our)\b)/i

/** The same length with blanks for what says more of an answer: brackets behind it, and reasons. */
const withoutAsides = (sentence: string): string => {
  const blank = (text: string) => " ".repeat(text.length)
  const plain = sentence
    .replace(condition, (clause) => (hasValue(sentence.slice(clause.length)) ? blank(clause) : clause))
    .replace(yielding, blank)
    .replace(
      /(?<=\S\s)\((?!(?:or|oder|ou|maybe|perhaps|not|but)\b)(?=[^()\n]*(?:\p{L}{2}|[=≈]))[^()\n]*(?:\\\([^\n]*?\\\)[^()\n]*)?\)(?=[\s.!*]*$)/gu,
      blank
    )
  const short = plain.replace(because, blank)
  return hasValue(short) ? short : plain
}

/** A check behind an answer: "**Check:** 2 · 12 = 24 ✓". */
const check =
  /(?:^|\n)[\s*_>-]*(?:check|verif\w*|vérif\w*|probe|prüfung|comprob\w*|verifica\w*|provera|sprawdz\w*|проверка|перевірка|kontrol\w*|检验|验算|検算|검산)[^\n]*$|[.!)]\s+\p{Lu}\p{L}+\s*[:：][^\n]*[✓✔✅]\W*$/iu

/** A sentence that says what the letters of a formula are: "where C is the constant of integration". */
const legend = /\n\s*(?:where|with|here)\b[^\n]*$/i

/** A question on a line of its own: "Would you like me to show the steps?" */
const question = /\n[^\n.!]*[?？؟]\s*$/

/** A text up to its last sentence that may conclude. */
export const withoutChecks = (text: string): string => {
  const trimmed = text.trimEnd()
  const from = Math.max(0, trimmed.length - 600)
  for (const pattern of [check, legend, question]) {
    const at = trimmed.slice(from).search(pattern)
    if (at !== -1 && /\d|\$|\\/.test(trimmed.slice(0, from + at))) return trimmed.slice(0, from + at + 1)
  }
  return text
}

const step = /^\W*(?:step|schritt|étape|paso|passo|шаг)\s*#?\d/iu

const delimiters = /^(?:\$\$?|\\[([])(?=(?:[^$\\]|\\.)*(?:\$\$?|\\[)\]])$)/

/** Without the signs around a formula. */
const bare = (content: string): string =>
  delimiters.test(content) ? content.replace(/^(?:\$\$?|\\[([])\s*|\s*(?:\$\$?|\\[)\]])$/g, "") : content

/** The statement of the last sentence of a text; `isLast` if nothing follows it. */
export const conclusion = (text: string, isLast: boolean): Conclusion | undefined => {
  const whole = lastSentence(text)
  if (
    whole === undefined ||
    whole.length > 600 ||
    /\\begin\{/.test(whole.replace(formulas, "")) ||
    (!isLast && step.test(whole))
  )
    return undefined
  const from = text.lastIndexOf(whole)
  const sentence = withoutAsides(whole)
  const part = inBold(sentence)
  const within = part === undefined || !hasValue(part.content) ? undefined : part
  const found = statedOf(within?.content ?? sentence, text.slice(0, from))
  if (found === undefined) return undefined
  const start = from + (within?.start ?? 0) + found.start
  const end = start + found.content.length
  const content = withLetterUnit(bare(found.content) + unitBehind(text.slice(end)))
  const isClause = condition.test(whole) && !hasValue(sentence.slice(0, found.start))
  const isMarked = within !== undefined || relation.test(found.content) || runsOf(sentence).length > 1 || isClause
  if (within !== undefined) return { start: from + within.start, end: from + within.end, content, isMarked }
  const inner = delimiters.exec(found.content)?.[0].length ?? 0
  const sides = found.content.split(relation)
  const side = sides.length === 1 ? inner : found.content.length - sides.at(-1)!.length
  return { start: start + side, end: end - inner, content, isMarked }
}

// -------------------------------------------------------------------------------------------------------------------
// Words
// -------------------------------------------------------------------------------------------------------------------

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")

/** The end of a clause, and the beginning of a reason. */
const clauseEnd = /,?\s(?:because|since|while|whereas)\b|[,;:—–]\s|\b(?:so|thus|hence|therefore|but)\b/gi

/**
 * Finds the words in the last sentence of a text if they are its answer: in bold, the subject of the last clause, or the
 * end of its predicate.
 */
export const statedWords = (text: string, words: string): Span | undefined => {
  const trimmed = text.trimEnd()
  const first = /^(?:yes|no|true|false)$/i.test(words) ? /^\W*(yes|no|true|false)(?=[,.:;!*—–])/i.exec(text) : null
  if (first !== null) {
    const end = first[0].length
    return first[1]!.toLowerCase() === words.toLowerCase() ? { start: end - words.length, end } : undefined
  }
  const sentence = lastSentence(trimmed)
  if (sentence === undefined || sentence.length > 600) return undefined
  const from = trimmed.lastIndexOf(sentence)
  const same = (said: string) => said.trim().replace(/[.!]$/, "").toLowerCase() === words.toLowerCase()
  const marked = inBold(sentence)
  if (marked !== undefined && !valueLike.test(marked.content)) {
    if (same(marked.content)) return { start: from + marked.start, end: from + marked.end }
    const counted = [...sentence.matchAll(bold)].length
    if (counted === 1 && /^\p{L}+$/u.test(marked.content)) return undefined
  }
  const opening = new RegExp(`^\\W*(?:the answer is )?${escaped(words)}(?=[,:.;—–]|\\s[—–-])`, "iu").exec(sentence)
  if (opening !== null && /^\p{L}+$/u.test(words)) {
    return { start: from + opening[0].length - words.length, end: from + opening[0].length }
  }
  let begin = 0
  for (const { 0: mark, index } of sentence.matchAll(clauseEnd)) {
    const rest = sentence.slice(index + mark.length)
    if (/(?:because|since|while|whereas)$/i.test(mark) || !/\p{L}{2}/u.test(rest)) break
    begin = index + mark.length
  }
  const until = /\b(?:because|since|while|whereas)\b/i.exec(sentence.slice(begin))
  const clause = sentence.slice(begin, until === null || until.index === 0 ? undefined : begin + until.index)
  const subject = new RegExp(`^\\W*(?:the )?(${escaped(words)})\\s+(?!and\\b|or\\b)[a-z]`, "u").exec(clause)
  const predicate = new RegExp(
    `\\b(?:is|are|was|be|on|it['’]s)\\s+(?:(?!not\\b|than\\b|or\\b)[\\p{L}]+\\s+){0,2}(${escaped(words)})[\\s.!*]*$`,
    "iu"
  ).exec(clause)
  const found = subject ?? predicate
  if (found === null) return undefined
  const start = from + begin + found.index + found[0].indexOf(found[1]!)
  return { start, end: start + found[1]!.length }
}

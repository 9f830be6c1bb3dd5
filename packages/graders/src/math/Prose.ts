/** Answers that prose states without marking them: what its last sentence says plainly. */
import { isKnown } from "./Units.ts"

/** The text up to a line feed, or to a full stop that ends a sentence; formulas are never cut. */
export const sentence = (text: string): string => {
  const formula = /^(?:\$\$[\s\S]*?\$\$|\\\[[\s\S]*?\\\]|\$[^$]*\$|\\\([\s\S]*?\\\))/.exec(text)
  const tail = formula === null ? text : text.slice(formula[0].length)
  if (formula !== null && /^[\s.!,*]*(?:$|\n|[A-Z])/.test(tail)) return formula[0]
  const end =
    /\n|[。！](?!\s*[」』])|।|[.!](?=\s+\p{Lu}|\s+[A-Z\n]|\s*$)|,\s+(?:so|since|because|which|as|where|not|rather)\b|\s+(?:since|because)\b/u.exec(
      tail
    )
  return `${formula?.[0] ?? ""}${end === null ? tail : tail.slice(0, end.index)}`.trim()
}

export const formulas = /\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\]|\$([^$\n]+?)\$|\\\((.+?)\\\)/g

/** What makes a formula no answer when it stands right before it. */
const doubted =
  /\b(?:could|might|may|maybe|perhaps|possibly|probably|guess\w*|tried|try|not|never|cannot|can't|isn't|unsure|least|most|than|between|if|suppose|assume|either|neither|nor|unless)\b[^.;,]{0,25}$/i

/** What makes it none behind it. */
const rejected =
  /^[\s.)]*(?:,?\s*(?:which|but it|but this|that)\s+)?(?:is|was|are|seems?|would be|looks)\s+(?:not|wrong|incorrect|false|impossible|too|excluded|rejected|a guess|only)\b|^\s*(?:fails?|failed|does not|doesn't|cannot|or\b|at most|at least|or (?:more|less))/i

const lastFormula = (text: string): string | undefined => {
  const match = [...text.matchAll(formulas)].at(-1)
  if (match === undefined) return undefined
  const before = text.slice(Math.max(0, match.index - 60), match.index)
  if (doubted.test(before) || rejected.test(text.slice(match.index + match[0].length))) return undefined
  const formula = (match[1] ?? match[2] ?? match[3] ?? match[4])!
  return /\b(?:about|around|almost|nearly|approximately|roughly)\s*$/.test(before) ? `≈ ${formula}` : formula
}

/** Words of a language, as opposed to those of formulas. */
export const words = (text: string): number =>
  (
    text
      .replace(formulas, " ")
      .replace(/\\text\s*\{[^{}]*\}|\\[a-zA-Z]+/g, " ")
      .match(/[\p{L}]{2,}/gu) ?? []
  ).filter((word) => !/^(?:sin|cos|tan|cot|sec|csc|log|ln|exp|sqrt|pi|and|or|inf|infty|oo|arc\w+)$/i.test(word)).length

const number =
  /(?<![\w.^_,])[-+−]?(?:\\?[$€£¥₹]\s?)?(?:\d{1,3}(?:[ \u00a0\u2009\u202f'’.]\d{3}){2,}(?!\d)|\d{1,3}(?:[\u00a0\u2009\u202f]\d{3})+(?!\d)|\d{1,3}(?:,\d{3})+(?!\d)|\d+,\d{1,2}(?!\d)|\d+)(?:\.\d+)?(?:\s?[%€£¥₹])?(?![\d/^]|[,.]\d)(?=\W|$|_|(?:[kcm]m|m|kg|g|km\/h|mph)(?![\p{L}\d])|\p{Script=Han}|\p{Script=Hangul})/gu

/** What makes a number no answer: bounds, guesses, denials, and numbers of other things. */
const hedge =
  /\b(?:not|never|no longer|cannot|can't|isn't|least|most|more|less|fewer|greater|over|under|between|could|may|maybe|perhaps|possibly|possible|probably|likely|might|tried|tries|trying|try|guess\w*|unsure|unclear|unknown|unable|no idea|don't know|do not know|doubt\w*|unless|wrong|incorrect|if|no|none|neither|nor|impossible|suppose|assume|fails?|failed|attempt\w*|excluded|rejected|gave up|give up|squared|cubed|(?:step|case|problem|question|exercise|example|equation|part|page|line|option|choice|chapter|section|figure|table)s?\s*\(?#?\d+)\b/i

/** The same in other languages: denials, guesses and bounds. */
const foreignHedge =
  /(?<!\p{L})(?:nicht|kein\p{L}*|vielleicht|vermutlich|wahrscheinlich|höchstens|mindestens|pas|peut-être|probablement|suppos\p{L}*|au (?:plus|moins)|quizás?|tal vez|probablemente|al menos|a lo sumo|como (?:máximo|mínimo)|talvez|provavelmente|não|pelo menos|no máximo|forse|probabilmente|non|almeno|al massimo|не|возможно|может быть|вероятно|наверное|niet|misschien|waarschijnlijk|nie|może|chyba|prawdopodobnie|belki|muhtemelen|değil|kanske|kanskje|inte|ikke|möjligen)(?!\p{L})|可能|也许|也許|大概|不确定|不確定|不知道|不是|至少|至多|最多|最少|かもしれ|おそらく|たぶん|多分|わかりません|分かりません|ではない|아마|모르|아니/iu

const about = /\b(?:about|around|almost|nearly|approximately|approx|roughly)\b|≈/i

export const lastSentence = (text: string): string | undefined =>
  text
    .split(/\n|(?<=[.!?])\s+/)
    .filter((part) => part.trim() !== "")
    .at(-1)

/** The unit that stands right behind a number, when it is one that is known. */
const unitBehind = (text: string): string => {
  const found =
    /^\s?(?:(?:square|cubic)\s+)?[a-zA-Z°]+(?:\s*\/\s*[a-zA-Z]+|\s+per\s+[a-zA-Z]+)?(?:\^\d|[²³])?(?![\w(])/.exec(
      text
    )?.[0] ?? ""
  const names = found.split(/\s*\/\s*|\s+|\^\d|[²³]/).filter((word) => !/^(?:square|cubic|per|)$/.test(word))
  const isPlace = /^\s?in\b/.test(found) && /^\s?in\s+\w/.test(text)
  return names.length > 0 && names.every(isKnown) && !isPlace ? ` ${found.trim()}` : ""
}

/** The one number of the last sentence, where it is said plainly; with its unit. */
const onlyNumber = (text: string): string | undefined => {
  const last = lastSentence(text)
  if (last === undefined || hedge.test(last) || foreignHedge.test(last)) return undefined
  const found = [...last.matchAll(number)]
  if (found.length !== 1) return undefined
  const [match] = found
  const said = `${match![0]}${unitBehind(last.slice(match!.index + match![0].length))}`
  return about.test(last) ? `≈ ${said}` : said
}

/** The result at the end of a calculation in the last sentence. */
const reckoned = (text: string): string | undefined => {
  const last = lastSentence(text)
  if (last === undefined || hedge.test(last)) return undefined
  const match = /=\s*(-?(?:\\?[$€£])?[\d,]*\.?\d+(?:\s+[a-z]+)?)\s*[.!]?$/.exec(last)?.[1]
  return match
}

/** A short sentence, as opposed to a formula with a word in it. */
export const isSentence = (text: string): boolean => /^[A-Z][a-z]+[ ,:]/.test(text) && words(text) > 0

/** Words that leave open whether a sentence is true. */
const doubt =
  /\b(?:not|never|cannot|can't|isn't|maybe|perhaps|might be|may be|could be (?=[\d$\\])|guess\w*|tried|if|suppose|assume|unless|wrong|unsure|neither|nor|possible that|whether|doubt\w*)\b/i

/** In prose, a letter that stands apart behind a number is a unit where there is one of that name: "14 m". */
export const withLetterUnit = (said: string): string =>
  said.replace(/^(\*{0,2}[\d.,]*\d) ([a-zA-Z])(?=\*{0,2}$)/, (all, value, letter) =>
    isKnown(letter) ? `${value} \\text{ ${letter}}` : all
  )

/** A formula or a number behind "is" at the end of a text: "The probability is \frac{1}{2}", "The largest $n$ is 34". */
const stated = (text: string): string | undefined => {
  const last = lastSentence(text) ?? ""
  const end = /^[\s\S]*\b(?:is|are|equals)\s+([^\n]{1,80}?)[.!]?$/.exec(last)?.[1]
  return end === undefined || doubt.test(last) || words(end) > 0 || !/\d|\\|\$/.test(end)
    ? undefined
    : withLetterUnit(end)
}

/** What is said to be reached somewhere: "The minimum is $17$, attained at $x = 4$". */
const reached = (text: string): string | undefined => {
  const last = lastSentence(text) ?? ""
  const match = /\b(?:is|equals)\s+(\$[^$\n]{1,80}\$),?\s+(?:(?:which|and) is )?(?:attained|achieved|reached)\b/.exec(
    last
  )
  return match === null || doubt.test(last) ? undefined : match[1]
}

/** What a text ends with, when that is a formula, the result of an equation, or a number that is said plainly. */
export const asserted = (text: string): string | undefined => {
  const last = lastSentence(text) ?? ""
  if (last.search(formulas) !== -1) return stated(text) ?? reached(text) ?? lastFormula(text)
  return stated(text) ?? reckoned(text) ?? onlyNumber(text) ?? lastFormula(text)
}

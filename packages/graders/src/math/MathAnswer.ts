/**
 * The final answer in what a model wrote: boxed, labelled, in a formula, or all there is.
 *
 * What a model marks as its answer wins over what merely stands last, and of several such statements the last one
 * counts. Prose that marks nothing, and whose last sentence does not hold exactly one number, has no answer: guessing
 * one would give credit by chance. Neither is a guess, a bound or a denial an answer.
 */
import { answerWords, joinedWords } from "../internal/answerWords.ts"
import { spoken } from "../internal/spoken.ts"
import { isKnown } from "./Units.ts"

/** An answer that a text marks, and where. */
interface Statement {
  readonly start: number
  readonly end: number
  readonly content: string
}

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

const boxes = (text: string): ReadonlyArray<Statement> =>
  [...text.matchAll(/\\(?:begin)?(?:f?boxed|fbox)\s*/g)].flatMap((match): ReadonlyArray<Statement> => {
    const open = match.index + match[0].length
    if (text[open] !== "{") {
      const bare = /^[^\s$\\.,;]+/.exec(text.slice(open))?.[0]
      return bare === undefined ? [] : [{ start: match.index, end: open + bare.length, content: bare }]
    }
    const end = groupEnd(text, open)
    return end === undefined ? [] : [{ start: match.index, end: end + 1, content: text.slice(open + 1, end) }]
  })

/** What may stand between boxes that are one answer: commas, "and", "or", and the name of the next value. */
const joint =
  /^[\s$.]*(?:(?:,|;|\band\b|\bor\b|\\text\s*\{\s*(?:and|or)\s*\}|\\\(|\\\)|\\,|\\quad)[\s$]*)+(?:[a-zA-Z](?:_\{?\w+\}?)?\s*=\s*)?$/

const denied = /\b(?:not|never|isn't|cannot be|rather than|instead of)\s*(?:equal to\s*)?[$\s\\([]*$/i

const refuted = /^[\s$.)\]\\]*(?:is|was|seems|cannot be|would be)\s+(?:wrong|incorrect|not|false|impossible)\b/i

/** With the name before it, where one is given: `x = \boxed{5}`. */
const named = (text: string, { content, start }: Statement): string => {
  const name = /(?:^|[\s$(,[])((?![ei]\s*=)[a-zA-Z](?:_\{?\w+\}?)?)\s*=\s*$/.exec(
    text.slice(Math.max(0, start - 16), start)
  )?.[1]
  return name === undefined || content.includes("=") ? content : `${name} = ${content}`
}

/** The last box; with the boxes before it when nothing but commas, "and" or "or" stands between. */
const boxed = (text: string): Statement | undefined => {
  const found = boxes(text).filter(
    ({ end, start }) =>
      !denied.test(text.slice(Math.max(0, start - 30), start)) && !refuted.test(text.slice(end, end + 40))
  )
  const last = found.at(-1)
  if (last === undefined) return undefined
  let joined = named(text, last)
  for (let index = found.length - 1; index > 0; index--) {
    const [before, after] = [found[index - 1]!, found[index]!]
    const between = text.slice(before.end, after.start)
    if (!joint.test(between) && !/^ *$/.test(between)) break
    const conjunction = /\b(or|and)\b/.exec(between)?.[1]
    joined = `${named(text, before)}${conjunction === undefined ? ", " : ` \\text{${conjunction}} `}${joined}`
  }
  return { ...last, content: joined }
}

const tagged = (text: string): Statement | undefined => {
  const match = [...text.matchAll(/<answer>([\s\S]*?)<\/answer>/gi)].at(-1)
  if (match === undefined) return undefined
  const inner = match[1]!.trim()
  const content = boxed(inner)?.content ?? labelled(inner)?.content ?? inner
  return { start: match.index, end: match.index + match[0].length, content }
}

// -------------------------------------------------------------------------------------------------------------------
// Labels
// -------------------------------------------------------------------------------------------------------------------

const label =
  /(?:\*\*|__)?\b(?:the\s+)?(?:final|correct|overall)?\s*(?:answer|result|solution|value)s?\s*(?:(?:\*\*|__)?\s*:\s*(?:\*\*|__)?|\s+(?:is|are|equals?|(?:must|should|would)\s+be|comes? (?:out )?to)\b\s*(?:\*\*|__)?:?|\s*=)\s*|(?:#{1,6} *(?:\*\*)?|\*\*)(?:final )?answer:?(?:\*\*)?:? *\n+\s*|####\s*/gi

/** What takes a statement back before it is made: "I do not think that the answer is 3". */
const disowned =
  /\b(?:not|n't|doubt|wrong|unless|whether|cannot|if|assum(?:e|ed|es|ing)|suppos(?:e|ed|ing)|imagine|pretend)\b[^.\n:;,]{0,25}$/i

/** The same again in brackets behind an answer in bold, where it is no second answer: "**Answer: 10** (i.e., n = 10)". */
const explained = /(?:\*\*|__)\s*\((?![^()]*\b(?:or|not|maybe|perhaps|possibly|probably|guess\w*)\b)[^()]*\)[.!]?$/i

/** What stands behind a label: its formula when it begins with one, else up to the end of the sentence. */
const statement = (text: string, match: RegExpExecArray): Statement | undefined => {
  const start = match.index
  if (disowned.test(text.slice(Math.max(0, start - 40), start))) return undefined
  const rest = text.slice(start + match[0].length).trim()
  const said = sentence(rest)
  const content = said.replace(explained, "").replace(/^(?:\*\*|__)|(?:\*\*|__)[.!。]?$/g, "")
  const end = text.length - rest.length + said.length
  return content === "" ? undefined : { start, end, content }
}

/** "Antwort: 5", "La respuesta es 5", "答えは5です". */
const foreignLabel = new RegExp(
  `(?:(?<!\\p{L})(?:${answerWords}|lösung|ergebnis|résultat|resultado|risultato|resultat|wynik|результат)|${joinedWords})(?:\\*\\*)?\\s*(?:[:：=]|(?<=\\s)(?:ist|lautet|est|es|é|è|e|är|er|jest|je|este|adalah|είναι|это|є|هو|هي)\\s|是|为|為|は|은|는)(?:\\*\\*)?\\s*`,
  "giu"
)

const polite = /\s*(?:です|である|입니다|이다|।|。)+\s*$/u

const labelled = (text: string): Statement | undefined => {
  const match = [...text.matchAll(label)].at(-1)
  if (match !== undefined) return statement(text, match)
  const foreign = [...text.matchAll(foreignLabel)].at(-1)
  const said = foreign && statement(text, foreign)
  return said && { ...said, content: said.content.replace(polite, "") }
}

/** The text up to a line feed, or to a full stop that ends a sentence; formulas are never cut. */
const sentence = (text: string): string => {
  const formula = /^(?:\$\$[\s\S]*?\$\$|\\\[[\s\S]*?\\\]|\$[^$]*\$|\\\([\s\S]*?\\\))/.exec(text)
  const tail = formula === null ? text : text.slice(formula[0].length)
  if (formula !== null && /^[\s.!,*]*(?:$|\n|[A-Z])/.test(tail)) return formula[0]
  const end =
    /\n|[.!](?=\s+[A-Z\n]|\s*$)|,\s+(?:so|since|because|which|as|where|not|rather)\b|\s+(?:since|because)\b/.exec(tail)
  return `${formula?.[0] ?? ""}${end === null ? tail : tail.slice(0, end.index)}`.trim()
}

// -------------------------------------------------------------------------------------------------------------------
// Formulas and prose
// -------------------------------------------------------------------------------------------------------------------

const formulas = /\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\]|\$([^$\n]+?)\$|\\\((.+?)\\\)/g

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
const words = (text: string): number =>
  (
    text
      .replace(formulas, " ")
      .replace(/\\text\s*\{[^{}]*\}|\\[a-zA-Z]+/g, " ")
      .match(/[\p{L}]{2,}/gu) ?? []
  ).filter((word) => !/^(?:sin|cos|tan|cot|sec|csc|log|ln|exp|sqrt|pi|and|or|inf|infty|oo|arc\w+)$/i.test(word)).length

const number =
  /(?<![\w.^_,])[-+−]?(?:\\?[$€£¥₹]\s?)?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+,\d{1,2}(?!\d)|\d+)(?:\.\d+)?(?:\s?[%€£¥₹])?(?![\d/^]|[,.]\d)(?=\W|$|_|(?:[kcm]m|m|kg|g|km\/h|mph)(?![\p{L}\d])|\p{Script=Han}|\p{Script=Hangul})/gu

/** What makes a number no answer: bounds, guesses, denials, and numbers of other things. */
const hedge =
  /\b(?:not|never|no longer|cannot|can't|isn't|least|most|more|less|fewer|greater|over|under|between|could|may|maybe|perhaps|possibly|possible|probably|likely|might|tried|tries|trying|try|guess\w*|unsure|unclear|unknown|unable|no idea|don't know|do not know|doubt\w*|unless|wrong|incorrect|if|no|none|neither|nor|impossible|suppose|assume|fails?|failed|attempt\w*|excluded|rejected|gave up|give up|squared|cubed|(?:step|case|problem|question|exercise|example|equation|part|page|line|option|choice|chapter|section|figure|table)s?\s*\(?#?\d+)\b/i

/** The same in other languages: denials, guesses and bounds. */
const foreignHedge =
  /(?<!\p{L})(?:nicht|kein\p{L}*|vielleicht|vermutlich|wahrscheinlich|höchstens|mindestens|pas|peut-être|probablement|suppos\p{L}*|au (?:plus|moins)|quizás?|tal vez|probablemente|al menos|a lo sumo|como (?:máximo|mínimo)|talvez|provavelmente|não|pelo menos|no máximo|forse|probabilmente|non|almeno|al massimo|не|возможно|может быть|вероятно|наверное|niet|misschien|waarschijnlijk|nie|może|chyba|prawdopodobnie|belki|muhtemelen|değil|kanske|kanskje|inte|ikke|möjligen)(?!\p{L})|可能|也许|也許|大概|不确定|不確定|不知道|不是|至少|至多|最多|最少|かもしれ|おそらく|たぶん|多分|わかりません|分かりません|ではない|아마|모르|아니/iu

const about = /\b(?:about|around|almost|nearly|approximately|approx|roughly)\b|≈/i

const lastSentence = (text: string): string | undefined =>
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
const isSentence = (text: string): boolean => /^[A-Z][a-z]+[ ,:]/.test(text) && words(text) > 0

/** Words that leave open whether a sentence is true. */
const doubt =
  /\b(?:not|never|cannot|can't|isn't|maybe|perhaps|might be|may be|could be (?=[\d$\\])|guess\w*|tried|if|suppose|assume|unless|wrong|unsure|neither|nor|possible that|whether|doubt\w*)\b/i

/** In prose, a letter that stands apart behind a number is a unit where there is one of that name: "14 m". */
const withLetterUnit = (said: string): string =>
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
const asserted = (text: string): string | undefined => {
  const last = lastSentence(text) ?? ""
  if (last.search(formulas) !== -1) return stated(text) ?? reached(text) ?? lastFormula(text)
  return stated(text) ?? reckoned(text) ?? onlyNumber(text) ?? lastFormula(text)
}

// -------------------------------------------------------------------------------------------------------------------
// The last statement
// -------------------------------------------------------------------------------------------------------------------

const valueLike = /\d|\\[a-zA-Z]|\$/

/** Words that say something of an answer, and not what it is. */
const remark =
  /^(?:an?|the|in|as|also|indeed|correct|right|wrong|true|reasonable|valid|verified|unique|positive|negative|given|shown|below|above|boxed|rounded|expressed|independent|consistent|confirmed|clear|simplified|exact|found|based|already|now|therefore|thus|not)\b/i

/** Whether a label behind an answer says another one: "so the final answer is 6", not "the answer is an integer". */
const isClear = (text: string, { content, end, start }: Statement): boolean => {
  const marker = text.slice(start, end)
  if (!/\banswer\b|\bfinal\b|####/i.test(marker.slice(0, marker.length - content.length))) return false
  if (remark.test(content) || content.length > 120) return false
  return words(content) <= 4 && (valueLike.test(content) || (/\bfinal\b/i.test(marker) && words(content) <= 2))
}

/** The last of the labels that say an answer in so many words. */
const lastClear = (text: string, from: number): Statement | undefined =>
  [...text.matchAll(label)]
    .filter(({ index }) => index >= from)
    .map((match) => statement(text, match))
    .filter((one) => one !== undefined && isClear(text, one))
    .at(-1)

const correction =
  /\b(?:actually|wait|correction|on (?:second thought|reflection)|made an? (?:mistake|error)|scratch that|instead|should (?:have been|be))\b/i

const conclusion = /^\W*(?:so|thus|hence|therefore|finally|in total|altogether|in conclusion)\b/i

const retraction =
  /\b(?:that|this|it|which|my answer|the above|the result)(?: is|'s| was) (?:wrong|incorrect|a mistake|not right|not correct)\b/i

/** What a text says behind a marked answer, where it corrects it or concludes from it. */
const afterthought = (tail: string): string | undefined => {
  const last = lastSentence(tail)
  if (last === undefined || !(correction.test(tail) || conclusion.test(last))) return undefined
  return asserted(last)
}

/** Whether a later sentence says the marked answer once more, with more around it: "hence $x + y = 12$". */
const repeats = (later: string, answer: string): boolean => {
  const bare = (text: string) => text.replace(/[\s$]/g, "")
  const [whole, part] = [bare(later), bare(answer)]
  const at = whole.lastIndexOf(part)
  if (part === "" || at === -1) return false
  return !/[\w.,]$/.test(whole.slice(0, at)) && !/^(?:[\w^!]|[.,]\d)/.test(whole.slice(at + part.length))
}

/** The marked answer that stands last, and what is said of it after that. */
const marked = (text: string): { readonly content: string | undefined } | undefined => {
  const found = [boxed(text), tagged(text)].filter((one) => one !== undefined)
  const [last] = found.sort((a, b) => b.end - a.end)
  if (last === undefined) return undefined
  const tail = text.slice(last.end)
  const later = lastClear(text, last.end)?.content ?? afterthought(tail)
  if (later !== undefined && !repeats(later, last.content)) return { content: later }
  return { content: retraction.test(tail) || last.content === "" ? undefined : last.content }
}

// -------------------------------------------------------------------------------------------------------------------
// Extraction
// -------------------------------------------------------------------------------------------------------------------

/** Without what models write behind an answer for no reader: marks of turns, and the hope that it is right. */
const withoutTail = (text: string): string =>
  text
    .replace(/(?<=\S)\s*<\|[\s\S]*$/, "")
    .replace(/(?<=\S)\s*[✓✔✅☑🎉🙂😊]\uFE0F?\s*$/u, "")
    .replace(/(?<=\S)\s+I hope (?:it|this|that)\b[^.\n]{0,40}\.?$/i, "")

/**
 * The final answer in a text, as it is written there; `undefined` when the text gives none.
 *
 * **Details**
 *
 * In this order: the last `\boxed{…}`, its braces counted, or `<answer>…</answer>`, unless a later sentence says
 * another answer; what stands behind the last "the answer is", "Answer:" or "####"; the whole text, when it is a formula
 * or a few words; the last formula; the only number of the last sentence. Behind "about" an answer begins with `≈`.
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
  const said = withoutTail(spoken(text))
  const mark = marked(said)
  if (mark !== undefined) return mark.content
  const behindLabel = labelled(said)?.content
  if (behindLabel !== undefined) {
    const isProse = words(behindLabel) > 4 || /^[A-Z][a-z]+\b.*\b(?:is|are|equals)\b/.test(behindLabel)
    const answer = isProse ? (asserted(behindLabel) ?? behindLabel) : behindLabel
    return answer.replace(/^(?:about|around|almost|nearly|approximately|approx\.?|roughly)\s+/i, "≈ ")
  }
  if (said === "") return undefined
  if (words(said) > 3) return asserted(said)
  return (isSentence(said) ? asserted(said) : undefined) ?? withLetterUnit(said)
}

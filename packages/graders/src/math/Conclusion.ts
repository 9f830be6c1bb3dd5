/**
 * Extracts the answer from a concluding sentence, whatever words surround it.
 *
 * Words divide a sentence into runs of numbers, symbols and formulas. The answer is the bold run, the last equation,
 * the only run, or the run that repeats the result of the preceding calculation; runs of equal value count as one. If
 * there are other runs, the sentence does not state an answer, because choosing one would give credit by chance.
 */
import type { Span } from "../internal/assertion/Assertion.ts"
import { because } from "../internal/assertion/because.ts"
import { isEnglish, patternsIn } from "../internal/assertion/languages.ts"
import { offer } from "../internal/assertion/remarks.ts"
import { matches } from "../internal/matches.ts"
import { approximate, isReal } from "./Evaluate.ts"
import { measured } from "./Measured.ts"
import { normalise } from "./Notation.ts"
import { parse } from "./Parser.ts"
import { formulas, lastSentence, unitBehind, withLetterUnit } from "./Prose.ts"
import { isKnown } from "./Units.ts"

/** A stated answer with its position in the text. */
export interface Stated extends Span {
  readonly content: string
}

/** A stated answer, with whether it is bold or an equation. */
export interface Conclusion extends Stated {
  readonly isMarked: boolean
}

interface Run extends Stated {
  /** The text between this run and the previous one. */
  readonly gap: string
}

// -------------------------------------------------------------------------------------------------------------------
// Runs
// -------------------------------------------------------------------------------------------------------------------

const sign = "\ue000"

/**
 * Matches the text that separates runs: words other than function names, and marks that do not occur in numbers or
 * formulas.
 */
const divider =
  /(?<![\\\p{L}\d])(?!(?:(?:arc)?(?:sin|cos|tan|cot|sec|csc)h?|log|ln|exp|sqrt|det|lim|gcd|lcm|max|min|mod|pi|(?!(?:[kmnyz]a|a[mn]|[bm]y)\s+(?:\p{L}{3}|[$€£]?\d))[xyzabnkm]{2})(?!\p{L}))\p{L}[\p{L}\p{M}'’-]*[\p{L}\p{M}](?![\p{L}\d])|(?<=\s|^)(?![a-zA-Z\p{Script=Greek}])\p{L}(?=\s)|(?<![\d.])\d+-(?=\p{L}{3})|(?<=\d)(?:st|nd|rd|th)(?!\p{L})|(?<=\s|^)[aAI](?=\s+[\p{L}\d])|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]+|[;:：。！？!?।](?=\s|$)|\.(?=\s|$)|[,，、](?=\s|\p{L})|\s[—–]\s|\s{3,}|[→⇒✓✔✅☑"“”]/gu

const valueLike = /[\d∞π√∅²³\ue000]|\p{L}\S*\s*[=<>≤≥≈]/u

/** Whether a text contains a number, a mathematical symbol or a formula. */
const hasValue = (text: string): boolean => valueLike.test(text.replace(formulas, sign))

const opened = (text: string): number => (text.match(/[([{]/g)?.length ?? 0) - (text.match(/[)\]}]/g)?.length ?? 0)

const runsOf = (sentence: string): ReadonlyArray<Run> => {
  const plain = sentence.replace(formulas, (formula) => sign.repeat(formula.length))
  const runs: Array<Run> = []
  let [from, last] = [0, 0]
  for (const { 0: mark, index } of [...matches(plain, divider), { 0: "", index: plain.length }]) {
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

/** Parses a number with its unit. Returns its value in that unit and in base units; percentages are divided by 100. */
const numberOf = (
  content: string
): { readonly own: number; readonly basic: number; readonly unit: string } | undefined => {
  const expression = content.length > 80 ? undefined : parse(normalise(content))
  if (expression === undefined) return undefined
  const { unit, value } = measured(expression)
  const found = approximate(value)
  if (found === undefined || !isReal(found)) return undefined
  const own = Number(found.re) / (unit.name === "percent" ? 100 : 1)
  const scale = Number(unit.scale.numerator) / Number(unit.scale.denominator)
  return { own, basic: unit.name === "percent" ? own : own * scale, unit: unit.name }
}

/** Whether a run repeats another one, rounded to fewer decimals or in a different unit. */
export const repeats = (exact: string, run: string): boolean => {
  const [a, b] = [numberOf(exact), numberOf(run)]
  if (a === undefined || b === undefined) return false
  const places = /\.(\d+)/.exec(run)?.[1]?.length ?? 0
  if (Math.abs(a.own - b.own) <= (places === 0 ? 1e-9 : 0.51 * 10 ** -places)) return true
  return a.unit !== "" && a.unit === b.unit && Math.abs(a.basic - b.basic) <= 1e-9 * Math.abs(a.basic)
}

/** Whether two runs are the same number, without rounding. */
const isSame = (one: string, other: string): boolean => {
  const [a, b] = [numberOf(one), numberOf(other)]
  return (
    a !== undefined &&
    b !== undefined &&
    (Math.abs(a.own - b.own) <= 1e-9 * Math.abs(a.own) || Math.abs(a.basic - b.basic) <= 1e-9 * Math.abs(a.basic))
  )
}

/** Returns the result of the last calculation before a sentence. */
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

/** Text between a value and the same value in another form: "98.6 °F is 37 °C". */
const copula =
  /^[^,;:.()]*(?:(?<!\p{L})(?:is|are|equals?|means|(?:is |are )?(?:equal|equivalent) to|(?:is |are )?the same as|corresponds? to|est égale? à|est|ist|sind|es|son|è|é|são)(?: (?:exactly|just|also))?[\s*$]*$)/iu

/** A phrase that introduces the value in a relative or final clause: ", which makes", "— that brings us to", "to get". */
const relative =
  /^[^:()]*(?:(?:,|\s[—–-])?\s*(?:which|(?<=[,—–-]\s*)(?:that|so that|this)) (?:is|equals|totals|gives|yields|leaves|makes|means|brings?|comes to|corresponds to|is (?:equivalent|equal) to|is the same as)(?: us| you| him| her| them| it)?(?: to| a total of)?|\s(?:to (?:get|obtain|give|make|reach)|(?<=,\s*)(?:leaving|making|giving|bringing|yielding)(?: us| you| him| her| them| it)?(?: with| to| a total of)?))[\s*$]*$/iu

/** Start of a sentence that sets the time or place: "In 3 hours the train covers 120 km". */
const setting = /^\W*(?:in|after|for|at|on|with|by|within|during|nach|dans|après|en|dopo|após|за|через)\s*$/iu

/** Text between an equation and its circumstances: "for the 16 glasses", "every 7 days". */
const circumstance =
  /^[\s*$€£%]*(?:\p{L}+ ){0,2}?(?:for|in|at|on|by|per|after|before|with|from|of|every|each|among|over)\s(?!example)/iu

const joint = /^[\s*$]*,?\s*(?:(?:and|or|und|oder|et|ou|y|o|e|i|и|или)(?!\p{L}))?[\s*$]*$/iu

/**
 * Returns the last bold part of a sentence that is not a label, joined with the bold parts that it continues: "**x =
 * 5** or **x = 3**".
 */
const inBold = (sentence: string): Stated | undefined => {
  const parts = matches(sentence, bold).filter(([all]) => !/[:：]\s*\*\*$/.test(all))
  const last = parts.at(-1)
  if (last === undefined) return undefined
  const gapBefore = (index: number) =>
    sentence.slice(parts[index - 1]!.index + parts[index - 1]![0].length, parts[index]!.index)
  let first = parts.length - 1
  while (first > 0 && /\p{L}|,/u.test(gapBefore(first)) && joint.test(gapBefore(first))) first--
  const start = parts[first]!.index + 2
  const end = last.index + last[0].length - 2
  return { start, end, content: sentence.slice(start, end).replaceAll("**", "") }
}

/**
 * Returns the last run, joined with preceding runs that give alternative values for the same name: "x = 2 or x = 3".
 */
const withAlternatives = (runs: ReadonlyArray<Run>, sentence: string): Stated => {
  const last = runs.at(-1)!
  const name = /^[\s$\\(*]*([a-z])\s*[=<>≤≥]/i.exec(last.content)?.[1]
  let first = runs.length - 1
  const isNamed = (run: Run) => new RegExp(`^[\\s$\\\\(*]*${name}\\s*[=<>≤≥]`).test(run.content)
  while (name !== undefined && first > 0 && joint.test(runs[first]!.gap) && isNamed(runs[first - 1]!)) first--
  const start = runs[first]!.start
  return { start, end: last.end, content: sentence.slice(start, last.end).replaceAll("**", "") }
}

/** Returns the run that a sentence states as its answer, or `undefined` if that is ambiguous. */
const statedOf = (sentence: string, before: string): Stated | undefined => {
  const runs = runsOf(sentence)
  const last = runs.at(-1)
  if (last === undefined) return undefined
  if (runs.length === 1) return last
  const listed = runs.findLastIndex(({ gap }, index) => index > 0 && /[:：][\s*$]*$/.test(gap))
  if (listed > 0 && listed < runs.length - 1 && runs.slice(listed + 1).every(({ gap }) => joint.test(gap))) {
    const start = runs[listed]!.start
    return { start, end: last.end, content: sentence.slice(start, last.end) }
  }
  const equations = runs.filter(({ content }) => relation.test(content))
  const equation = equations.at(-1)
  if (equation !== undefined && equations.length === 1) {
    const end = equation.content.split(relation).at(-1)!
    const later = runs.filter((run) => run.start > equation.start && !repeats(end, run.content))
    if (later.length === 0 || (later.length === 1 && circumstance.test(later[0]!.gap))) return equation
    return undefined
  }
  const isPoint = last.content.startsWith("(") && equations.length === runs.length - 1
  if (isPoint) return last
  if (runs.every(({ gap }, index) => index === 0 || (/[,\p{L}]/u.test(gap) && joint.test(gap)))) {
    return { start: runs[0]!.start, end: last.end, content: sentence.slice(runs[0]!.start, last.end) }
  }
  if (equation === last) return withAlternatives(runs, sentence)
  if (equation !== undefined) return undefined
  if (runs.slice(1).every((run) => repeats(runs[0]!.content, run.content))) {
    const isDecimal = (content: string) => /\d\.\d/.test(content)
    const isRounded = runs.some(({ content }) => !isSame(content, last.content))
    return isDecimal(last.content) && isRounded ? (runs.find(({ content }) => !isDecimal(content)) ?? last) : last
  }
  if (relative.test(last.gap)) return last
  const first = runs[0]!
  const isAtEnd = /^[\s$*]*(?:\p{L}+(?: [²³\p{L}]+)?)?[\s.!*$]*$/u.test(sentence.slice(last.end))
  const isAbout = setting.test(first.gap) || /^[^,]*(?<![\d\\])[a-z](?![a-z])/i.test(first.content)
  if (/^[^,;:]*:[\s*$]*$/.test(last.gap) && runs.length === 2 && isAtEnd) return last
  if (
    copula.test(last.gap) &&
    isAtEnd &&
    runs.every(
      ({ gap }, index) => index === 0 || index === runs.length - 1 || joint.test(gap) || /^\s*\p{L}+ and $/u.test(gap)
    )
  )
    return last
  if (runs.length === 2 && isAtEnd && isAbout && /^[^,;:.()]*\p{L}[^,;:.()]*$/u.test(last.gap)) return last
  const result = resultBefore(before)
  const restated = result === undefined ? [] : runs.filter((run) => repeats(run.content, result))
  return restated.length === 1 ? restated[0] : undefined
}

/** Words that lead from one equation to the next. */
const yielding =
  /,?\s+which\s+(?:simplifies to|reduces to|leads to|leaves|means|gives|yields|makes)\b(?=\s+[*$\\]*[a-z]\b)/gi

/** A conditional clause before the main clause: "If you walk for 2 hours, you cover". */
const condition =
  /^\W*(?:if|since|because|when|as|after|given|using|with|for|by|assuming|\w+ing)\b.*,\s+(?=(?:the|then|it|he|she|they|we|you|there|this|each|his|her|its|our)\b)/i

/** A reason before the main clause: "and since half a pack is not sold, you need 8". */
const mainBehind =
  /^[\s,;]*(?:since|because|as)\s[^,]*,\s+(?=(?:the|it|he|she|they|we|you|there|this|each|so)\b|[$\\(]*[a-z]\s*=)/i

/** A clause that repeats or states the value: ", which is 42 inches". */
const valued =
  /^,?\s*which (?:is|equals|totals|gives|yields|leaves|makes|means|comes to|corresponds to|is (?:equivalent|equal) to|is the same as)\s+(?:us |him |her |them |a total of )?[*$]*[-−]?[\d\\$][^\s,]*(?: [\p{L}/²³]+)*[.!*$]*$/u

/** Replaces asides with blanks of equal length: parentheses after an answer, and reasons. */
const withoutAsides = (sentence: string): string => {
  const blank = (text: string) => " ".repeat(text.length)
  const plain = sentence
    .replace(condition, (clause) => (hasValue(sentence.slice(clause.length)) ? blank(clause) : clause))
    .replace(yielding, blank)
    .replace(
      /(?<=\S\s)\((?!(?:or|oder|ou|maybe|perhaps|not|but)\b)(?=[^()\n]*(?:\p{L}{2}|[=≈]))[^()\n]*(?:\\\([^\n]*?\\\)[^()\n]*)?\)(?=[\s.!*]*$)/gu,
      blank
    )
  const short = plain.replace(because, (clause) => {
    if (valued.test(clause)) return clause
    const main = mainBehind.exec(clause)
    return main !== null && hasValue(clause.slice(main[0].length))
      ? clause.replace(main[0], blank(main[0]))
      : blank(clause)
  })
  return hasValue(short) ? short : plain
}

const checks =
  "check|verif\\w*|vérif\\w*|probe|prüfung|comprob\\p{L}*|verifica\\p{L}*|provera|you can (?:verify|check|confirm)|sprawdz\\w*|проверка|перевірка|kontrol\\w*|检验|验算|検算|검산"

/** A verification after an answer: "**Check:** 2 · 12 = 24 ✓". */
const check = new RegExp(
  `(?:^|\\n)[\\s*_>-]*(?:${checks})[^\\n]*$|[.!)]\\s+(?:(?:${checks})\\s*[:：][^\\n]*|\\p{Lu}\\p{L}+\\s*[:：][^\\n]*[✓✔✅]\\W*)$`,
  "iu"
)

const checking = new RegExp(`^[\\s*_>-]*(?:\\p{L}+ ){0,3}?(?:${checks})`, "iu")

/** Words of a check that fails. */
const failing =
  /[✗✘❌]|\b(?:but|error|mistake|wrong|fails?|failed|mismatch|should (?:be|have been)|cannot be|does not|doesn['’]t)\b/i

/** Whether a lead-in announces a verification. */
export const isCheck = (lead: string): boolean => checking.test(lead)

/** A sentence that explains the symbols of a formula: "where C is the constant of integration". */
const legend = /\n\s*(?:where|with|here)\b[^\n]*$/i

/** A remark on the mistakes that others make: "Common error: 16 (forgetting to halve).", "Attention : …". */
const ofMistakes =
  /(?<=[.!?$*)]\s*)\s(?:(?:a |une? |ein |eine |un |uma? )?(?:(?:common|frequent|classic|typical|usual) (?:error|mistake|slip|pitfall|wrong answer|trap)|(?:häufiger|typischer|beliebter) fehler|(?:erreur|faute|piège) (?:fréquente?|classique|courante?)|error (?:común|frecuente|típico|clásico)|errore (?:comune|frequente|classico|tipico)|erro (?:comum|frequente|clássico|típico)|veelgemaakte fout|vanligt fel|częsty błąd|častá chyba|частая ошибка|типичная ошибка)s?\s?[:：]|(?:attention|achtung|beware|atención|attenzione|atenção)\s?[:：])[^\n]*$/iu

/** A question on a separate line: "Would you like me to show the steps?" */
const question = /\n[^\n.!]*[?？؟]\s*$/

/** An offer with a number at the end of a text: "¿Quieres otros 4 ejercicios?" */
const offering = /[.!。！।\n$*)\]}][^.!?。！？।\n]{0,120}\d[^.!?。！？।\n]{0,80}[?？؟]\s*$/u

/** Nouns for exercises, and verbs of wishing, with which an offer is made in other languages. */
const exercise =
  /exercises?|problems?|questions?|puzzles?|examples?|aufgaben?|übungen?|beispiele?|exercices?|problèmes?|ejercicios?|problemas?|ejemplos?|esercizi|problemi|exercícios?|opgaven?|oefening\p{L}*|uppgift\p{L}*|opgave\p{L}*|oppgave\p{L}*|zada[nń]\p{L}*|příklad\p{L}*|úloh\p{L}*|zadat\p{L}*|tehtäv\p{L}*|feladat\p{L}*|exerciți\p{L}*|soru\p{L}*|bài|soal|задач\p{L}*|пример\p{L}*|завдан\p{L}*|ασκήσ\p{L}*|题|題|問|문제|مسائل|تمارين|أسئلة|תרגילים|शब्द|प्रश्न|सवाल|প্রশ্ন|ข้อ/iu

/** Whether a question offers more to the reader. Questions in other languages than English are not judged. */
const isOffer = (line: string): boolean =>
  offer.test(line) || /[^ -~\s]/.test(line) || (!isEnglish(line) && patternsIn(line, false).length > 0)

/** A sum in parentheses after its value: "27 (8 + 9 + 10)". */
const sum = /(?<![\d.,])(\d[\d.,]*)\s\((\d[\d.,]*(?:\s?[+×·*÷−-]\s?\d[\d.,]*)+)\)(?=[.!]?\s*$)/

/** Returns a text up to its last sentence that may be a conclusion. */
export const withoutChecks = (written: string): string => {
  const text = written.replace(sum, (all, value, added) => (repeats(added, value) ? value : all))
  const trimmed = text.trimEnd()
  const from = Math.max(0, trimmed.length - 600)
  for (const pattern of [check, ofMistakes, legend, question, offering]) {
    const at = trimmed.slice(from).search(pattern)
    if (pattern === offering && at !== -1 && !exercise.test(trimmed.slice(from + at))) continue
    if (pattern === check && at !== -1 && failing.test(trimmed.slice(from + at))) return text
    if (pattern === question && at !== -1 && !isOffer(trimmed.slice(from + at))) continue
    if (at !== -1 && /\d|\$|\\/.test(trimmed.slice(0, from + at))) return trimmed.slice(0, from + at + 1)
  }
  return text
}

/** Matches a sentence that describes the next step without giving its result. */
const instruction =
  /^\W*(?:(?:step \d+\W+)?(?:first|next|now|then|also|finally|let['’]?s|let us|we)\b,?\s+)*(?:(?:now|must|should|can|need to|have to)\s+)?(?:(?:subtract|multiply|divide|substitute|plug|move|square|cube|raise|isolate|rearrange|simplify|check|recall|draw|label)\b(?![^=]*(?:=|:|\bto (?:get|find|obtain|see)\b|\b(?:gives?|yields?|so|which|and (?:get|you))\b))|(?:take|let|set|try|pick|choose|start|begin|fix|put|consider|assume)\b(?!.*(?::|\bto (?:get|find|obtain)\b|\b(?:gives?|yields?|so|then|we|you)\b)))/i

/** Whether a sentence only describes the next step. */
export const isInstruction = (sentence: string): boolean => instruction.test(sentence)

/** Whether a text ends in the middle of a sentence. */
export const isCut = (text: string): boolean =>
  /(?:\s[+−×·÷*/=<>≤≥-]|[(,]|\s(?:of|the|an?|and|or|to|is|are|by|from|with|minus|plus|times|for|than|that|which))\s*$/.test(
    text
  )

const step = /^\W*(?:step|schritt|étape|paso|passo|шаг)\s*#?\d/iu

const delimiters = /^(?:\$\$?|\\[([])(?=(?:[^$\\]|\\.)*(?:\$\$?|\\[)\]])$)/

/** Removes the delimiters around a formula. */
const bare = (content: string): string =>
  delimiters.test(content) ? content.replace(/^(?:\$\$?|\\[([])\s*|\s*(?:\$\$?|\\[)\]])$/g, "") : content

/** Returns the answer stated in the last sentence of a text. `isLast` is set if nothing follows it. */
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

/** Matches the end of a clause, or the start of a reason. */
const clauseEnd = /,?\s(?:because|since|while|whereas)\b|[,;:—–]\s|\b(?:so|thus|hence|therefore|but)\b/gi

/**
 * Finds words in the last sentence of a text if they are its answer: in bold, as the subject of the last clause, or at
 * the end of its predicate.
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
    const counted = matches(sentence, bold).length
    if (counted === 1 && /^\p{L}+$/u.test(marked.content)) return undefined
  }
  const opening = new RegExp(`^\\W*(?:the answer is )?${escaped(words)}(?=[,:.;—–]|\\s[—–-])`, "iu").exec(sentence)
  if (opening !== null && /^\p{L}+$/u.test(words)) {
    return { start: from + opening[0].length - words.length, end: from + opening[0].length }
  }
  let begin = 0
  for (const { 0: mark, index } of matches(sentence, clauseEnd)) {
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

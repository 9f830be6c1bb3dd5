/**
 * Extracts the final answer from a model's text: boxed, tagged, labeled, in a formula, or the whole text.
 *
 * An answer counts only if the text asserts it. It does not count if the text asks about it, assumes, quotes, negates,
 * guesses or retracts it, or shows it as a format example. If several answers are asserted, the last one counts if the
 * text corrects the others or continues from them; otherwise the text has no answer. Prose without a marked answer has
 * an answer only if its last sentence contains exactly one number, because guessing would give credit by chance.
 */
import { answerWords, joinedWords, resultWords } from "../internal/answerWords.ts"
import {
  isAsserted,
  isDeniedAbroad,
  isLabel,
  isReplaced,
  isRetracted,
  isTakenBack,
  isUndenied,
  masked,
  objects,
  type Span
} from "../internal/assertion/Assertion.ts"
import { opinion, slip } from "../internal/assertion/signals.ts"
import { datesIn, isYesOrNo, type Named, namedLike } from "../internal/calendar.ts"
import { matches } from "../internal/matches.ts"
import { noSolutionAt } from "../internal/nothing.ts"
import { numeralOf, ofChinese, withDigits, withMixed, withScales } from "../internal/numerals.ts"
import { spoken } from "../internal/spoken.ts"
import type { Absence } from "../Verdict.ts"
import { calculationIn } from "./Calculation.ts"
import { conclusion, isCheck, isCut, isInstruction, statedWords, withoutChecks } from "./Conclusion.ts"
import { decideText } from "./Ladder.ts"
import { boxed, inJson, type Statement, tagged, withoutStruck } from "./Marks.ts"
import {
  about,
  asserted,
  counted,
  foreignHedge,
  hedge,
  isSentence,
  lastSentence,
  lastValueEnd,
  plainValue,
  scaling,
  sentence,
  unitBehind,
  withLetterUnit,
  withoutContrast,
  withWordAnswer,
  words
} from "./Prose.ts"
import { withKnownSpellings } from "./Spellings.ts"

/** An asserted answer. It is final if the text calls it the answer; otherwise it may be an intermediate result. */
interface Claim extends Statement {
  readonly isFinal: boolean
  readonly isMark: boolean
}

// -------------------------------------------------------------------------------------------------------------------
// Labels
// -------------------------------------------------------------------------------------------------------------------

const label =
  /(?:\*\*|__)?(?<![a-zA-Z\d])(?:the\s+)?(?:final|correct|overall|right|true|actual)?\s*(?:answer|result|solution|value)s?(?:\s+set|\s+(?:to|of|for)\s+(?:the|this|our|your)\s+(?:original\s+|given\s+)?(?:question|problem|exercise|task|puzzle))?\s*(?:(?:\*{1,3}|__)?\s*[:;➜➔⟹⇒→⟶]\s*(?:(?<!\n\s*)\*{1,3}|\*{1,3}(?!\s)|_{1,2})?|(?:,\s*(?:then|therefore|thus|hence)\s*,)?\s+(?:is|are|equals?|(?:must|should|would)\s+be|(?:comes?|turns?) (?:out )?to(?: be)?)\b(?:,\s*(?:then|therefore|thus|hence)\s*,|\s+(?:therefore|thus|then|hence|simply|just|exactly|indeed))?\s*(?:\*\*|__)?:?|\s*=(?!=)|\s+[—–-]+\s)\s*|(?:#{1,6} *(?:\*\*)?|\*\*|__)(?:final )?answer:?(?:\*\*|__)?:? *\n+\s*|(?<![^\n])[\s>*_-]*(?:final )?(?:answer|result|solution|conclusion)[*_:]* *\n+(?:[=-]{3,}|~{5,}) *\n+\s*|(?<![^\n])(?:final )?answer *(?:\n+\s*|(?=(?:\$[^$\n]+\$|[-−]?[\d([][^a-z\n]*)[.!]?\s*(?:\n|$)))|(?<![^\n])[>*_ -]*(?:final|ans\.?)[*_]*\s*[:=][*_]*\s*|(?<![^\n])\s*(?:⇒|→|∴|=>)\s*|(?<![^\n])ans(?:\.\s+|\)\s*)|(?<![^\n])\|[\s*]*(?:final )?answer[\s*]*\|\s*(?:\n\s*\|[-: ]+\|\s*\n\s*\|\s*|(?=[^|\n]+\|\s*(?:\n|$)))|####\s*/gi

/** The label "A: 5" on a separate line. */
const shortLabel = /(?<![^\n])[>*_ -]*A[*_]*:[*_]*\s*/g

/** Labels in other languages: "Antwort: 5", "La respuesta final es 5", "答えは5です", "Cevap 5". */
const foreignLabel = new RegExp(
  `(?:(?<!\\p{L})(?:(?:odp|rép|resp|risp|antw|отв|відп)\\.|${answerWords.replace(/^answer\|/, "")}|${resultWords}|(?:soluzione|solución|solução|soluție|oplossing|lösning|løsning|rozwiązanie|řešení)(?=[*_]*\\s*[:：]))\\p{L}{0,8}|${joinedWords})(?:\\*\\*)?(?:\\s+\\p{L}[\\p{L}\\p{M}]*){0,2}?\\s*(?:\\*\\*)?\\s*(?:[:：=]|\\s[—–-]\\s|(?<=\\s)(?:ist|lautet|beträgt|est|es|é|è|e|är|er|is|on|jest|to|wynosi|je|este|adalah|ialah|là|είναι|равен|равна|равно|дорівнює|это|є|هو|هي|היא|הוא|হল|হলো|aynı)(?:\\s+(?:also|donc|por tanto|somit|daher|demnach|folglich|alors|ainsi|entonces|pues|quindi|dunque|allora|pertanto|tedy|proto|jadi|então|logo|portanto|teda|dus|siis|alltså|altså|derfor|därför|deci|zatem|więc|dakle|torej|tehát|следовательно|значит|тогда|отже|άρα))?\\s|(?:是|为|為|は|은|는|คือ|เท่ากับ)[:：]?|\\s+(?=[-−]?\\d|\\$|\\\\[([f]|\\*\\*\\d))(?:\\*\\*)?\\s*`,
  "giu"
)

/**
 * The same answer repeated in parentheses after a bold answer, which is not a second answer: "**Answer: 10** (i.e., n =
 * 10)".
 */
const explained = /(?:\*\*|__)\s*\((?![^()]*\b(?:or|not|maybe|perhaps|possibly|probably|guess\w*)\b)[^()]*\)[.!]?$/i

/** A remark in parentheses after a value: "14:10 (24-hour clock)", "11/5 (2.2 as a decimal)", "0,225 (virgule décimale)". */
const commented =
  /(?<=[\d$}%°!π)\]]|[a-z]) \((?=[^()]*\p{L}{3})(?![^()]*(?<!\p{L})(?:or|not|no|to be|tb[acd]|pending|maybe|perhaps|possibly|probably|guess\w*|if|unless|mod|base|but|approx\w*|rounded|wrong|false|un\w+|nicht|pas|non|nie|не|k|n|m)(?!\p{L}))[^()=∈<>\\]*\)[.!]?$/iu

/** Verbs and symbols that end a sentence after its answer, in languages with this word order. */
const ending =
  /\s*(?:です|である|となります|になります|だ|입니다|이다|है|हैं|आहे|ஆகும்|ہے|ہیں|۔|است|(?![✗✘❌✖❎🚫⛔👎🤔🤷❓❔⁉😅😬🙃])(?:\p{Emoji_Presentation}|[✓✔☑])|['’]?[dt][ıiuü]r|\||।|。)+\s*$/u

/** Maximum number of marks and of labels that are read, counted from the end. */
const maxStatements = 40

/** Maximum length of the text after a label, in characters. */
const maxStatement = 4000

/** Whether part of a sentence is bold: "The value of $k$ is **4**." */
const isBoldWithin = (said: string): boolean => /^[^*\n]*[^*\s][^*\n]*\*\*[^*\n]+\*\*[.!。]?$/.test(said)

/**
 * Returns the text after a label with its position: a formula if the text starts with one, otherwise the rest of the
 * sentence.
 */
const behindLabel = (text: string, match: RegExpExecArray): (Statement & { readonly from: number }) | undefined => {
  const start = match.index + /^\s*/.exec(match[0])![0].length
  const rest = text.slice(match.index + match[0].length, match.index + match[0].length + maxStatement)
  const lead = (match[0].endsWith("\n") ? /^(?:\s|> ?)*/ : /^\s*/).exec(rest)![0].length
  const from = match.index + match[0].length + lead
  const quote = /["“„«]$/.test(text.slice(0, start)) ? rest.slice(lead).search(/["”“»]/) : -1
  const items = /^(?:[-*] [^\n]{1,80}(?:\n|$)){2,6}/.exec(rest.slice(lead))?.[0]
  if (items !== undefined) {
    const content = items
      .trim()
      .split("\n")
      .map((item) => item.slice(2).replace(/[.;,]$/, ""))
      .join(", ")
    return { start, from, end: from + items.length, content }
  }
  const said = sentence(quote === -1 ? rest.slice(lead) : rest.slice(lead, lead + quote))
  const content = said
    .replace(/^\*([^*\n]+)\*\.?$/, "$1")
    .replace(explained, "")
    .replace(ending, "")
    .replace(isBoldWithin(said) ? /(?!)/ : /^(?:\*\*|__)|(?:\*{1,3}|_{1,2})[.!。]?$/g, "")
    .replace(ending, "")
    .replace(commented, "")
    .replace(/^[a-zA-Z] ?(?:→|->|⟶) ?(?=\$)/, "")
    .replace(/^([^*]*)(?:(?<!\s)\*\*(?=\s)|(?<=\s)\*\*(?!\s)|(?<!\s)\*\*$)([^*]*)$/, "$1$2")
    .replace(/^([^()[\]]*|\$[^$]*\$[.!]?)[)\]]$/, "$1")
  return content.trim() === "" || /^[\s>#*_]*(?:the )?(?:final )?(?:answer|result)[\s:*_]*$/i.test(content)
    ? undefined
    : { start, from, end: from + said.replace(/[?？؟]+$/, "").length, content }
}

const labelled = (text: string): ReadonlyArray<Statement & { readonly from: number }> =>
  [label, shortLabel, foreignLabel]
    .flatMap((pattern) => matches(text, pattern).slice(-maxStatements))
    .flatMap((match) => behindLabel(text, match) ?? [])

const reversed =
  /(?<![^\s(])(?<!\d )(\$[^$\n]{1,80}\$|-?\d[\d.,/]*(?:[ \u00a0\u202f']\d{3}(?!\d))*|\*\*[^*\n]{1,40}\*\*) (?:(?:is|must be) (?:thus |therefore |hence )?|as )(?:(?:the|my|our) (?:final |correct |right )?answer\b(?! (?:to|of|for))|what (?:the (?:question|problem|task) (?:asks|asked|wants|wanted)|(?:we|you) (?:want|wanted|need|needed|were (?:looking|asked) for)))|(?<=^|\n|[.!?:]\s)(\$[^$\n]{1,80}\$|-?\d[\d.,/]*) (?:it is\b(?=\s*[.!*]*\s*(?:$|\n))|(?:is|ist|est|es|è|é|jest|är|er) (?:correct\w*|right|richtig|korrekt|exacte?|juste?|corrett\w*|rätt|riktig\w*|poprawn\w*)(?![\p{L}]))/giu

/** Finds answers that precede their label: "5 is the answer". */
const before = (text: string): ReturnType<typeof labelled> =>
  matches(text, reversed)
    .slice(-maxStatements)
    .map(({ 0: all, 1: value, 2: bare, index }) => ({ all, content: value ?? bare, index }))
    .map(({ all, content, index }) => ({
      start: index,
      from: index,
      end: index + all.length,
      content: content!.replace(/^\*\*|\*\*$/g, "")
    }))

const valueLike = /\d|\\[a-zA-Z]|\$/

/** Words that comment on an answer without stating it. */
const remark =
  /^(?:an?|the|in|as|also|indeed|correct|right|wrong|true|reasonable|valid|verified|unique|positive|negative|given|shown|below|above|boxed|rounded|expressed|independent|consistent|confirmed|clear|simplified|exact|found|based|already|now|therefore|thus|not)\b/i

const saysAnswer = new RegExp(`\\banswer\\b|\\bfinal\\b|####|\\bans\\b|^\\W*A\\W*$|${answerWords}|${joinedWords}`, "iu")

/**
 * Whether a label after a marked answer states another answer: "so the final answer is 6", but not "the answer is an
 * integer".
 */
const isClear = (text: string, { content, end, start }: Statement): boolean => {
  const marker = text.slice(start, end)
  if (!saysAnswer.test(marker.replace(content, ""))) return false
  if (remark.test(content) || content.length > 120) return false
  return words(content) <= 4 && (valueLike.test(content) || (/\bfinal\b/i.test(marker) && words(content) <= 2))
}

// -------------------------------------------------------------------------------------------------------------------
// Claims
// -------------------------------------------------------------------------------------------------------------------

const contains = (outer: Span, inner: Span): boolean => outer.start <= inner.start && inner.end <= outer.end

/** Returns the answer within tags: the content of a nested box, the text after a nested label, or the whole content. */
const withinTags = (statement: Statement): Statement => {
  const inner = statement.content.trim().replace(/^<(?:(\w+)>([^<]*)<\/\1|!\[CDATA\[([^<]*)\]\])>$/, "$2$3")
  const content = boxed(inner).at(-1)?.content ?? labelled(inner).at(-1)?.content ?? inner
  return { ...statement, content }
}

const marksOf = (text: string): ReadonlyArray<Statement & { readonly isFinal: boolean }> => {
  const tags = [...tagged(text).slice(-maxStatements).map(withinTags), ...inJson(text)].map((one) => ({
    ...one,
    isFinal: true
  }))
  const outside = boxed(text).filter((box) => !tags.some((tag) => contains(tag, box)))
  return [...tags, ...outside.map((one) => ({ ...one, isFinal: false }))].sort((a, b) => a.end - b.end)
}

/** The asserted and the merely mentioned answers in a text, in order. */
interface Reading {
  readonly claims: ReadonlyArray<Claim>
  /** Answers that are mentioned but not asserted. */
  readonly mentions: ReadonlyArray<Statement>
  /** The text with placeholders for formulas and marks. */
  readonly plain: string
}

/** The answer that there is no solution, which is not a denial. */
const noSolution = /^(?:there (?:is|are) )?no (?:real |integer )?solutions?$/i

/** Whether the sentence of a labeled answer denies it afterwards. */
const isDeniedIn = (text: string, { content, end, from, start }: Statement & { readonly from: number }): boolean =>
  !noSolution.test(content) &&
  isDeniedAbroad(text.slice(start, end), /[^\d]*$/.exec(text.slice(Math.max(from, end - 200), end))![0])

/** A part or a function of the answer, before its label: "La moitié de la réponse", "The square of the answer". */
const partOf =
  /(?<!\p{L})(?!val(?:ue|eur|or|ore|oarea)|form|result|résult|Wert)\p{L}+ (?:of (?:the |my |our )?|de la |de l['’]|du |del |della |da |van (?:het|de) |av )$/iu

/** Whether a label gives a part or a function of the answer. */
const isPart = (text: string, { from, start }: Span & { readonly from: number }): boolean =>
  partOf.test(text.slice(Math.max(0, start - 60), start)) && saysAnswer.test(text.slice(start, from))

/** A remark that withdraws the value directly before it: "56 (typo, I meant 28)". */
const withdrawn =
  /^[^\n(]{0,40}\([^()\n]*(?<!\p{L})(?:typo|i (?:meant|mean)|oops|sorry|scratch|should (?:be|have been)|not)(?!\p{L})[^()\n]*\)/iu

/** A doubt that trails off after a value: "42... or so I'd like to believe". */
const trailing = /(?:\.\.\.|…)\s*(?:or|but|if|maybe|perhaps|though|well|unless|i|we|no|wait|hmm)\b/i

/** Returns where the value behind a label starts, if words of the same sentence precede it: "The answer is exactly $5$". */
const valueStart = (text: string, { content, end, from, start }: Statement & { readonly from: number }): number =>
  /[:：\n]/.test(text.slice(start, from)) || !/^\p{L}{2}/u.test(content)
    ? from
    : from + Math.max(0, text.slice(from, end).search(/[$\\\d]/))

const read = (text: string): Reading => {
  const marks = marksOf(text)
  const labels = [...labelled(text), ...before(text)]
  if (marks.length === 0 && labels.length === 0) return { claims: [], mentions: [], plain: "" }
  const plain = masked(text, marks)
  const held = marks
    .slice(-maxStatements)
    .map((mark) => ({ ...mark, isMark: true, isHeld: isAsserted(plain, mark, true) }))
  const said = labels.flatMap((one) => {
    const inside = marks.some(
      (mark) => contains(one, mark) || contains(mark, one) || (mark.start < one.end && mark.end > one.start)
    )
    return inside || !isLabel(plain, valueStart(text, one))
      ? []
      : [
          {
            ...one,
            isFinal: true,
            isMark: false,
            isHeld:
              isAsserted(plain, { start: one.from, end: one.end }) &&
              !isDeniedIn(text, one) &&
              !isPart(text, one) &&
              !withdrawn.test(text.slice(one.from, one.end + 60)) &&
              !trailing.test(one.content)
          }
        ]
  })
  const isLabelled = (mark: Statement) => labels.some((one) => one.start < mark.start && mark.start < one.end)
  const all = [...held, ...said].sort((a, b) => a.end - b.end)
  return {
    claims: all.filter(({ isHeld }) => isHeld).map((one) => ({ ...one, isFinal: one.isFinal || isLabelled(one) })),
    mentions: all.filter(({ isHeld }) => !isHeld),
    plain
  }
}

const lenient = { anyOrder: true, bareValues: true }

const isSame = (a: string, b: string): boolean =>
  a === b || decideText(a, b, lenient).correct || decideText(b, a, lenient).correct

/**
 * Whether an earlier claim contradicts the last one: it is a different answer that is neither retracted nor an
 * intermediate result.
 */
const isRival = (plain: string, earlier: Claim, last: Claim): boolean => {
  const between = plain.slice(Math.max(earlier.end, last.start - maxStatement), last.start + (last.isMark ? 0 : 20))
  if (last.isMark && last.isFinal && earlier.isMark && !earlier.isFinal) return false
  const tail = plain.slice(earlier.end, last.start)
  if (!earlier.isMark && !last.isMark && (objects(tail) || slip(tail).length > 0)) return false
  if (isReplaced(between, !earlier.isFinal) || isSame(earlier.content, last.content)) return false
  return !isSame(valueIn(earlier), valueIn(last))
}

const correction =
  /\b(?:actually|wait|correction|on (?:second thought|reflection)|made an? (?:mistake|error)|scratch that|instead|should (?:have been|be))\b/i

const concluding = /^\W*(?:so|thus|hence|therefore|finally|in total|altogether|in conclusion)\b/i

/**
 * Returns the answer that a text states after a marked one, if it corrects the marked answer or draws a conclusion from
 * it.
 */
const afterthought = (tail: string, isMark: boolean): string | undefined => {
  const last = lastSentence(tail)
  if (last === undefined) return undefined
  const isCorrected = objects(tail) || (isMark && correction.test(tail))
  return isCorrected || (isMark && concluding.test(last)) ? asserted(last) : undefined
}

/** Whether a later sentence repeats the marked answer within a larger expression: "hence $x + y = 12$". */
const repeats = (later: string, answer: string): boolean => {
  const bare = (text: string) => text.replace(/[\s$]/g, "")
  const [whole, part] = [bare(later), bare(answer)]
  const at = whole.lastIndexOf(part)
  if (part === "" || at === -1) return false
  return !/[\w.,]$/.test(whole.slice(0, at)) && !/^(?:[\w^!]|[.,]\d)/.test(whole.slice(at + part.length))
}

/** Returns a part of a text in one line. */
const quote = (text: string): string => {
  const line = text.replace(/\s+/g, " ").trim()
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}

/** The absence of an answer that the text behind it retracts. */
const retracted = (content: string, tail: string): Absence => ({
  kind: "retracted",
  quotes: [quote(content), quote(tail.replace(/^[\s.$)}*_\]]+/, ""))]
})

/** Returns the last claim, unless the text retracts it or also asserts a different answer. */
const decided = (text: string, plain: string, claims: ReadonlyArray<Claim>): Claim | Absence => {
  const last = claims.at(-1)!
  const tail = text.slice(last.end)
  const later = afterthought(tail, last.isMark)
  if (later !== undefined && !repeats(later, last.content)) return { ...last, content: later }
  if (last.content === "" || isRetracted(plain, last.end)) return retracted(last.content, tail)
  const marked = claims.findLast(({ isMark }) => isMark)
  if (marked !== undefined && marked !== last && repeats(last.content, marked.content)) return marked
  const rival = claims.slice(0, -1).find((one) => isRival(plain, one, last))
  return rival === undefined ? last : { kind: "several", quotes: [quote(rival.content), quote(last.content)] }
}

// -------------------------------------------------------------------------------------------------------------------
// Extraction
// -------------------------------------------------------------------------------------------------------------------

const endMark =
  /(?<=\S)(?:\s|\$|\\\(|\\hfill)*(?:\\blacksquare|\\square|\\Box|\\qed(?:here|symbol)?|\\checkmark|\(?\bQ\.\s?E\.\s?D\.?\)?|\bQED\.?|\b[Qq]uod erat (?:demonstrandum|faciendum)\.?|[∎■□◼▪]|(?<=\d\s*)#|\\end\{proof\}|\(End of proof\)|\bDone\.|(?<=\n\s*)(?:-{3,}|\*{3,}|#{1,6}))[\s$\\)]*$/

/** A mark at the end of a proof, behind its last sentence. */
const endMarkWithin =
  /(?<=[.!。$)\]])[ \t\n]*(?:[$]\\(?:blacksquare|square|Box|qed)[$]|\\\(\\(?:blacksquare|square|Box|qed)\\\)|[∎■]|\bQ\.?E\.?D\b\.?|\bquod erat (?:demonstrandum|faciendum)\.?)(?=\s*(?:\n|$))/gi

/** Statements of confidence after an answer, if the stated confidence is at least 50 %. */
const confidence =
  /(?<=\S)\s*\n[\s*_>-]*(?:overall |my )?(?:confidence|certainty)(?: level| score)?[*_]*\s*[:=][*_\s]*(?:very |quite |fairly )?(?:high|full|certain|complete|medium|moderate|(?:0?\.[5-9]\d*|1(?:\.0+)?|(?:[5-9]\d|100)(?:\.\d+)?\s?%|[6-9](?:\.\d+)?\s?\/\s?10|10\s?\/\s?10|[45]\s?\/\s?5)(?![\d.]))[^\n\d]{0,20}$/i

/**
 * Removes trailing text that is not meant for the reader: end-of-turn markers, and the hope that the answer is correct.
 */
const withoutTail = (text: string): string =>
  text
    .replace(/(?<=\S)\s*<\|[\s\S]*$/, "")
    .replace(confidence, "")
    .replace(/(?<![^\n])([^\n]{1,80}?)\s*(?:←|<-+|⟵)\s*(?:the |my |our )?(?:final )?answer\W*(?=\n|$)/gi, "Answer: $1")
    .replace(/(?<=\S)\s*(?:(?![✗✘❌✖❎🚫⛔👎🤔🤷❓❔⁉😅😬🙃\d#*])\p{Emoji}\uFE0F?|✓)+\s*$/u, "")
    .replace(/(?<=\S)\s+I hope (?:it|this|that)\b[^.\n]{0,40}\.?$/i, "")

/** Removes a mark at the end of a proof. Only the last characters are searched, because the mark is short. */
const withoutEndMark = (written: string): string => {
  const text = written.replace(endMarkWithin, "")
  const from = Math.max(0, text.length - 60)
  const cut = text.slice(0, from) + text.slice(from).replace(endMark, "")
  const isOpen = cut !== text && (cut.match(/(?<!\\)\$/g)?.length ?? 0) % 2 === 1
  return isOpen ? `${cut}$` : cut
}

const zeros = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0xff10]

const display = /\\(begin|end)\{(?:equation|displaymath|align|gather|multline|flalign|eqnarray)\*?\}/g

const heading = new RegExp(
  `(?<![^\\n ])\\\\(?:text(?:bf|it|sc|sf)|emph|underline|(?:sub)*(?:section|paragraph)\\*?)\\{\\s*((?:the )?(?:final )?(?:${answerWords}|${resultWords}|solution|result)(?: \\p{L}+)?)\\s*[.:]?\\s*\\}\\s*[.:]?`,
  "giu"
)

/** A label in brackets or in the title of a block: "(Answer) 5", "【答案】5", "[Final Answer]: 5", ":::tip Answer". */
const framed = new RegExp(
  `(?<![^\\n]) {0,3}(?:(?:\\[(?=[^\\]\\n]*\\]:)|[(【«「『])\\s*(?:final )?(?:${answerWords}|${joinedWords})\\s*[\\])】»」』]|:::\\w+\\s+(?:final )?answer\\s)\\s*[:：]?\\s*`,
  "giu"
)

/** A label in a second language, or a remark on the form, between a label and its colon: "Answer (答え):", "答案 / Answer:". */
const gloss = new RegExp(
  `(?<=\\p{L}\\s?)[(（/]\\s*(?:final )?(?:${answerWords}|${joinedWords}|${resultWords}|exact|simplified|boxed)\\s*[)）]?(?=[*_]{0,3}\\s*[:：])`,
  "giu"
)

/** A dollar sign that would otherwise start a formula of words: "$5 per day and $20 in total". */
const price =
  /(?<![\\$\w])\$(?=\d[\d,.]*(?: [^$\n\\]{0,80}[a-zA-Z]{3}[^$\n\\]{0,80}| ?[=+−–×÷*/-] ?| ?[+−–×÷*/-][^$\n\\]{0,40}= ?)\*{0,2}\$\d)/g

const entities: Readonly<Record<string, string>> = {
  nbsp: " ",
  times: "×",
  minus: "−",
  le: "≤",
  ge: "≥",
  lt: "<",
  gt: ">",
  deg: "°",
  pi: "π",
  radic: "√",
  plusmn: "±",
  ndash: "–",
  frac12: "½",
  amp: "&"
}

/** Converts HTML to Markdown. Only tags that are closed are markup; the others may be inequalities. */
const withoutHtml = (text: string): string =>
  text
    .replace(/<(sup|sub)>([^<]{1,60})<\/\1>/gi, (_, side: string, said) => `${/p$/i.test(side) ? "^" : "_"}{${said}}`)
    .replace(
      /<\/?(?:assistant|ai|bot|model|message|text|content|final_?(?:response|output)|reply|main|body|center|font|math)(?:\s[^<>\n]{0,60})?>/gi,
      "\n"
    )
    .replace(/<\/?(?:b|strong)>/gi, "**")
    .replace(/<h[1-6][^<>]{0,60}>([^<]{1,200})<\/h[1-6]>/gi, "\n**$1**\n")
    .replace(
      /<(?:br|hr)\s*\/?>|<\/(?:p|div|li|ul|ol|tr|table|section|solution|output|response|tool_call|function_calls|invoke|mark)>/gi,
      "\n"
    )
    .replace(
      /<\/?(?:i|em|u|p|span|div|li|ul|ol|t[rdh]|table|tbody|thead|code|section|solution|output|response|tool_call|function_calls|invoke|mark)(?:\s[^<>]{0,80})?>/gi,
      " "
    )
    .replace(/&(\w{2,6});/g, (all, name: string) => entities[name] ?? all)
    .trim()

/** Letters and relations with other code points for the same meaning. */
const alike: Readonly<Record<string, string>> = {
  "⩾": "≥",
  "≧": "≥",
  "⩽": "≤",
  "≦": "≤",
  "⟨": "(",
  "⟩": ")",
  ⁿ: "^{n}",
  ˣ: "^{x}",
  ᵏ: "^{k}",
  ᵐ: "^{m}",
  ⁱ: "^{i}",
  ᵗ: "^{t}",
  ₙ: "_{n}",
  ₖ: "_{k}"
}

/** Symbols of units in Cyrillic. */
const cyrillicUnits: Readonly<Record<string, string>> = {
  км: "km",
  м: "m",
  см: "cm",
  мм: "mm",
  кг: "kg",
  г: "g",
  л: "L",
  ч: "h",
  мин: "min",
  с: "s"
}

const symbols = Object.keys(cyrillicUnits).join("|")

const cyrillicUnit = new RegExp(`(?<=\\d\\s?)(${symbols})(?:/(${symbols}))?(?=[²³.,;!?\\s]|$)`, "gu")

const inLatinUnits = (text: string): string =>
  text.replace(cyrillicUnit, (_, unit: string, per: string | undefined) =>
    [unit, per].flatMap((symbol) => cyrillicUnits[symbol ?? ""] ?? []).join("/")
  )

/** Converts raised digits to an exponent: "5¹²" to "5^{12}". */
const inExponent = (digits: string): string =>
  `^{${[...digits].map((one) => (one === "⁻" ? "-" : "⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(one))).join("")}}`

/** Greek, whose question mark looks like a semicolon. */
const greek = /\p{Script=Greek}{3}/u

const inQuotation = /^(?: {0,3}>[^\n]*(?:\n|$)){2,}$/

/** Symbols such as emojis, stars and bullets. */
const ornament = String.raw`(?:(?![°℃℉])[\p{So}\uFE0F•‣])`

/** Labels of a summary: "TL;DR: 5", "Bottom line: 5", "In short — the answer is 5". */
const summary =
  /(?<=^|\n)[ \t*_]*(?:tl;?\s?dr|bottom line|short version|in a nutshell)[*_]*\s*[:;,—–-]+[*_]*[ \t]*(?=(?:the answer is )?[$*_]*[-−]?[\d$\\])/gi

const ornamented = new RegExp(
  `(?<=^|\\n)[ \\t]*${ornament}+[ \\t]*(?=[*_]*(?:the |my |our )?(?:final|correct|answer|ans|result)\\b)`,
  "giu"
)

/** A label with other marks than a colon behind it: "★ Answer ★ 5", "Answer » 5", "Answer | 5". */
const ornate = new RegExp(
  `(?<=^|\\n)([ \\t]*(?:the |my |our )?(?:final |correct )?(?:answer|ans|result))(?:[ \\t]*(?:(?:${ornament}|[»›])+|:=|\\.{3}|[;|](?=[ \\t])|(?=≈))[ \\t]*|\\t+(?=\\S))(?=[^|\\n]+(?:\\n|$))`,
  "giu"
)

/** Quotation marks and brackets that do not occur in formulas. */
const quotations =
  /^(?:«([^«»]+)»|“([^“”]+)”|"([^"]+)"|‘([^‘’]+)’|'([^']+)'|「([^」]+)」|『([^』]+)』|【([^】]+)】|‹([^›]+)›|`([^`]+)`|==([^=]+)==|__([^_]+)__|<([^<>]+)>|\{(?:final )?answer: ([^{}]+)\})[.。]?$/iu

/** Lines of marks at both ends: "=== 5 ===", ">>> 5 <<<", "⭐ 5 ⭐". */
const ornaments = new RegExp(
  `^(?:([=*#~>_-])\\1+\\s*|${ornament}+\\s*)|(?:\\s*([=*#~<_])\\2+|\\s*${ornament}+|\\s\\*/)$`,
  "gu"
)

/** Numbers separated by semicolons. */
const semicolons = /^[-−]?\d[\d./]*(?:;\s*[-−]?\d[\d./]*)+$/

/** Writes out a negative number and a Chinese numeral. */
const writtenOut = (value: string): string =>
  /^[零〇一二两三四五六七八九十百千万億亿]{2,}$/.test(value)
    ? `${ofChinese(value)}`
    : value.replace(/^(?:minus|negative) (?=\d)/i, "-")

/** Returns a value with commas between numbers, and a mixed number without "and". */
const withSeparators = (given: string): string => {
  const value = writtenOut(given)
  return semicolons.test(value) ? value.replaceAll(";", ",") : value.replace(/^([-−]?\d+) and (?=\d+\/\d+$)/, "$1 ")
}

/** Removes quotation marks, brackets and ornaments around a value. */
const withoutOrnaments = (said: string): string => {
  if (said.length > 200) return said
  const text = said.trim()
  const quoted = quotations
    .exec(text)
    ?.slice(1)
    .find((one) => one !== undefined)
  if (quoted !== undefined) return withoutOrnaments(quoted)
  const bare = text.replace(ornaments, "")
  return bare === text || !/[\p{L}\p{N}]/u.test(bare) ? said : withoutOrnaments(bare)
}

/** Environments for text that the author of a solution writes. */
const environment =
  /\s*\\(?:begin|end)\{(?:center|tcolorbox|mdframed|framed|shaded|solution|proof|minipage|document|flushleft|flushright|quote|itemize|enumerate)\*?\}(?:\[[^\]\n]{0,40}\]|\{[^{}\n]{0,20}\})?\s*/g

const scales: Readonly<Record<string, number>> = {
  lakh: 5,
  crore: 7,
  万: 4,
  萬: 4,
  亿: 8,
  億: 8,
  만: 4,
  억: 8,
  mio: 6,
  mrd: 9,
  k: 3
}

/** A number with the name of a scale in another language: "360 lakh", "450万", "8,1 Mio.". */
const scaled =
  /(?<![\d.,])(\d+(?:[.,]\d{1,2})?)(?:\s?(lakh|crore|Mio|Mrd)s?(?!\p{L})\.?|([万萬亿億만억])(?![\d零一二三四五六七八九千百十])|(k)(?=\s(?:dollars|people|euros)))/giu

/** Normalizes digits to ASCII, and converts LaTeX displays and headings to Markdown. */
const inPlainSigns = (written: string): string => {
  const text = greek.test(written)
    ? written.replace(/(?<=\p{Script=Greek}(?:[^;.!\n]|\.(?=\d)){0,200});(?=\s*$|\s+\p{Lu})/gu, "?")
    : written
  const digits = /[\u0660-\uff19]/.test(text)
    ? text.replace(/[٠-٩۰-۹०-९০-৯๐-๙０-９]/g, (digit) => {
        const code = digit.codePointAt(0)!
        return `${code - zeros.findLast((zero) => zero <= code)!}`
      })
    : text
  const whole = /lakh|crore|mi?o|mrd|[万萬亿億만억]|\dk |ent/i.test(digits)
    ? digits
        .replace(
          scaled,
          (_, number: string, one: string, two: string, three: string) =>
            `${Math.round(Number(number.replace(",", ".")) * 10 ** scales[(one ?? two ?? three).toLowerCase()]!)}`
        )
        .replace(/(?<=\d)\s?(?:per cent|por ciento|pour cent|por cento|per cento)(?!\p{L})/giu, "%")
    : digits
  const units = /\p{Script=Cyrillic}/u.test(whole) ? inLatinUnits(whole) : whole
  const marked = /<\/|<br|&\w+;/i.test(units) ? withoutHtml(units) : units
  const quoted = inQuotation.test(marked) ? marked.replace(/^ {0,3}>[ \t]?/gm, "") : marked
  const glossed = /[)）\p{L}][*_]{0,3}\s*[:：]/u.test(quoted) ? quoted.replace(gloss, "") : quoted
  const clear = /(?:ans(?:wer)?|result|final)/i.test(glossed)
    ? glossed.replace(ornamented, "").replace(ornate, "$1: ")
    : glossed
  const summed = /dr\b|bottom|short|nutshell/i.test(clear)
    ? clear.replace(summary, "Answer: ").replace(/Answer: the answer is /i, "Answer: ")
    : clear
  const unframed = /(?:^|\n) {0,3}(?:[[(【«「『]|:::)/.test(summed) ? summed.replace(framed, "Answer: ") : summed
  const bare = unframed
    .replace(/[⩾≧⩽≦⟨⟩ⁿˣᵏᵐⁱᵗₙₖ]/g, (sign) => alike[sign]!)
    .replace(/\n[ \t]*\n[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*(?=\n)/g, "\n")
    .replace(/(?<=\n|^)[ \t]*(?:"""|''')[ \t]*(?=\n|$)/g, "")
    .replace(
      /(?<=^|\n)[ \t*_]*(?:question|problem|exercise|task|aufgabe|exercice|ejercicio|esercizio)\s#?\d{1,3}[a-z]?\s?[:)][*_]*[ \t]+(?=\S)/gi,
      ""
    )
    .replace(/(?<=\bfinal)_?(?=answer\s*[:=])/gi, " ")
    .replace(/\*\*\*(?=\S)([^*\n]+)\*\*\*/g, "**$1**")
    .replace(/(?<![^\n]) {0,3}(?:> ?\[!\w+\]|:::[ \t]*(?=\n|$))[^\n]*\n?/g, "")
    .replace(/\^\(([-−]?\w{1,6})\)/g, "^{$1}")
    .replace(/(?<![a-zA-Z])P\([^()=]{2,30}\)(?=\s*[=≈])/g, "P")
    .replace(/(?<=\d)⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+(?![⁄/])/g, inExponent)
    .replace(/(?<=\d\.\d+)(?:\.{3}|…)/g, "\\ldots ")
    .replace(/(?<!\p{L})(?:Rp\.?|R\\?\$|Rs\.?)\s?(\d[\d.,]*)/gu, (_, digits: string) =>
      digits.replace(/\.(?=\d{3}(?!\d))/g, "")
    )
  const priced = bare.includes("$") ? bare.replace(price, "") : bare
  if (!priced.includes("\\")) return priced
  return priced
    .replace(/\\(?:colorbox\s*\{[^{}]{0,40}\}|fcolorbox\s*\{[^{}]{0,40}\}\s*\{[^{}]{0,40}\})\s*(?=\{)/g, "\\boxed")
    .replace(/\\begin\{array\}\{[rcl]{3}\}([\s\S]{1,2000}?)\\end\{array\}/g, (all, rows: string) =>
      /&\s*=\s*&/.test(rows) ? `\\[${rows.replace(/&\s*=\s*&/g, "=")}\\]` : all
    )
    .replace(/\\\[[\s\S]{1,2000}?\\\]|\$\$[\s\S]{1,2000}?\$\$/g, (formula) =>
      formula.includes("\\\\") ? formula : formula.replaceAll("\n", " ")
    )
    .replace(
      /(?:\\q?quad|\\hfill)?\s*\\(?:blacksquare|square|Box|qed(?:here|symbol)?)(?![a-zA-Z])\s*(?=\\\]|\$\$)/g,
      ""
    )
    .replace(/\\(?:noindent|displaystyle|par|medskip|bigskip|smallskip)(?![a-zA-Z])\s*/g, "")
    .replace(
      /(?<=\\\[|\$\$?)\s*\\(?:text|textbf|mathrm|mathbf|textit)\s*\{\s*((?:the )?(?:final )?(?:answer|ans|result|solution)(?: is)?)\s*:?\s*\}\s*[:=]?/gi,
      (_, said: string, at: number, all: string) =>
        `${all.startsWith("\\[", at - 2) ? "\\]" : all.slice(Math.max(0, at - 2), at) === "$$" ? "$$" : "$"}${said}: ${all.startsWith("\\[", at - 2) ? "\\[" : all.slice(Math.max(0, at - 2), at) === "$$" ? "$$" : "$"}`
    )
    .replace(/\\\[\s*\\\]|\$\$\s*\$\$(?=(?:the )?(?:final )?(?:answer|ans|result|solution))/gi, "")
    .replace(environment, "\n")
    .replace(/\{\\(?:bf|it|sc|bfseries|itshape|Large|large)(?![a-zA-Z])\s*([^{}\n]{1,80})\}/g, "\\textbf{$1}")
    .replace(/\\textcolor\s*\{[^{}]{1,20}\}\s*\{([^{}]{1,200})\}/g, "$1")
    .replace(
      /(?<=\\f?box(?:ed)?\s*\{\s*)\\(?:text|textbf|mathrm|mathbf)\s*\{\s*(?:(?:the )?(?:final )?(?:answer|ans|result)(?: is)?\.?\s*[:=]?)\s*\}\s*[:=]?/gi,
      ""
    )
    .replace(/\\text(?:bf|it)\s*\{(\$[^$\n]+\$)\}/g, "$1")
    .replace(/(?<=^|\n)\s*\\item(?![a-zA-Z])(?:\[[^[\]\n]{0,20}\])?\s*/g, "")
    .replace(/\\(begin|end)\{answer\}/g, (_, side) => (side === "begin" ? "<answer>" : "</answer>"))
    .replace(display, (_, side) => (side === "begin" ? "\\[" : "\\]"))
    .replace(heading, "$1: ")
}

/** Removes calls and commands in inline code, whose numbers are not the answer: "`submit --answer 42`". */
const withoutCommands = (text: string): string =>
  text.includes("`")
    ? text.replace(/(?<!`)`(?![^`\n]*[=:])(?=[^`\n]*\p{L}{2,}[ (][^`\n]*\d)[^`\n]+`(?!`)/gu, "□")
    : text

/** A fence around the value that a label announces: "The final answer is:", followed by a block. */
const fencedValue = new RegExp(
  `((?:${answerWords}|${joinedWords}|${resultWords}|value)[^\\n]{0,40}?[:：][*_]*\\s*\\n\\s*)(?:\`\`\`|~~~)\\w*\\n([^\`~\\n]{1,200})\\n(?:\`\`\`|~~~)`,
  "giu"
)

/** Removes the fence around a text. */
const withoutFence = (text: string): string =>
  /^(?:```|~~~)\w*\n([^`]*)\n(?:```|~~~)$/.exec(text)?.[1] ??
  (/```|~~~/.test(text) ? text.replace(fencedValue, "$1$2") : text)

/** Start of a sentence that states a number in words: "So the number of triangles is four". */
const statement =
  /(?:^[\s*_]*|\b(?:is|are|equals|to be|(?:we|i) (?:get|find|have|obtain)|has|contains|takes?|needs?|costs?|leaves?|runs?|walks?|earns?|gets?|makes?|answer|total|result)(?: (?:exactly|precisely|just|therefore|thus|a total of))?\s*[:*_]*\s*)$/i

/** A predicate at the end of a sentence that contains other numbers: "The remainder of its division by 9 is four". */
const stating = /(\b(?:is|are|equals|leaves)\s+)([a-z][a-z -]{2,60}?)([.!]?)$/

/** Converts number words in the last sentence to digits, if the sentence states a single number. */
const withNumerals = (text: string): string => {
  const last = lastSentence(text)
  if (last === undefined || last.length > 300) return text
  if (/[\d$\\]/.test(last)) {
    const ended = last.replace(stating, (all, before, words, after) =>
      /^\d/.test(numeralOf(words)) ? `${before}${numeralOf(words)}${after}` : all
    )
    return ended === last ? text : text.slice(0, text.lastIndexOf(last)) + ended
  }
  const digits = withDigits(last)
  const numbers = [...digits.matchAll(/\d+/g)]
  if (numbers.length === 0 || numbers.length > 2 || !statement.test(digits.slice(0, numbers[0]!.index))) return text
  const at = text.lastIndexOf(last)
  return text.slice(0, at) + digits + text.slice(at + last.length)
}

const chance =
  /\b(one|two|three|four|five|six|seven|eight|nine) (?:in|out of) (two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)(?= (?:chance|probability)\b)/gi

const ratio =
  /(\bratio\b[^.\n]{0,80}?\b(?:is|equals|be)(?: exactly)?[\s*]+)(\d+(?:\.\d+)?) to (\d+(?:\.\d+)?)(?=[*.!]*\s*$)/i

/** Normalizes numbers as written in prose: "two to the tenth", "2 to 3", "1 million", "10⁻⁵". */
const withPlainNumbers = (text: string): string =>
  withScales(
    withMixed(withNumerals(text.replace(chance, (_, top, bottom) => `${withDigits(top)}/${withDigits(bottom)}`)))
  )
    .replace(/(?<=\d) ?([½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])/g, (_, part: string) => ` ${part.normalize("NFKD").replace("\u2044", "/")}`)
    .replace(ratio, "$1$2:$3")

/** Extracts an answer in words: "The function is even.", "Yes, since both are." */
const inWords = (text: string): string | undefined => {
  const found = withWordAnswer(text)
  if (found === undefined) return undefined
  const plain = masked(found.text, [found])
  return isAsserted(plain, found) && !isRetracted(plain, found.end) ? found.content : undefined
}

const assignment = /^[\s*_$&•-]*([a-zA-Z](?:_\d)?)\s*=\s*([^=\n]{1,60}?)[\s*_$,.;]*$/

/** Returns the values of several unknowns on the last lines, one per line. */
const assigned = (text: string): string | undefined => {
  const names: Array<string> = []
  const values: Array<string> = []
  for (const line of text.split("\n", 400).toReversed()) {
    const found = assignment.exec(line.replace(/\\[()[\]]/g, ""))
    if (found === null || words(found[2]!) > 0) break
    if (names.includes(found[1]!) && !(names.every((name) => name === found[1]) && /^\s*[-•*]\s/.test(line))) break
    names.unshift(found[1]!)
    values.unshift(`${found[1]} = ${found[2]}`)
  }
  return names.length > 1 ? values.join(", ") : undefined
}

/** A unit in words after a number. It belongs to the sentence that states the number. */
const unitAtEnd = /(?<=^[-−]?\d[\d.,]*)\s+\p{L}+$/u

/** A short lead-in of a calculation, which names what is calculated: "Gesamtzahl der Fische: 19 + 13 = 32". */
const naming =
  /^[\s*_>•-]*(?:\d+[.)]\s)?\p{L}[\p{L}\p{M}'’-]*(?:\s\p{L}[\p{L}\p{M}'’-]*){0,7}(?:\*\*)?\s?[:：=](?:\*\*)?\s*$/u

/** Extracts the result of a calculation with words that ends the last sentence with a value, if the text asserts it. */
const calculated = (text: string): string | undefined => {
  const said = text.slice(0, lastValueEnd(text))
  const last = lastSentence(said)
  const found = last === undefined ? undefined : calculationIn(last)
  if (found === undefined) return undefined
  const from = said.lastIndexOf(last!)
  const before = text.slice(0, from + found.start)
  const lead = last!.slice(0, found.start)
  const rest = text.slice(from + found.end)
  // The sentence without the calculation must not deny its result, whose words may include a denial.
  const short = `${before}${found.result}${rest}`
  const number = { start: before.length, end: before.length + /^.*\d/.exec(found.result)![0].length }
  if (!isUndenied(masked(short, [number]), number)) return undefined
  const isNamed = naming.test(lead) && !isCheck(lead)
  const span = { start: isNamed ? from : from + found.start, end: from + found.end }
  const plain = masked(text, [span])
  const isHeld = isAsserted(plain, span) || (/\p{L}/u.test(lead) && isAsserted(masked(short, [number]), number))
  return isHeld && !isRetracted(plain, span.end) ? found.content : undefined
}

/** Extracts the answer from prose without marks, if the last sentence with a value asserts it. */
const inProse = (written: string): string | undefined => {
  const result = calculated(written)
  if (result !== undefined) return result
  const text = withPlainNumbers(written)
  if (/^\W*(?:true|false)\b\s*[.:;,—–]/i.test(text)) return inWords(text)
  if (isCut(text)) return undefined
  const said = text.slice(0, lastValueEnd(text))
  if (isInstruction(lastSentence(said) ?? "")) return undefined
  const concluded = conclusion(said, said.length === text.length)
  const last = lastSentence(said)?.replace(/\b(?:over|under|between)\b(?![^,.]{0,14}[\d$\\])/gi, " ") ?? ""
  const isPlain = concluded !== undefined && !hedge.test(last) && !foreignHedge.test(last)
  const prose = concluded?.isMarked || functional.test(concluded?.content ?? "") ? undefined : asserted(said)
  const isRounded = prose?.startsWith("≈") && concluded !== undefined && !prose.endsWith(concluded.content)
  const found =
    concluded?.isMarked || isRounded ? concluded.content : (prose ?? (isPlain ? concluded.content : undefined))
  if (found === undefined) return inWords(text)
  const content = found.replace(/^≈ /, "").replace(/ \\text\{.*\}$/, "")
  const inBold = said.lastIndexOf(`**${content}**`)
  const at = inBold === -1 ? said.lastIndexOf(content) : inBold + 2
  const start = found === concluded?.content ? concluded.start : at
  if (start === -1) return said.length === text.length ? found : undefined
  const end = found === concluded?.content ? concluded.end : start + content.length
  const isWithin = inBold === -1 && /\p{L}/u.test(text.slice(text.slice(0, start).lastIndexOf("\n") + 1, start))
  const span = { start, end: end - (isWithin ? (unitAtEnd.exec(text.slice(start, end))?.[0].length ?? 0) : 0) }
  const plain = masked(text, [span])
  if (!isAsserted(plain, span)) return inWords(text)
  return said.length < text.length && isRetracted(plain, span.end) ? undefined : found
}

/** A relation or function value in a conclusion, from which prose extraction may only pick the number. */
const functional = /[<>≤≥≠]|\^\{?[a-z]|(?<!\p{L})(?:arc)?(?:ln|log|exp|sin|cos|tan|cot|sec|csc)(?!\p{L})/u

const joinedScript = /(?:\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Hangul}|\p{Script=Thai}){2}/u

/** Whether a text is in a script without spaces between words and contains a value. */
const isJoined = (text: string): boolean => joinedScript.test(text) && /[\d$\\]/.test(text)

/** Removes a leading symbol from a text that is otherwise only a value: "= 15", "~15". */
const withoutSign = (text: string): string =>
  (/[⟹⇒⟺⇔]|\\implies|\\iff|\\(?:Right|Leftright)arrow/.test(text) && words(text) === 0
    ? text.replace(/^[^\n]*(?:[⟹⇒⟺⇔]|\\(?:implies|iff|Rightarrow|Leftrightarrow)(?![a-z]))\s*(?=[^\s$])/, "")
    : text
  )
    .replace(/^~[^~\n]{1,40}~\s*(?:→|->|=>)?\s*(?=[-\d])/, "")
    .replace(/^=\s*(?=[^\s>=])/, "")
    .replace(/^~\s*(?=\d)/, "≈ ")

const approximately = /^(?:about|around|almost|nearly|approximately|approx\.?|roughly)\s+/i

/** Returns the value in a labeled sentence, if the sentence does not deny it. */
const inSentence = (text: string): string | undefined => {
  if (/^\W*(?:no|not|none|nothing|never)\b/i.test(text)) return undefined
  const found = conclusion(text, true)
  return found !== undefined && isUndenied(masked(text, [found]), found) ? found.content : undefined
}

/** Words that change the value of a number next to them: names of functions and constants, scales and operators. */
const operating =
  /(?<!\p{L})(?:arc\p{L}*|pi|sqrt|root|log|ln|exp|sinh?|cosh?|tanh?|cot|sec|csc|mod|base|over|times|plus|minus|negative|squared|cubed|factorial|choose|inf\p{L}*|half|halves|thirds?|quarters?|(?:four|fif|six|seven|eigh|nin|ten|hundred|thousand)ths?|dozen|hundred|thousand|mil|mill?i\p{L}+|bill?i\p{L}+|trillion|crore|lakh|mille|tausend|tysięcy|tisíc|ribu|juta|bin|nghìn|triệu|elfu|laki|hazaar|not|no)(?!\p{L})/iu

/** Returns the only number in a labeled sentence, if the sentence does not deny it: "La familia tiene ahora 40 gatos". */
const onlyAmount = (text: string): string | undefined => {
  const numbers = [...text.matchAll(/(?<![\p{L}\d.,^_/])[-−]?[$€£¥₹]?\d(?:[\d.,]*\d)?(?![\d^/a-zA-Z]|[.,]\d)/gu)]
  const found = numbers[0]
  if (found === undefined || numbers.length > 1 || text.match(/\d+/g)!.length > 3) return undefined
  if (/[\\=<>≤≥≈+*^√∛π∞]|\p{L}\(|[.!?…,;:—–]+\s*\p{L}/u.test(text) || operating.test(text)) return undefined
  const span = { start: found.index, end: found.index + found[0].length }
  const behind = text.slice(span.end)
  if (!/^[\p{L}\p{M}\p{Cf}\s'’.।%$€£¥₹-]*$/u.test(behind) || objects(behind) || opinion(text)) return undefined
  if (about.test(text) || hedge.test(text) || foreignHedge.test(text)) return undefined
  if (/^\s*(?:보다|より|比)/.test(behind) || scaling.test(behind.trimStart()) || !/(?:\p{L}\p{M}*){3}/u.test(text))
    return undefined
  if (!isUndenied(masked(text, [span]), span)) return undefined
  return withLetterUnit(found[0] + unitBehind(behind))
}

/** Whether a short text with a number only mentions it: "Suppose that x = 10". */
const isMention = (text: string): boolean => {
  if (words(text) === 0 || text.includes("\\begin")) return false
  const end = text.search(/\d\D*$/) + 1
  const word = [...text.slice(0, end).matchAll(/\p{L}{2,}/gu)].at(-1)
  if (word === undefined) return isDeniedAbroad(text, text.slice(end))
  const span = { start: word.index + word[0].length, end }
  return !isUndenied(masked(text, [span]), span)
}

/** Extracts the answer from the text after a label: a value, or prose that states one. */
const fromLabel = (content: string): string => {
  const result = calculationIn(content)
  if (result !== undefined && !/\p{L}/u.test(content.slice(0, result.start))) return result.content
  const plain = plainValue(content)
  const isProse =
    (words(plain) > 1 || isJoined(plain)) && /^(?:[^$\\]*\p{L}{2,}[^$\\]*[\d$]|.*(?:\p{L}{2,}\W+){3})/u.test(plain)
  return counted((isProse ? (inSentence(plain) ?? inProse(plain)) : undefined) ?? onlyAmount(plain) ?? plain).replace(
    approximately,
    "≈ "
  )
}

/** A value with another notation for it in parentheses: "1/2 (or 0.5)". */
const restated = /^([^()]{1,80}?)\s*\((?:or|i\.e\.,?|=) ([^()]{1,80})\)$/

/** Returns the value of a claim. */
const valueIn = ({ content, isMark }: Claim): string => {
  const value = isMark ? fromMark(content) : fromLabel(content)
  const [, first, second] = restated.exec(value) ?? []
  return first !== undefined && isSame(first, second!) ? first : value
}

/** Extracts the answer from a box or tags: the content, or the value that a sentence in it states. */
const fromMark = (content: string): string => (isSentence(content) ? (inSentence(content) ?? content) : content)

/**
 * Returns the final answer in a text, verbatim, or `undefined` if the text does not contain one.
 *
 * **Details**
 *
 * Uses the first of these: the last asserted `\boxed{…}` (with balanced braces), `<answer>…</answer>` or `{"answer":
 * …}`, unless a later sentence states another answer; the text after the last "the answer is", "Answer:" or "####"; the
 * whole text, if it is a formula or a few words; the last formula; the only number in the last sentence. After "about",
 * the answer starts with `≈`. If two different answers are asserted, there is no answer.
 *
 * **Example**
 *
 * ```ts
 * import { MathAnswer } from "@divisi/graders/math"
 *
 * MathAnswer.extract("So there are $\\boxed{\\frac{1}{2}}$ of them.") // => "\\frac{1}{2}"
 * MathAnswer.extract("Hence the answer is 42. I hope it helps.") // => "42"
 * MathAnswer.extract("Is it \\boxed{7}? I doubt it.") // => undefined
 * ```
 */
export const extract = (text: string): string | undefined => {
  const found = find(text)
  return "answer" in found ? found.answer : undefined
}

/**
 * Like {@link extract}, but returns the reason if a text has no answer.
 *
 * @internal
 */
export const find = (text: string): { readonly answer: string } | Absence => {
  const said = visible(text)
  const found = search(said)
  if (typeof found === "string") return { answer: withSeparators(withoutOrnaments(found)) }
  return found ?? absenceIn(said)
}

/** Returns the text without reasoning, checks and markup that does not matter. */
const visible = (text: string): string =>
  withoutChecks(
    withoutSign(
      withoutContrast(
        withoutFence(
          withoutEndMark(withoutTail(inPlainSigns(withoutStruck(withoutCommands(withKnownSpellings(spoken(text)))))))
        )
      )
    )
  )

/** Returns why prose has no answer. */
const absenceIn = (said: string): Absence => {
  const stated = conclusion(said.slice(0, lastValueEnd(said)), false)
  if (stated === undefined) return { kind: "none", quotes: [] }
  const plain = masked(said, [stated])
  return isAsserted(plain, stated) && isRetracted(plain, stated.end)
    ? retracted(stated.content, said.slice(stated.end))
    : { kind: "unasserted", quotes: [quote(stated.content)] }
}

/** A value on the first line, whose explanation follows in a paragraph of its own. */
const headed =
  /^\s*(?:\*\*([^*\n]{1,60})\*\*[.!]?|(\$[^$\n]{1,80}\$|[-−]?[$€£¥]?\d[\d.,/]*(?:\s?[%°]|\s\p{L}+)?))[.!]?\s*\n\s*\n?[*_]*(?:\(|(?:why|because|reason(?:ing)?|explanation|proof|justification|working|work|solution|steps?|details?|derivation|here['’]?s (?:how|why)|how|since|to see (?:this|why|it)|method)(?!\p{L}))/iu

/** Returns a value before its explanation: "**115**", "Why: …". */
const headline = (said: string): string | undefined => {
  const found = headed.exec(said)
  const value = found?.[1] ?? found?.[2]
  if (value === undefined || !/\d/.test(value)) return undefined
  const plain = masked(said, [{ start: 0, end: value.length }])
  return isTakenBack(plain, found![0].length) ? undefined : plainValue(value.replace(/[.!]$/, ""))
}

/** A formula in plain text, or a time of day. */
const bareFormula =
  /^(?=.*[\dπ])(?:\p{L}\s?=\s?)?(?:sqrt|cbrt|pi|exp|ln|log|sin|cos|tan|\d[\d.,]*|[a-zA-Z](?![a-zA-Z])|[-−+*/^()√π·×⁰¹²³⁴⁵⁶⁷⁸⁹ ])+(?:\s?[AP]M)?$/u

/** Returns a formula in plain text that is alone on the last line. */
const bareLine = (said: string): string | undefined => {
  const at = said.trimEnd().lastIndexOf("\n") + 1
  const content = said.slice(at).trim()
  const isFormula = content.length < 80 && /sqrt|[*^/π]|[AP]M$|^\p{L} ?=/u.test(content) && bareFormula.test(content)
  if (at === 0 || !isFormula) return undefined
  const start = said.indexOf(content, at)
  const span = { start, end: start + content.length }
  return isAsserted(masked(said, [span]), span) ? content : undefined
}

const search = (said: string): string | Absence | undefined => {
  const { claims, mentions, plain } = read(said)
  const marks = claims.some(({ isMark }) => isMark)
  const clear = claims.filter((one) => one.isMark || isClear(said, one))
  if (marks || clear.length > 0) {
    const found = decided(said, plain, clear)
    if ("kind" in found) return found
    const denied = mentions.find((one) => one.start >= found.end && isSame(one.content, found.content))
    if (denied !== undefined) return retracted(found.content, said.slice(found.end))
    return valueIn(found)
  }
  const unclear = claims.at(-1)
  if (unclear !== undefined) {
    return isRetracted(plain, unclear.end) ? retracted(unclear.content, said.slice(unclear.end)) : valueIn(unclear)
  }
  const mentioned = mentions.reduce((most, { end }) => Math.max(most, end), 0)
  // Mentioned answers do not count, but the text after them may contain an answer.
  const rest =
    mentioned === 0
      ? said
      : said
          .slice(mentioned)
          .replace(/^[^\n.!?。]*[.!?。]?/, "")
          .trim()
  const last = mentions.at(-1)
  if (last !== undefined) {
    const found = rest === "" ? undefined : inProse(rest)
    const isNew = found !== undefined && !mentions.some(({ content }) => isSame(content, found))
    return isNew ? found : { kind: "unasserted", quotes: [quote(last.content)] }
  }
  if (rest === "") return undefined
  const first = headline(said)
  if (first !== undefined) return first
  const several = assigned(said)
  const line = several === undefined ? bareLine(said) : undefined
  if (line !== undefined) return line
  const result = calculated(said)
  if (result !== undefined) return result
  if (several !== undefined) return several
  if (words(said) > 3 || said.includes("**") || /(?:so|thus|hence|therefore),? \$[^$\n]+\$\.?$/i.test(said))
    return inProse(said)
  if (words(said) <= 3 && said.includes("\n") && !said.includes("\\[") && !said.includes("$$")) {
    const last = lastSentence(said)!
    const found = /\d/.test(last) ? /=\s*([^=\n]{1,80})$/.exec(last)?.[1] : undefined
    if (found !== undefined) return found
  }
  if (
    words(said) > 1 ||
    /\s(?:is|are|equals|means|hence|so|thus|therefore)\s|\n|[\u0370-\u0dff]{2}|[\u0400-\u0dff]/.test(said)
  ) {
    const found = inProse(said)
    if (found !== undefined) return found
  }
  const prose = isSentence(said) || isJoined(said) ? inProse(said) : undefined
  if (prose !== undefined) return prose
  const value = plainValue(said)
  return value === said && isMention(said) ? undefined : withLetterUnit(value)
}

const wordLabel = new RegExp(`^[\\s\\S]*(?<!\\p{L})(?:${answerWords}|${joinedWords})\\p{L}{0,4}[*_]*\\s*[:：]`, "iu")

/** Returns a name at the start of a text, or after its last label. */
const firstName = (said: string, english: string): Named | undefined => {
  const from = wordLabel.exec(said)?.[0].length ?? Math.max(0, said.search(/(?<=[,;] so )(?:yes|no)[.!*]*\s*$/i))
  const start = said.slice(from).search(/[\p{L}\p{N}]/u)
  const found = namedLike(english, said.slice(from)).find((one) => one.start === start)
  return found === undefined ? undefined : { ...found, start: from + found.start, end: from + found.end }
}

/** Words with which a name is not the answer itself: "der Tag nach Dienstag". */
const relative =
  /(?<!\p{L})(?:day|after|before|than|since|until|from|nach|vor|als|seit|bis|après|avant|depuis|después|antes|desde|depois|dopo|prima|dalla?|na|voor|efter|före|før|po|przed|před|после|перед|до|с|po|pred|sonra|önce|και|setelah|sebelum|sau|trước)(?!\p{L})|[后後前から까지전]|다음|بعد|قبل/iu

/** Returns the only name in the last sentence of a text, if it is not in English, in which other rules read it. */
const onlyName = (said: string, english: string): Named | undefined => {
  const last = lastSentence(said) ?? ""
  const from = said.lastIndexOf(last)
  const [first, ...others] = namedLike(english, last)
  if (first === undefined || others.some((one) => one.english !== first.english)) return undefined
  const isEnglish = last.slice(first.start, first.end).toLowerCase() === first.english.toLowerCase()
  if (isEnglish || relative.test(last.slice(0, first.start)) || relative.test(last.slice(first.end))) return undefined
  return { ...first, start: from + first.start, end: from + first.end }
}

/** A case for which a text has no solution: "Wenn a = 2 ist, …", or a person who found none. */
const limited =
  /(?<!\p{L})(?:if|for|when|where|unless|i|we|wenn|falls|für|bei|sofern|ich|wir|si|lorsque|quand|pour|j['’]|je|nous|cuando|para|yo|se|quando|per|io|quando|als|indien|voor|ik|wij|we|jeśli|gdy|dla|если|при|когда|для|я|мы|если|якщо|když|pokud|pro|om|för|hvis|for|ise|için|jika|ha|jos)(?!\p{L})|如果|若|当|當|[时時]|とき|ならば|我|이면|때/iu

/**
 * Whether a text states at its end that there is no solution, in any of about thirty languages.
 *
 * @internal
 */
export const statesNoSolution = (text: string): boolean => {
  const said = visible(text)
  const found = noSolutionAt(said)
  if (found === undefined) return false
  const before = said.slice(0, found.start)
  const held = /[^.!?。！？\n]*$/.exec(before.slice(-300))![0]
  if (limited.test(held) || hedge.test(held) || foreignHedge.test(held)) return false
  if (read(said).claims.some(({ end }) => end <= found.start)) return false
  // The phrase is read as a value that the sentence states.
  const span = { start: found.start + 2, end: found.start + 3 }
  const plain = masked(`${before}= □${said.slice(found.end)}`, [span])
  return isAsserted(plain, span) && !isRetracted(plain, span.end)
}

/**
 * Returns the answer of a text among the names of a kind, such as weekdays, in English: "Es wird ein Freitag sein." is
 * "Friday".
 *
 * @internal
 */
export const namedAnswer = (text: string, english: string): string | undefined => {
  const said = visible(text)
  const found = (isYesOrNo(english) ? firstName : onlyName)(said, english)
  if (found === undefined) return undefined
  const plain = masked(said, [found])
  const isHeld = isYesOrNo(english)
    ? /^\W*(?:$|[\n,.;:!。，、！—–-])/.test(said.slice(found.end))
    : isUndenied(plain, found)
  return isHeld && !isRetracted(plain, found.end) ? found.english : undefined
}

/** Whether a text names years, but not that of the gold answer. */
const isOtherYear = (gold: string, content: string): boolean => {
  const year = /(?<!\d)[12]\d{3}(?!\d)/g
  const wanted = gold.match(year)?.[0]
  const named = new Set(content.match(year))
  return wanted !== undefined && named.size > 0 && (!named.has(wanted) || named.size > 1)
}

const aDate = /^\W*(?:text\W+)?(?:\p{L}{3,9} \d{1,2}|\d{1,2} \p{L}{3,9})(?:,? \d{4})?\W*$/u

/**
 * Whether the answer of a text is the date of the reference, in another order or language.
 *
 * @internal
 */
export const isDate = (text: string, gold: string): boolean => {
  if (gold.length > 40 || !aDate.test(gold)) return false
  const [wanted] = datesIn(gold)
  if (wanted === undefined) return false
  const said = visible(text)
  const { claims } = read(said)
  const last = claims.at(-1)
  const content = last?.content ?? lastSentence(said) ?? ""
  const dates = new Set(datesIn(content))
  if (dates.size !== 1 || !dates.has(wanted) || isOtherYear(gold, content)) return false
  const start = said.lastIndexOf(content)
  const span = last ?? { start, end: start + content.length }
  const plain = masked(said, [span])
  return (last !== undefined || isUndenied(plain, span)) && !isRetracted(plain, span.end)
}

/**
 * Whether the last sentence of a text states an answer in words without marking it, such as "Alice" or "even".
 *
 * **Example**
 *
 * ```ts
 * import { MathAnswer } from "@divisi/graders/math"
 *
 * MathAnswer.states("Alice is innocent, so Bob is the thief.", "Bob") // => true
 * MathAnswer.states("Alice is innocent, so Bob is the thief.", "Alice") // => false
 * ```
 */
export const states = (text: string, words: string): boolean => {
  const said = spoken(text)
  const found = statedWords(said, words)
  if (found === undefined) return false
  const plain = masked(said, [found])
  return (found.start < 4 || isUndenied(plain, found)) && !isRetracted(plain, found.end)
}

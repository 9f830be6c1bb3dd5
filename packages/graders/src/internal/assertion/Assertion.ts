/**
 * Determines whether a text asserts an answer that it marks, or only mentions it. A text may ask about an answer,
 * assume, quote, deny or guess it, show it as a format example, or retract it afterwards.
 *
 * A qualification before an answer applies until a main clause starts. The rest of the sentence after the answer, and
 * the sentences that follow, may retract it. Formulas are masked, because they do not contain words.
 */
import { answerWords, joinedWords, resultWords, rightWords, wrongWords } from "../answerWords.ts"
import { matches } from "../matches.ts"
import { remembered } from "../remembered.ts"
import { isAnnounced } from "./announcement.ts"
import { because } from "./because.ts"
import { isAmount, isCommitted, isCommittedAbroad, isEnglishAmount, isSubject } from "./commitment.ts"
import * as English from "./english.ts"
import { isEnglish, isStatedPlainly, patternsIn } from "./languages.ts"
import { isAdverse, isElsewhere, isEnding, isTopic, isUnrelated, offer } from "./remarks.ts"
import {
  bound,
  complement,
  hearsay,
  infinitive,
  insteadOf,
  objection,
  opinion,
  slip,
  stating as statingAbroad,
  whoever,
  wish
} from "./signals.ts"

/** The position of a marked answer: its box, its tags, or its label and value. */
export interface Span {
  readonly start: number
  readonly end: number
}

const sign = "□"

/** Matches formulas, and commands outside formulas. */
const formulas = /\$\$[\s\S]+?\$\$|\\\[[\s\S]+?\\\]|\$[^$\n]+?\$|\\\(.+?\\\)|\\[a-zA-Z]+/g

/** Replaces every character of formulas with a placeholder sign, keeping offsets. */
const withoutFormulas = remembered(
  (text) =>
    text
      .replace(formulas, (formula) => sign.repeat(formula.length))
      .replace(/```\w*/g, (fence) => " ".repeat(fence.length)),
  4
)

/** Replaces every character of formulas and answers with a placeholder sign, keeping offsets. */
export const masked = (text: string, spans: ReadonlyArray<Span>): string => {
  const plain = withoutFormulas(text)
  const pieces: Array<string> = []
  let at = 0
  for (const { end, start } of [...spans].sort((a, b) => a.start - b.start)) {
    if (end <= at) continue
    pieces.push(plain.slice(at, Math.max(at, start)), sign.repeat(end - Math.max(at, start)))
    at = end
  }
  return pieces.join("") + plain.slice(at)
}

const reach = 400

/** Matches the end of a sentence: its mark and the following space or line break. */
const sentenceEnd =
  /(?<!\b(?:[eE]\.g|i\.e|cf|vs|approx|ca|no|nr|eq|z\.B|bzw|d\.h|Ans|resp))[.!?…]["'”»)\]*_]*(?=\s|$|□)|[。！？؟।]|\n/g

/** Whether a line continues on the next one: it ends with a colon, a comma or in the middle of a sentence. */
const isOpen = (line: string, next: string): boolean =>
  /[:：,，;]\**\s*$/.test(line) || (/[\p{Ll}\p{Lo}=]\s*$/u.test(line) && /^\s*[*_>\s]*(?:□|$)/.test(next))

/** The name of the speaker in a dialogue that a model writes with itself. */
const speaker = /^[\s*_]*(?:\p{L}+ ){0,2}(?:assistant|expert)(?: \([^()\n]{0,20}\))?[*_]*:[*_]*/iu

/** Returns the part of an answer's sentence that precedes it. */
const sentenceBefore = (text: string, start: number): string => {
  const from = Math.max(0, start - reach)
  const part = text.slice(from, start)
  let begin = 0
  for (const { 0: mark, index } of matches(part, sentenceEnd)) {
    const end = index + mark.length
    if (mark !== "\n") begin = end
    else if (!isOpen(part.slice(begin, index).trimEnd(), `${part.slice(end)}${sign}`)) begin = end
  }
  return part.slice(begin).replace(speaker, (name) => " ".repeat(name.length))
}

/** Matches the start of a sentence that is not preceded by a full stop: "5 Wait, that is wrong". */
const nextSentence =
  /^[\s□*_)\]}]*\s(?:Wait|Actually|No|But|Hmm|So|Thus|Hence|Therefore|The|This|That|It|We|I|However|Let|Note|Check|Hope|Verif\w+|Sorry|Oops|Whoops|Never|Ignore|Scratch|Correction)\b/

/** Returns the part of an answer's sentence that follows it, and the mark that ends the sentence. */
const sentenceBehind = (text: string, end: number): { readonly said: string; readonly mark: string } => {
  const part = text.slice(end, end + reach)
  if (nextSentence.test(part)) return { said: "", mark: "." }
  for (const { 0: mark, index } of matches(part, sentenceEnd)) {
    if (mark === "\n" && (/^[\s□.*_]*$/.test(part.slice(0, index)) || isOpen(part.slice(0, index), ""))) {
      if (/^\s*(?!(?:final )?answer\b)\p{Ll}/u.test(part.slice(index + 1))) continue
    }
    return { said: part.slice(0, index), mark: mark[0]! }
  }
  return { said: part, mark: "" }
}

const subordinate =
  /^[\s]*(?:that|which|as|for|say|however|maybe|dass|que|qu['’]|che|dat|att|at|że|že|hogy|hogy|что|що|че|că|ότι|πως|rằng|bahwa|da|että|of course|if)(?![\p{L}])/iu

/** Words that belong to a negation instead of starting a new clause: "is not *equal to* 5". */
const attached =
  /^\s*(?:(?:be|equal|exceed|give|get|have|has|yield|become|is|are|was|the|an?|answer|to|write|say|put)\b(?:\s+(?:be|equal to|to|the answer|answer|that|the case)\b)*)?/i

/** A phrase directly after a supposition, followed by a comma: "Suppose, for contradiction, that". */
const aside = /^\s*(?:(?:for|towards?|by|as|per|por|par|zum|pentru|dla)\b[^,]*)?$/i

/** Splits a text into the last clause and everything before it. */
const partsOf = (gap: string, hasColons: boolean) =>
  (hasColons ? /^([\s\S]*?)[,，、;:：—–،]([^,，、;:：—–،]*)$/ : /^([\s\S]*?)[,，、;—–،]([^,，、;—–،:：]*)$/).exec(
    gap
  ) ?? []

/** Matches the start of a main clause after a condition. */
const subjects = /^\s*(?:then|it|he|she|they|we|you|there|the|this|each|his|her|its|their)\b/i

/** Whether a main clause starts between a doubt and the answer, which ends the scope of the doubt. */
const isFreed = (gap: string, until: English.Until): boolean => {
  if (until === "turn") return English.turn.test(gap) || /;|\bi\.e\./.test(gap)
  const concluded = English.conclusion.exec(gap)
  if (concluded !== null) {
    const rest = gap.slice(concluded.index + concluded[0].length).replace(/^[\s,]+/, "")
    if (!subordinate.test(rest)) return true
  }
  if ((until === "verb" || until === "colon") && !/^\s*(?:\w+\s+){0,2}that\b/.test(gap)) {
    if (English.identity.test(gap.replace(attached, "").replace(/[a-z]\s*=\s*$/i, ""))) return true
  }
  if (until === "colon" && /\w+\s+\w+[^:]*:\s*[\s$*\\([]*$/.test(gap)) return true
  const [, before = "", clause = ""] = partsOf(gap, until === "clause")
  if (until === "clause" && subjects.test(clause)) return true
  if (clause === "" || subordinate.test(clause) || !English.copula.test(clause)) return false
  return until !== "conclusion" || !aside.test(before)
}

const certain =
  /\b(?:(?:there is|there['’]s|we have|i have|without) (?:no |any |a )?|beyond (?:all |any |a )?|no )(?:doubt|question)\b(?: that|[:,])?/gi

/** Returns the text before an answer without parentheses, denied alternatives and expressions of certainty. */
const plainBefore = (said: string): string =>
  said
    .replace(/\([^()]*\)/g, " ")
    .replace(insteadOf, " ")
    .replace(
      /(?<=\b(?:answer|solution|result|reply) )to (?:the|this|your) (?:\w+ )?(?:question|problem|task|exercise|puzzle)\b/gi,
      " "
    )
    .replace(/\b(?:although|though|while)\s+(?:option |choice )?\$?(?:[A-J]|[□\d]+)\s[^,]{1,80},/gi, " ")
    .replace(certain, (all) => (/\b(?:no|without|beyond)\b/i.test(all) ? " " : all))

/** Whether the text before an answer, within its sentence, keeps it from being asserted. */
const isDoubted = (said: string): boolean => {
  if (English.unwanted.test(said)) return true
  const before = plainBefore(said)
  if ((complement.test(before) || infinitive.test(before)) && !English.turn.test(before)) return true
  if (English.rightBefore.test(before)) return true
  for (const { until, words } of English.before) {
    for (const { end } of words.find(before)) {
      if (!isFreed(before.slice(end), until)) return true
    }
  }
  if (whoever.test(before) || bound.test(before)) return true
  for (const { end } of [...hearsay(before), ...slip(before)]) {
    if (!isFreed(before.slice(end), "turn")) return true
  }
  const told = English.imperative.exec(before)
  return told !== null && !isFreed(before.slice(told[0].length), "comma")
}

/** Verbs of supposition in other languages. A comma directly after them starts the supposed statement. */
const supposing =
  /^(?:angenommen|annehmen|nimm|nehmen|gesetzt|suppos|admet|imagin|supo|supó|asum|assum|ammett|ipotizz|stel|veronderstel|aangenomen|neem|anta|oleta|tegyük|tétel|felt|presup|consider|załóż|zakład|przypuś|předpokl|predpoklad|pretpostav|predpostav|denim|предполож|допуст|пусть|припуст|нехай|υποθέ|varsay|假|设|設|仮)/iu

/** A comparison of amounts, after the amount by which they differ: "5 calories de plus que sa sœur". */
const comparing =
  /(?<!\p{L})(?:de (?:plus|moins) que|(?:más|menos|mais|più|meno) (?:que|do que|di|che)|(?:mehr|weniger) als|(?:meer|minder) dan|(?:fler|flere|färre|færre|mer|mindre) (?:än|end|enn)|(?:больше|меньше),? чем|(?:więcej|mniej) niż)(?!\p{L})/iu

/** The label of the answer after the description of a mistake: "ho sbagliato il segno: la risposta corretta è". */
const corrected = new RegExp(`[:;؛—–][^,:;؛]*(?:${answerWords.replace(/^answer\|/, "")}|${resultWords})[^,:;؛]*$`, "iu")

const isDoubtedAbroad = (preceding: string, behind: string, around: string): boolean => {
  const before = plainBefore(preceding)
  if (wish.test(before)) return true
  const clause = /^[^,，、;،]*/.exec(behind)![0].replace(comparing, " ")
  // The text around the sentence may be in another language, and so may one word that is not known.
  const said = `${before} ${behind}`
  const isGuessed = wordsIn(said) === 1 || /[^ -~\s□]/.test(said)
  const patterns = new Set([...patternsIn(around), ...patternsIn(said, isGuessed)])
  return [...patterns].some(({ condition, doubt, retraction }) => {
    for (const { end, index } of [...doubt.find(before), ...condition.find(before)]) {
      const said = before.slice(index, end)
      if (retraction.test(said) && corrected.test(before.slice(end))) continue
      const until = supposing.test(said) ? "conclusion" : "comma"
      if (!isFreed(before.slice(end), until)) return true
    }
    return doubt.test(clause) || retraction.test(behind)
  })
}

/** The addressee of a sentence: "1890 is the answer, my dear fellow". */
const vocative =
  /^(?:my (?:dear |good |old )?\w+|(?:dear|old) \w+|mate\w*|friends?|folks|sir|madam|ma['’]am|everyone|everybody|buddy|bro|dude|boss|captain|chief|professor|ladies and gentlemen|guys|lads|team|says i|of course|naturally|obviously|clearly)$/i

/**
 * Whether a short remark after an answer and a comma is not known to be harmless. There are too many ways to express
 * doubt in a few words to list them all.
 */
const isOddRemark = (behind: string): boolean => {
  const words = /^[\s□.*_)\]}]*[,;–—]\s*([^□\d]*?)\s*$/.exec(behind)?.[1]
  if (words === undefined || !/\p{L}/u.test(words) || wordsIn(words) > 5 || English.reason.test(behind)) return false
  return (
    !vocative.test(words) &&
    !because.test(`, ${words}`) &&
    (!English.harmless.test(words) || English.negative.test(words)) &&
    !English.continuing.test(words)
  )
}

/** A doubt that trails off directly after an answer. */
const trailing = /^[\s□*_)\]}$]*(?:\.\.\.|…)\s*(?:or|if|maybe|perhaps|though|unless)\b/i

/** A comparison instead of a value: "18 years younger than his father". */
const compared = /^[\s□.*_)\]}$]*(?:\p{L}+\s+){0,2}\p{L}+er than\b/u

/** A reason in parentheses with a separate subject: "(a radius can't be negative)". */
const ground =
  /\((?:an?|all|since|because|negative|both|the (?!answer|result|value|solution))\s[^()]*(?:\b(?:can|must|is|are|has|have|cannot)\b|n['’]t\b)[^()]*\)/g

/** Whether the rest of the sentence after an answer denies it. */
const isDenied = (text: string): boolean => {
  if (compared.test(text) || /^[\s□.*_)\]}$]*only (?:under|if|when|for|in)\b/i.test(text)) return true
  const behind = text
    .replace(/^([\s□*_$\\)]*(?!(?:is|are|was|were|be)\s)(?:\p{L}+\s){1,3}(?:more|fewer|less)) than(?=\s\p{L})/u, "$1")
    .replace(/\([^()]*=[^()]*\)|\(\d+ would [^()]*\)/g, " ")
    .replace(ground, (said) => (English.dubious.test(said.replace(/not\b|n['’]t\b|\bcould\b/g, "")) ? said : " "))
  const inBrackets = /^[\s□.*_)\]}]*\(([^()□\d]{1,40})\)/.exec(behind)?.[1]?.trim()
  if (inBrackets !== undefined && /\p{L}/u.test(inBrackets)) {
    const isUnknown = wordsIn(inBrackets) < 3 && !English.remark.test(inBrackets)
    if (isUnknown || English.negative.test(inBrackets) || English.dubious.test(inBrackets)) return true
    if (/^(?:or|if)\b/i.test(inBrackets)) return true
  }
  if (/^-ish\b|^\s*(?:<-|<=|←)/.test(behind)) return true
  const cut = English.reason.exec(behind)
  const said = cut === null ? behind : behind.slice(0, cut.index)
  if (isOddRemark(behind) || opinion(behind)) return true
  if (
    behind
      .split(/[;—]/)
      .slice(1)
      .some((part) => objection.test(part))
  )
    return true
  return (
    English.behind.test(said) ||
    English.unfinished.test(said) ||
    /\bwhat (?:you|we|one|i)(?:['’]d| would| might| could)\b/i.test(behind) ||
    /\b(?:which|that|but)\b[^,]{0,30}\b(?:is|was)\s+(?:wrong|incorrect|false|not)\b/i.test(behind)
  )
}

const answers = new RegExp(`^(?:${answerWords.replace(/^answer\|/, "")}|${resultWords})\\p{L}{0,8}$`, "iu")

/** One of several attempts or answers: "Answer 2:". */
const numbered =
  /^\W*(?:solution|answer|option|method|approach|version|attempt|candidate|possibility|try|take|guess)s?\s*#?\d+\s*[:：]/i

/** Whether a short lead-in with a colon contains words that are not known to introduce the writer's answer. */
const isOddLead = (before: string): boolean => {
  if (numbered.test(before)) return true
  const lead = /^([^,;:：]*?)(?:[:：]|->|→|\s[–—-])[\s*_$\\([]*$/.exec(before.replace(/\([^()]*\)/g, " "))?.[1]
  if (lead === undefined) return false
  const words = lead.toLowerCase().match(/[\p{L}\p{M}'’]+/gu) ?? []
  if (words.length > 4) return false
  if (joinedScript.test(lead)) return lead.length < 8 && !joinedAnswers.test(lead) && !English.conclusion.test(lead)
  if (words.some((word) => statingAbroad.has(word)) || derived.test(lead)) return false
  return words.some((word) => !English.leads.has(word) && !English.foreignLeads.has(word) && !answers.test(word))
}

/** Matches lead-ins such as "After simplification:", "By counting:", "Reading upwards:" and "Prime factorization:". */
const derived =
  /^\W*(?:after|by|from|upon|on|through|with)\s+(?:\w+\s+){0,2}\w{3,}(?:ing|tion|ment|sis)\W*$|^\W*(?!assum|suppos|guess|try|test|check|say|missing|pending)\w+ing\b|(?<!hypothe|ques|op|sugges|assump|instruc|quota|cita|intui|specula|estima|excep)(?:tion|sis)\W*$/i

const joinedScript = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Hangul}]/u

const joinedAnswers = new RegExp(
  `${joinedWords}|结果|結果|结论|結論|总|總|合計|面积|面積|和|値|值|概率|確率|결과|합|넓이|값|ผล|รวม|สรุป`,
  "u"
)

/** Whether an answer is within a quotation that is part of a longer sentence. */
const isQuoted = (before: string, behind: string): boolean => {
  const quotes = before.match(/["“”„«»]/g)?.length ?? 0
  return (
    quotes % 2 === 1 && (/[\p{L}]/u.test(before.replace(/["“„«][^"“”„«»]*$/, "")) || /["”“»][\s,]*\p{L}/u.test(behind))
  )
}

/** Counted things as the subject of a sentence: "11 edges are visible". */
const counted =
  /^[\s□*]*(?!\w+ing\b|the\b|for\b|when\b|if\b)(?:[a-z]+ ){0,2}[a-z]+s (?:are|were|have|can|will|remain)\b/i

/** Whether a sentence starts with the answer and states anything other than that it is the answer. */
const isOddSubject = (before: string, behind: string): boolean =>
  !/[\p{L}=]/u.test(before.replace(/^[\s*_]*(?:[a-z]\s*=|the (?:value|number|figure|amount)(?=\W*$))/i, " ")) &&
  /\p{L}{2}/u.test(
    behind.replace(/\([^()]*\)|(?<=^[\s□*$\\)]*)(?:sq\.? ?|cu\.? ?)?(?:[ckm]?m|[km]?g|m?l|ft|in|min)(?!\p{L})/gu, "")
  ) &&
  !English.subject.test(behind) &&
  !counted.test(behind) &&
  !joinedAnswers.test(behind) &&
  !(behind.match(/[\p{L}\p{M}]+/gu) ?? []).some((word) => answers.test(word))

const wordsIn = (text: string): number => text.match(/[\p{L}\p{M}'’]+/gu)?.length ?? 0

const previousSentence = (text: string, end: number): string => {
  const part = text.slice(Math.max(0, end - reach), end).replace(/[\s.!?…。！？؟।]+$/, "")
  let begin = 0
  for (const { 0: mark, index } of matches(part, sentenceEnd)) begin = index + mark.length
  return part.slice(begin)
}

/**
 * Whether a sentence asserts the letter of a choice. After a letter with a bracket, colon or dash, the text is that of
 * the choice itself and is ignored.
 */
export const isChosen = (text: string, { end, start }: Span): boolean => {
  const whole = sentenceBefore(text, start)
  const own = rightLabel.exec(whole)?.index ?? 0
  // "Non è B: la risposta corretta è D."
  const before = /(?<!\p{L})[A-J](?!\p{L})/u.test(whole.slice(0, own)) ? whole.slice(own + 1) : whole
  const { mark, said } = sentenceBehind(text, end)
  const behind = /^[\s›]*[().:\]}–—-]/.test(said) ? "" : said
  if (/[?？؟]/.test(mark) && behind === said) return false
  if (isDoubted(before) || isDenied(behind)) return false
  if (/\bunless\b/i.test(before)) return false
  if (/\bif\b/i.test(before) && English.conditional.test(before)) return false
  const previous = previousSentence(text, start - before.length)
  if (English.announcement.test(previous) || English.refusal.test(previous)) return false
  return !isDoubtedAbroad(before, behind, `${previous} ${before} ${behind}`)
}

/** Whether the text directly after the letter of a choice retracts it. */
export const isUnchosen = (text: string, end: number): boolean => {
  const line = /^[^\n]{0,160}/.exec(text.slice(end))![0]
  const next = /^\n+([^\n]{1,160})/.exec(text.slice(end + line.length, end + line.length + 200))?.[1] ?? ""
  const tail = objection.test(next) ? `${line} ${next}` : line
  if (!/\p{L}/u.test(tail)) return false
  if (English.retraction.test(tail) || English.denial.test(tail) || English.refusal.test(tail)) return true
  const around = `${text.slice(Math.max(0, end - 200), end)} ${tail}`
  const { said } = sentenceBehind(tail, 0)
  return patternsIn(around).some(({ retraction }) => retraction.test(tail.slice(said.length)))
}

const turns = new RegExp(English.turn.source, "giu")

/** Returns the position of the last adversative word, such as "but", or 0 if there is none. */
const lastTurn = (text: string): number => matches(text, turns).at(-1)?.index ?? 0

/** Matches the part of a formula before a value in it, which is more than its delimiter. */
const withinFormula = /□{3}$/

/** Whether an English sentence states the answer within it, or within the formula that contains it. */
const isStated = (before: string, behind: string): boolean =>
  isCommitted(before.replace(/\([^()]*\)/g, " "), behind) ||
  (withinFormula.test(before) && !/^[\s□.*_)\]}$]*\p{L}/u.test(behind))

/** Words of a condition, or of a person who is not the writer, with which "would" is hypothetical. */
const hypothetical =
  /\b(?:if|unless|otherwise|without|had|were|suppos\w*|assum\w*|naive\w*|careless|instead|alternativ\w*|some(?:one|body)|any(?:one|body)|students?|else|then|not|wrong\w*)\b/i

/** Whether the sentence of a labeled answer contains no denial or doubt. */
export const isUndenied = (text: string, { end, start }: Span): boolean => {
  const before = sentenceBefore(text, start)
  const { mark, said } = sentenceBehind(text, end)
  return (
    !/[?？؟]/.test(mark) && !isDoubted(before) && !isDenied(said) && !isDoubtedAbroad(before, said, `${before} ${said}`)
  )
}

/** Whether a sentence in another language than English, whose verb precedes the value, states it. */
const isStatedAbroad = (before: string, said: string, isMark: boolean): boolean =>
  (withinFormula.test(before) && !/\p{L}/u.test(said)) ||
  isCommittedAbroad(before.replace(/\([^()]*\)/g, " "), said) ||
  (!isMark && isAmount(before, said))

/**
 * Whether an English sentence that names an answer announces it, up to the answer. Sentences without a noun for answers,
 * and in other languages, are not judged.
 */
const announces = (before: string, nouns: RegExp): boolean =>
  !nouns.test(before) || !isEnglish(before) || isAnnounced(before)

const answerNoun = /(?<!\p{L})(?:answer|ans)s?(?!\p{L})/iu
const labelNoun = /(?<!\p{L})(?:answer|ans|result|solution|value)s?(?!\p{L})/iu

/** Whether the sentence of a label announces an answer. */
export const isLabel = (text: string, from: number): boolean => announces(sentenceBefore(text, from), labelNoun)

const answerNouns = `(?:(?:${answerWords}|${resultWords})\\p{L}{0,4})`

/** A label that calls its answer the correct one: "Правильный ответ:", "La bonne réponse est", "Jawaban yang benar:". */
const rightLabel = new RegExp(
  `(?:^|[;؛:—–.])[^\\p{L};؛:—–.]*(?:\\p{L}{1,3}\\s+)?(?:(?:${rightWords})\\s+${answerNouns}|${answerNouns}\\s+(?:\\p{L}{1,4}\\s+)?(?:${rightWords}))(?:\\s+\\p{L}{1,6})?\\s*[:：]?[\\s*_$]*$`,
  "iu"
)

/** A clause that ends by calling something wrong: "but that is wrong". */
const endsWrong = new RegExp(`(?<![a-z])(?:${wrongWords})\\p{L}{0,6}(?:\\s+(?:است|है))?\\s*$`, "iu")

/** A label as the last clause of a sentence: "…, but that is wrong; the answer is". */
const lastLabel = new RegExp(
  `[,;؛،，、][^\\p{L},;؛،，、]*(?:\\p{L}{1,3}\\s+)?(?:${answerNouns}|(?:${joinedWords})\\p{L}{0,2})(?:\\s+\\p{L}{1,6}){0,2}\\s*[:：]?[\\s*_$]*$`,
  "iu"
)

/** Removes the description of a mistake before the label of the correct answer. */
const withoutSlip = (before: string): string => {
  const label = /[,;؛،，、]/.test(before) ? lastLabel.exec(before) : null
  if (label !== null) {
    const clause = before.slice(0, label.index).replace(/^.*[,;؛،，、](?=.*\S)/su, "")
    if (endsWrong.test(clause)) return before.slice(label.index + 1)
  }
  const found = /[;؛]/.test(before) ? rightLabel.exec(before) : null
  return found !== null && /^[;؛]/.test(found[0]) && slip(before.slice(0, found.index)).length > 0
    ? before.slice(found.index + 1)
    : before
}

/**
 * Whether the sentence of an answer asserts it. The text must be {@link masked}. A marked answer, such as a box, may be
 * an object of any kind, so an unknown verb does not assert it.
 */
export const isAsserted = (text: string, { end, start }: Span, isMark = false): boolean => {
  const before = withoutSlip(sentenceBefore(text, start))
  const { mark, said } = sentenceBehind(text, end)
  if (/[?？؟]/.test(mark) || !announces(before, answerNoun)) return false
  if (isDoubted(before) || isDenied(said) || trailing.test(text.slice(end, end + 24))) return false
  if (rightLabel.test(before)) return !isDoubtedAbroad(before, said, `${before} ${said}`)
  const isPlain = isStatedPlainly(`${before} ${said}`)
  if (isPlain !== undefined) return isPlain
  const predicate = /^[\s□.*_)\]}$]*(?:is|was|are|seems?|looks?)\s+(\w+)/.exec(said)?.[1]
  if (predicate !== undefined && !English.predicates.has(predicate.toLowerCase())) return false
  const held = before.slice(lastTurn(before))
  const previous = previousSentence(text, start - before.length)
  const isConditional = English.conditional.test(held) && !English.plainly.test(held)
  if (isConditional && !(isEnglishAmount(held, said) && !hypothetical.test(`${previous} ${before} ${said}`)))
    return false
  if (isOddLead(before) || isQuoted(before, said) || isOddSubject(before, said)) return false
  if (English.crosses.test(before.slice(-6)) || English.crosses.test(text.slice(end, end + 8))) return false
  if (English.announcement.test(previous)) return false
  if (
    English.heading.test(previous) ||
    (/(?<!\bfixed (?:a|the|my) )\b(?:typo|misprint)\b/i.test(previous) && !/[□\d]/.test(previous))
  )
    return false
  const languages = patternsIn(`${before} ${said}`)
  const mayBeEnglish = languages.length === 0 || isEnglish(`${before} ${said}`)
  const isMixed = languages.length > 0 && before.split(/\s+/).some((word) => statingAbroad.has(word))
  if (mayBeEnglish && !isMixed && !isStated(before, said) && !isEnglishAmount(before, said)) return false
  if (languages.length > 0 && languages.every(({ isVerbFirst }) => isVerbFirst)) {
    if (!isStatedAbroad(before, said, isMark) && !isEnglishAmount(before, said)) return false
  }
  if (languages.length > 0) {
    if (slip(said).length > 0 || opinion(said) || opinion(held)) return false
    if (
      languages.length > 3 &&
      /\p{L}/u.test(before) &&
      wordsIn(before) <= 2 &&
      !/(?:d[ıiuü]r|olur|eder|kalır)\W*$/u.test(said)
    ) {
      if (isSubject(before, said) && !isStatedAbroad(before, said, isMark)) return false
    }
    const isWord = /(?:^|[:：])[^\p{L}:：]*\p{L}*\p{Ll}[^\p{L}:：]*$/u.test(before) && !/\p{L}/u.test(said)
    if (!isMark && languages.length > 3 && isWord && !isStatedAbroad(before, said, true)) return false
    const isBareNoun = wordsIn(before) === 1 && !joinedScript.test(before)
    if (!languages[0]!.isVerbFirst && isBareNoun && /[\u0590-\u06ff]/.test(before) && isSubject(before, said))
      return false
    if (/\p{L}/u.test(held) && !languages[0]!.isVerbFirst && hearsay(`${held}${sign}${said}`).length > 0) return false
  }
  const isBare = !/\p{L}/u.test(before)
  const isReply = /^\W*no,? (?:that|this|it|because|since|as)\b/i.test(previous)
  if (isBare && !isReply && wordsIn(previous) <= 6 && !/[□\d]/.test(previous) && English.absence.test(previous))
    return false
  const isTurn = /^[\s*_]*(?:but|however|then|so|now|finally|still|yet|nevertheless|after)\b/i.test(before)
  if (English.refusal.test(previous) && !isTurn && !/^[\s*_]*(?:but|at first|initially)/i.test(previous)) return false
  return !isDoubtedAbroad(
    before,
    said,
    `${previous} ${before} ${said} ${text.slice(end + said.length, end + said.length + 200)}`
  )
}

/** Whether the words of a label or after its value deny it, in other languages: "Cevap 24 değildir". */
export const isDeniedAbroad = (around: string, behind: string): boolean => {
  const clause = /^[^,،;(]*/.exec(behind)![0]
  if (isStatedPlainly(masked(around, [])) === false) return true
  return (
    /\p{L}/u.test(clause) &&
    !joinedScript.test(behind) &&
    patternsIn(around).some(({ doubt, retraction }) => doubt.test(clause) || retraction.test(clause))
  )
}

/** Whether a sentence is short. In scripts without spaces between words, letters are counted. */
const isShort = (sentence: string): boolean => {
  const letters = sentence.match(/\p{L}/gu)?.length ?? 0
  if (letters === 0 || /[□\d]/.test(sentence)) return false
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Thai}]/u.test(sentence) ? letters <= 16 : wordsIn(sentence) <= 6
}

/** Closing offers to the reader in other languages. */
const courtesy =
  /(?<!\p{L})(?:n['’]hésite[zs]? pas|suerte|éxito|ánimo|das war['’]?s|viel (?:erfolg|glück)|bonne chance|bon courage|buona fortuna|in bocca|boa sorte|bons estudos|veel succes|succes|lycka till|held og|lykke til|powodzenia|mult succes|iyi şanslar|kolay gelsin|удачи|успехов|semoga|si vous avez|si tu as|no dud(?:e|es|éis) en|cualquier (?:duda|pregunta)|si tien(?:e|es)|qualquer dúvida|se tiver|fico à disposição|per qualsiasi|se hai|bei (?:weiteren )?(?:fragen|rückfragen)|falls du|wenn du (?:noch )?fragen|als je (?:nog )?vragen|om du har|hvis du har|dacă ai|jeśli masz|pokud máš|pokud máte|обращайтесь|спрашивайте|если (?:есть|будут|остались|у вас|у тебя|что-то)|звертайтеся|başka sorun\p{L}*|nếu bạn|jika (?:anda|kamu))(?!\p{L})|(?:如果|如有|若有).{0,12}(?:问题|問題|疑问|不明白|需要)|(?:質問|不明な点).{0,12}(?:ください|どうぞ)|加油|祝你|頑張|화이팅|بالتوفيق|शुभकामन|궁금한|질문이|إذا كان لديك|أي سؤال|यदि आपके|अगर आपके|หากมี/iu

/** Whether a sentence after an answer is known to be harmless. */
const isHarmless = (sentence: string, mark: string): boolean =>
  /[?？؟]/.test(mark)
    ? offer.test(sentence)
    : isEnding(sentence) ||
      English.aside.test(sentence) ||
      courtesy.test(sentence) ||
      English.closing.test(sentence) ||
      (English.explaining.test(sentence) && !English.contrast.test(sentence)) ||
      (English.harmless.test(sentence) && !English.negative.test(sentence) && !isAdverse(sentence))

/** Matches the start of a sentence that contrasts with the answer before it. */
const contrary = /^[\s*_>#(–—-]*(?:but|however|yet|though|although|except|still|unfortunately|hmm+|well)(?![\p{L}])/iu

/**
 * Whether an English sentence after an answer may retract it. There are too many ways to retract an answer to list them
 * all, so a sentence without a value must be known to be harmless, and one with a value must not deny anything about
 * the answer.
 */
const isHarmful = (sentence: string, mark: string): boolean => {
  if (!/\p{L}{2}/u.test(sentence)) return false
  if (English.template.test(sentence)) return true
  if (isElsewhere(sentence)) return false
  if (isHarmless(sentence, mark) || (!/[?？؟]/.test(mark) && isUnrelated(sentence))) return false
  return !/[□\d]/.test(sentence) || (English.negative.test(sentence) && English.anaphor.test(sentence))
}

/** A heading of a list of explanations, and an item of a list. */
const listHeading = /[:：][\s*_]*$|^\s*(?:#{1,6}\s|\*\*[^*]+\*\*\s*$)/
const listItem = /^\s*(?:[-*•]|\d+[.)])\s/

/** Maximum number of sentences after an answer that are checked individually. */
const maxSentences = 12

const hasHarm = (written: string, inEnglish: boolean): boolean => {
  const tail = written.replace(/(?<=\n\s*\d{1,2})\.(?=\s)/g, ")")
  let begin = sentenceBehind(tail, 0).said.length
  let count = 0
  let isInList = false
  for (const { 0: mark, index } of [...matches(tail, sentenceEnd), { 0: "", index: tail.length }]) {
    if (index < begin || ++count > maxSentences) continue
    const sentence = tail.slice(begin, index)
    begin = index + mark.length
    if (sentence.trim() === "") continue
    const isItem = listItem.test(sentence)
    const isHeading = mark === "\n" && (listHeading.test(sentence) || listItem.test(tail.slice(begin)))
    if (!isItem) isInList = isHeading && (isHarmless(sentence, mark) || isTopic(sentence))
    if (isInList && !(isItem && isAdverse(sentence))) continue
    if (contrary.test(sentence) && English.negative.test(sentence.replace(contrary, "")) && !/[□\d]/.test(sentence))
      return true
    if (objection.test(sentence) && !English.restored.test(tail.slice(begin))) return true
    const isUnread = !inEnglish && isStatedPlainly(sentence) === false
    if (inEnglish ? isHarmful(sentence, mark) : (isUnread || isShort(sentence)) && !isHarmless(sentence, mark))
      return true
  }
  return false
}

/** Whether a sentence after an answer begins with an objection to the answer. */
export const objects = (tail: string): boolean =>
  tail.split(/\n|(?<=[.!?。])\s*/, maxSentences).some((sentence) => objection.test(sentence))

/** Returns the sentences after an answer's own that name no value. Those with a value may be about that value. */
const remarksIn = (tail: string): ReadonlyArray<string> =>
  tail
    .slice(sentenceBehind(tail, 0).said.length)
    .split(sentenceEnd, maxSentences)
    .filter((one) => /\p{L}/u.test(one) && !/[□\d]/.test(one) && !courtesy.test(one))

/** Removes the remarks of a tail on other values than the answer, which may deny those. */
const withoutElsewhere = (tail: string): string =>
  /\b(?:would|['’]d|had|first|initially)\b/i.test(tail)
    ? tail.replace(/(?<=^|[.!?)\n]\s*)\(?\p{Lu}[^.!?\n]*[.!]\)?/gu, (one) => (isElsewhere(one) ? " " : one))
    : tail

/** What follows an answer: its text, the languages it may be in, and whether it confirms the answer in the end. */
const readTail = (text: string, end: number) => {
  const tail = withoutElsewhere(text.slice(end))
  const around = `${text.slice(Math.max(0, end - 200), end)} ${tail.slice(0, reach)}`
  const restored = English.restored.exec(tail)
  const isRestored = restored !== null && !English.negative.test(restored[0])
  return { tail, around, languages: patternsIn(around), isSilent: !/\p{L}/u.test(tail) || isRestored }
}

type Tail = ReturnType<typeof readTail>

const takesBack = ({ languages, tail }: Tail): boolean => {
  if (English.retraction.test(tail) || English.denial.test(tail)) return true
  if (English.refusal.test(tail) || English.unfinished.test(tail)) return true
  const remarks = languages.length === 0 ? [] : remarksIn(tail)
  if (remarks.some((one) => slip(one).length > 0 || languages.some(({ doubt }) => doubt.test(one)))) return true
  return languages.some(({ retraction }) => retraction.test(tail))
}

/** Whether the text after an answer says that the answer does not count, in known words. */
export const isTakenBack = (text: string, end: number): boolean => {
  const tail = readTail(text, end)
  return !tail.isSilent && (takesBack(tail) || objects(tail.tail))
}

/** Whether the text after an answer retracts it, or may retract it in unknown words. */
export const isRetracted = (text: string, end: number): boolean => {
  const tail = readTail(text, end)
  if (tail.isSilent) return false
  return (
    takesBack(tail) ||
    hasHarm(tail.tail, tail.languages.length === 0 || isEnglish(tail.around) || isEnglish(tail.tail.slice(0, reach)))
  )
}

/** Whether the text between two stated answers corrects the first or continues from it. */
export const isReplaced = (between: string, isStep: boolean): boolean =>
  English.correction.test(between) || (isStep && English.sequence.test(between))

/** Extracts answers that prose states without marking them, from plain statements in the last sentence. */
import { because } from "../internal/assertion/because.ts"
import { conclusion, dubious, leads, negative, remark } from "../internal/assertion/english.ts"
import { matches } from "../internal/matches.ts"
import { withFractions } from "../internal/numerals.ts"
import { remembered } from "../internal/remembered.ts"
import { isKnown } from "./Units.ts"

/** Returns the text up to a line break or the full stop that ends a sentence. Formulas are never split. */
export const sentence = (text: string): string => {
  const formula = /^(?:\$\$[\s\S]*?\$\$|\\\[[\s\S]*?\\\]|\$[^$]*\$|\\\([\s\S]*?\\\))/.exec(text)
  const tail = formula === null ? text : text.slice(formula[0].length)
  if (formula !== null && /^(?:[\s.!,*]*(?:$|\n|[A-Z])|[\s*]*[.!]\s+\p{Lo})/u.test(tail)) return formula[0]
  const end =
    /\n|[。！](?!\s*[」』])|।|[.!](?=\s+[\p{Lu}\p{Lo}(（]|\s+[A-Z\n]|\s*$)|,\s+(?:so|since|because|which|as|where|not|rather)\b|\s+(?:since|because)\b/u.exec(
      tail
    )
  return `${formula?.[0] ?? ""}${end === null ? tail : tail.slice(0, end.index)}`.trim()
}

export const formulas = /\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\]|\$([^$\n]+?)\$|\\\((.+?)\\\)/g

/** Words directly before a formula that rule it out as an answer. */
const doubted =
  /\b(?:could|might|may|maybe|perhaps|possibly|probably|guess\w*|tried|try|not|never|cannot|can't|isn't|unsure|least|most|than|between(?![^.;,]*\b(?:is|equals|are)\b)|if|suppose|assume|either|neither|nor|unless)\b(?![^:]*\b(?:works?|namely|i\.e|suffices?):)[^.;,]{0,25}$/i

/** Words after a formula that rule it out as an answer. */
const rejected =
  /^[\s.)]*(?:,?\s*(?:which|but it|but this|that)\s+)?(?:is|was|are|seems?|would be|looks)\s+(?:not|wrong|incorrect|false|impossible|too|excluded|rejected|a guess|only)\b|^\s*(?:fails?|failed|does not|doesn't|cannot|or\b|at most|at least|or (?:more|less))/i

/** Returns the last row of a multi-row display, unless it is a matrix or a list of cases. */
const lastRow = (formula: string): string =>
  !formula.includes("\\\\") || /\\begin\{(?:[bBpvV]?matrix|array|cases)/.test(formula)
    ? formula
    : (
        formula
          .replace(/\\(?:begin|end)\{\w+\*?\}/g, "")
          .split("\\\\")
          .filter((row) => row.trim() !== "")
          .at(-1) ?? formula
      )
        .replace(/&/g, "")
        .replace(/^\s*=\s*/, "")

/** Returns equations or inequalities at the end of a sentence that form one answer: "$x < -1$ or $x > 3$". */
const run = (last: string): string | undefined => {
  const found = /(?:\$[^$]{1,60}\$(?:,? (?:or|and) |, )){1,5}\$[^$]{1,60}\$(?=[.!]?$)/.exec(last)
  if (found === null || doubted.test(last.slice(0, found.index))) return undefined
  const names = found[0]
    .split(/\$(?:,? (?:or|and) |, )\$/)
    .map((one) => /^\$?\s*([a-z])\s*(?:[=<>≤≥]|\\[lg][et])/.exec(one)?.[1])
  return names.every((name) => name !== undefined && name === names[0]) ? found[0] : undefined
}

const lastFormula = (text: string): string | undefined => {
  const match = matches(text, formulas).at(-1)
  if (match === undefined) return undefined
  const before = text.slice(Math.max(0, match.index - 60), match.index)
  if (doubted.test(before) || rejected.test(text.slice(match.index + match[0].length))) return undefined
  const formula = lastRow((match[1] ?? match[2] ?? match[3] ?? match[4])!)
  return /\b(?:about|around|almost|nearly|approximately|roughly)\s*$/.test(before) ? `≈ ${formula}` : formula
}

/** Counts natural-language words, as opposed to words within formulas. */
export const words = remembered(
  (text) =>
    (
      text
        .replace(formulas, " ")
        .replace(/\\text\s*\{[^{}]*\}|\\[a-zA-Z]+/g, " ")
        .match(/(?:\p{L}\p{M}*){2,}/gu) ?? []
    ).filter((word) => !/^(?:sin|cos|tan|cot|sec|csc|log|ln|exp|sqrt|pi|and|or|inf|infty|oo|arc\w+)$/i.test(word))
      .length,
  8
)

const number =
  /(?<![\w.^_,/√])[-+−]?(?:\\?[$€£¥₹]\s?)?(?:\d+ \d+\/\d+(?=\W|$)|\d+\/\d+(?=\W|$)|\d+(?:\.\d+)?[eE][+-]?\d+(?=\W|$)|\d{1,2}:[0-5]\d(?:\s?[apAP]\.?[mM]\b\.?)?(?=\W|$)|\d{1,3} \d{3}(?=\s?(?:[€£]|euros?\b))|\d{1,3}(?:[ \u00a0\u2009\u202f'’.]\d{3}){2,}(?!\d)|\d{1,3}(?:[\u00a0\u2009\u202f]\d{3})+(?!\d)|\d{1,3}(?:,\d{3})+(?!\d)|\d+,\d{1,2}(?!\d)|\d+)(?:\.\d+)?(?:\s?[%€£¥₹])?(?![\d/^]|[,.]\d|\s?[π√])(?=\W|$|_|(?:[kcm]m|m|kg|g|km\/h|mph)(?![\p{L}\d])|\p{Script=Han}|\p{Script=Hangul})/gu

/** Matches a power, a root or a multiple of π in plain text, for sentences without other numbers. */
const powers =
  /(?<![\w.^_,/])[-−]?\d*(?:√\d+|π)(?:\/\d+)?(?![\w^√π/⁰¹²³⁴⁵⁶⁷⁸⁹])|(?<![\w.^_,/])\d+(?:\.\d+)?(?:\s?[×x*·]\s?10)?\^(?:\{-?\d+\}|-?\d+)(?![\d^.]\d|\^)/g

/** Words that rule out a number as an answer: bounds, guesses, denials and counts of other things. */
export const hedge =
  /\b(?:not|never|no longer|cannot|can't|isn't|(?<!\bthe )(?:least|most)|(?<!\d\*{0,2} )(?:more|less|fewer|greater)|(?:more|less|fewer) or|or (?:more|less|fewer)|over|under|between|could|may|maybe|perhaps|possibly|possible(?! \p{L}+s\b)|probably|likely|might|tried|tries|trying|try|guess\w*|unsure|unclear|(?<!the )unknown|unable|no idea|don't know|do not know|doubt\w*|unless|wrong|incorrect|if|no|none|neither|nor|impossible|(?:problem|question|exercise|task|statement|prompt)s? (?:has|have|asks?|says?|contains?|consists|states?|gives?|mentions?)|suppose|assume|fails?|failed|attempt\w*|excluded|rejected|gave up|give up|squared|cubed|(?:step|case|problem|question|exercise|example|equation|part|page|line|option|choice|chapter|section|figure|table|theorem|lemma|definition|proposition|corollary|remark|exercise|formula|method|row|column|version|attempt|page|appendix|ref|reference)s?\s*\(?#?\d+)\b/iu

/** Equivalents in other languages: denials, guesses and bounds. */
export const foreignHedge =
  /(?<!\p{L})(?:nicht|kein\p{L}*|vielleicht|vermutlich|wahrscheinlich|höchstens|mindestens|pas|peut-être|probablement|suppos\p{L}*|au (?:plus|moins)|quizás?|tal vez|probablemente|al menos|a lo sumo|como (?:máximo|mínimo)|talvez|provavelmente|não|pelo menos|no máximo|forse|probabilmente|non|almeno|al massimo|не|возможно|может быть|вероятно|наверное|niet|misschien|waarschijnlijk|nie|może|chyba|prawdopodobnie|belki|muhtemelen|değil|kanske|kanskje|inte|ikke|möjligen)(?!\p{L})|可能|也许|也許|大概|不确定|不確定|不知道|不是|至少|至多|最多|最少|かもしれ|おそらく|たぶん|多分|わかりません|分かりません|ではない|아마|모르|아니/iu

export const about = /\b(?:about|around|almost|nearly|approximately|approx|roughly)\b|≈/i

/** A closing sentence in parentheses that comments on the preceding answer: "(For $n = 5$ the sum is 30.)". */
const comment =
  /(?<=[.!?$*)\]])\s+\((?:For|Note|Here|Since|As|Because|Check\w*|Verif\w*|Indeed|In fact|Recall|With|By|When|If)\b[^()]{1,200}\)\.?\s*$/

/** Returns the end of the last sentence that contains a value. */
export const lastValueEnd = (text: string): number => {
  const commented = text.slice(-400).search(comment)
  let end = commented === -1 ? text.length : Math.max(0, text.length - 400) + commented
  for (let steps = 0; steps < 12; steps++) {
    const part = text.slice(Math.max(0, end - 600), end)
    const begin = [...part.replace(/[\s.!?。！？।]+$/, "").matchAll(/\n|[.!?]\s|[。！？।]/g)].at(-1)?.index ?? 0
    const cut = part.slice(begin === 0 ? 0 : begin + 1)
    if (/[\d$\\]|[∞π√∅]/.test(cut)) return end
    if (begin === 0) break
    end = end - part.length + begin + 1
  }
  return text.length
}

/** "not 3 but 4" in the supported languages. */
const contrast =
  /^\s*(?:(?:not|nicht|kein\p{L}*|pas|non|no|não|niet|inte|ikke|nu|nie|ne|ni|ei|nem|не|δεν|không phải|bukan)\s+\S{1,60}?,?\s*(?:but|sondern|mais|sino|ma|bensì|mas(?: sim)?|maar|utan|men|ci|ale|lecz|nýbrž|već|vaan|hanem|а|але|αλλά|mà là|melainkan|tetapi)(?:\s+(?:rather|plutôt|bien))?|(?:不是|并非|並非)\S{1,60}?[,，]?\s*而是|\S{1,60}?(?:이|가)\s*아니라|\S{1,60}?(?:では|じゃ)なく(?:て)?、?|ليس\s+\S{1,60}?\s+بل|לא\s+\S{1,60}?\s+אלא)\s*/iu

const value = String.raw`(?:\$[^$\n]{1,40}\$|\\boxed\{[^{}]{1,40}\}|[-−]?\d[\d.,/]*\d%?|[-−]?\d%?)`

const alternatives =
  /,? (?:rather than|instead of|as opposed to) (?:the )?(?:\$[^$\n]{1,40}\$|[-−]?\d[\d.,/]*%?)(?=[.!]?(?:\s|$))/gi

const contrasts = new RegExp(
  `(?<![\\p{L}'’])(?:(n['’])(?=est))?(est |is |ist |es |é |è )?(?:not|nicht|pas|no|não|non|не|nie|ne|inte|ikke|niet|nem|nu|δεν|không phải|bukan)(?: (es|è|é|jest|je|er|är))? ${value},? (?:but|sondern|mais|sino|mas(?: sim)?|e sim|y sí|ma|bensì|а|але|lecz|ale|nýbrž|već|utan|men|maar|hanem|ci|αλλά|mà là|melainkan)(?: rather| plutôt| bien)? (?=${value})|(?<!\\p{L})(?:ليس|ليست|لا)\\s+${value}،?\\s+بل\\s+(?=${value})|(?<!\\p{L})לא\\s+${value},?\\s+אלא\\s+(?=${value})|(?:不是|并非|並非)\\s*${value}\\s*[,，]?\\s*而(?=是)|${value}\\s+(?:değil|नहीं|نہیں),?\\s+(?:(?:aksine|बल्कि|بلکہ)\\s+)?(?=${value})|${value}\\s*(?:(?:では|じゃ)なく(?:て)?、?|(?:이|가)?\\s*아니라)\\s*(?=${value})`,
  "giu"
)

/** A rejected value behind the answer: "So it is 24, not 25." */
const rejectedBehind = new RegExp(
  `(?<=${value}),? (?:and )?(?:not|nicht|et non(?: pas)?|pas|y no|no|e non|non|e não|não|en niet|niet|inte|ikke|а не|не|a nie|nie|a ne|ne) (?:the |die |der |das |le |la |el |il |o |a )?${value}(?: as (?:i|we) (?:wrote|said|stated|had|claimed|thought|put)(?: (?:first|earlier|before|above|initially|originally|previously))?)?(?=[.!]?(?:\\s|$))`,
  "giu"
)

/** A rejected value, with a remark on it, before the answer: "Nicht 9, wie man meint, sondern 8 ist richtig". */
const rejectedBefore = new RegExp(
  `(?<![\\p{L}'’])(?:not|nicht|non|no|não|не|nie|ne|inte|ikke|niet) ${value},[^,.\\n\\d]{1,60}, (?:but(?: rather)?|sondern|mais|sino|mas(?: sim)?|ma|bensì|а|але|lecz|ale|nýbrž|već|utan|men|maar) (?=${value})`,
  "giu"
)

/** Removes the rejected value from a contrast: "Ответ не 24, а 26". */
export const withoutContrast = (text: string): string =>
  text
    .replace(alternatives, "")
    .replace(rejectedBehind, "")
    .replace(rejectedBefore, "")
    .replace(
      contrasts,
      (_all: string, _elided, first, second, at: number) =>
        first ??
        (second === undefined || /(?:^|[.!?\n]\s*)$/.test(text.slice(Math.max(0, at - 3), at)) ? "" : `${second} `)
    )

/** "is not 3 but 4" within a sentence. */
const contrastInside = /(?:n['’]t|\bnot)\s+[^\s,]*\d[^\s,]*,?\s+but(?:\s+rather)?(?=\s+[^\s]*\d)/

/** Harmless words before a value. */
const lead =
  /^(?:(?:一共有|一共|总共有|总共|共有|共|有|等于|等於|是|为|為|全部で|合計|모두|총)\s*(?=\d)|(?:[→⇒➡✅☑✔👉🎯:]\uFE0F?|[-*] (?=\S)|#{1,6} +|> *(?=\*))+\s*|(?:none other than|nothing but|just|simply|exactly|precisely|indeed|therefore|then|thus|hence|so|(?:actually|really)(?= [-−]?[\d$(a-z])|(?:i|we) (?:got|get|have|find|obtain)|it['’]s|it is|that['’]s|got|(?:option|choice)(?= \(?[A-J]\)?[.!]?$)|genau|exakt|exactement|exactamente|esattamente|exatamente|precies|exakt|dokładnie|přesně|ровно)\s+)+/iu

/** Harmless text after a value: a remark in parentheses, a dash, a smiley, a verb or a counted noun. */
const trail =
  /(?:\s*[—–:;,-]+|\s*[:;]-?[)D]|,? (?:of course|obviously|naturally|clearly)|\s+(?:lol|:\)|thx|thanks)|\s*(?:です|である|でした|となる|になる|で間違いない|입니다|이다|예요|이에요|है|हैं|است|होगा|হবে|ครับ|ค่ะ)|(?<=\d\s?)(?:개|명|가지|번|마리|원|도|個|个|種|种|通り|人|本|枚|回|円|元|度|次|只|条|張|张|ตัว|คน|วิธี))+[.!。]?$/u

/** Removes a harmless remark in parentheses at the end: "8 (eight)". */
const withoutRemark = (text: string): string => {
  const found = /^([\s\S]*\S)\s*\(([^()\d]{1,60})\)\.?$/.exec(text)
  return found === null || !remark.test(found[2]!) || negative.test(found[2]!) || dubious.test(found[2]!)
    ? text
    : found[1]!
}

/** Removes the noun that a number counts, if it is not a unit. */
const withoutNoun = (text: string): string | undefined => {
  const [, value, noun] = /^(-?\d[\d.,]*)\s+(\p{L}{3,})$/u.exec(text) ?? []
  return noun === undefined ||
    isKnown(noun) ||
    /^(?:a?r?c?(?:sin|cos|tan|cot|sec|csc)|log|exp|sqrt|squared|cubed|hal(?:f|ves)|thirds?|quarters?|dozens?|hundred|thousand|[mb]illion|trillion|plus|minus|times|over|less|more|mod)/i.test(
      noun
    )
    ? undefined
    : value
}

/** Words of a script without Latin letters, directly after a number, that change its value or make it a bound. */
export const scaling =
  /^(?:[万萬億亿千百十兆割成折半強弱余餘多几幾以未前]|만|억|천|백|십|할|반|이상|이하|미만|초과|정도|쯤|ほど|くらい|ぐらい|程度|左右|লাখ|লক্ষ|হাজার|কোটি|লাখ|लाख|हज़ार|हजार|करोड़|พัน|หมื่น|แสน|ล้าน|వేల|లక్ష|కోట్ల|ألف|مليون|אלף|מיליון|тыс|млн|млрд|тис)|半|分の|分之|以上|以下|未満|左右|程度|くらい|ぐらい/u

/** A counter or a unit directly after a number, in scripts without spaces between words or with suffixes. */
const counter =
  /^(-?\d[\d.,]*)((?!.*[不非错錯没沒無无未誤误違])[\p{Script=Han}\p{Script=Katakana}ー]{1,6}(?:\/[\p{Script=Han}\p{Script=Katakana}ー]{1,4})?|つ|(?!아)\p{Script=Hangul}{1,2}|টি|টা|জন|খানা)$/u

/** Removes the counter or unit directly after a number: "35個", "7টি", "40美元". */
const withoutCounter = (text: string): string | undefined => {
  const [, value, behind] = counter.exec(text) ?? []
  return behind === undefined || scaling.test(behind) ? undefined : value
}

/** Returns the number of counted things when the noun follows it in another language, or in parentheses. */
export const counted = (text: string): string =>
  withoutNoun(text) ??
  withoutCounter(text) ??
  /^(-?\d[\d.,]*)\s+(?=[^\d]*[^ -~])[\p{L}\p{M}]+(?:\s+[\p{L}\p{M}]+){0,2}$/u.exec(text)?.[1] ??
  /^(?:\\?(?:gcd|lcm|operatorname\{[a-z]+\})\s*\([^()]*\)|\|[^|=]+\||\$\|[^|=]+\|)(?:[^\n]*)=\s*(-?\d[\d.,]*)\$?\.?$/i.exec(
    text
  )?.[1] ??
  /^\[\[?(-?\d[\d.]*)\]?\]$/.exec(text)?.[1] ??
  /^(?!placeholder|todo|draft|guess|template|example|wrong|format|hint|sample|try)\p{L}+:\s*(\$[^$]+\$|-?\d[\d.,]*(?:\s?[€£¥%])?)$/iu.exec(
    text
  )?.[1] ??
  (words(text) > 0 ? /^\p{L}{2,}\s+\((-?\d[\d.,]*)\)$/u.exec(text)?.[1] : undefined) ??
  text

/** Removes a lead-in that introduces an answer: "Total cost: 18". */
const behindLead = (text: string): string => {
  const found = /^([\p{L} ]{2,40}):\s+(?=[^:]*\d[^:]*$)/u.exec(text)
  return found !== null &&
    found[1]!
      .toLowerCase()
      .split(" ")
      .every((word) => leads.has(word))
    ? text.slice(found[0].length)
    : text
}

/** Returns the stated value without any comments on it. */
export const plainValue = (content: string): string => {
  if (content.length > 400) return content
  const after = content.replace(contrast, "").replace(lead, "")
  const bare = behindLead(/^\*\*([^*\n]{1,60})\*\*(?:\s*\([^()]*\))?$/.exec(after)?.[1] ?? after)
  const short = /\p{L}/u.test(bare) && !/^\$[^$]*\$$/.test(bare) ? bare.replace(because, "") : bare
  const plain = counted(withoutRemark(short).replace(trail, "").trim())
  return /[\d\\$]|\p{L}/u.test(plain) ? plain : content
}

/** Returns a line break before the last line with content, at which a sentence ends. White space may precede others. */
const lastBreak = (text: string): number => {
  let at = text.trimEnd().lastIndexOf("\n")
  while (at > 0 && /\s/.test(text[at - 1]!)) at = text.lastIndexOf("\n", at - 1)
  return at
}

export const lastSentence = remembered(
  (text) =>
    text
      .slice(lastBreak(text) + 1)
      .split(/\n|(?<=[.!?])\s+(?!\\(?:cdot|times|div)(?![a-z])|[-+*/=)}\]])|(?<=[。！？।])/)
      .findLast((part) => part.trim() !== ""),
  8
)

/** Returns the known unit directly after a number, or an empty string. */
export const unitBehind = (text: string): string => {
  const found =
    /^\s?(?:(?:square|cubic)\s+)?[a-zA-Z°]+(?:\s*\/\s*[a-zA-Z]+|\s+per\s+[a-zA-Z]+)?(?:\^\d|[²³])?(?![\p{L}\p{M}\w(])/u.exec(
      text
    )?.[0] ?? ""
  const names = found.split(/\s*\/\s*|\s+|\^\d|[²³]/).filter((word) => !/^(?:square|cubic|per|)$/.test(word))
  const isPlace = /^\s?in\b/.test(found) && /^\s?in\s+\w/.test(text)
  return names.length > 0 && names.every(isKnown) && !isPlace ? ` ${found.trim()}` : ""
}

const conclusions = new RegExp(conclusion.source, "giu")

/** Returns the position of the last concluding word, or -1 if there is none. */
const lastConclusion = (text: string): number => matches(text, conclusions).at(-1)?.index ?? -1

/** A quantity in two units: "1 hour and 35 minutes", "3 dollars and 50 cents". */
const compound =
  /(?<![\d.,])\d+ (?:hours?|h) (?:and )?\d+ (?:minutes?|mins?)\b|(?<![\d.,])\d+ (?:minutes?|mins?) (?:and )?\d+ (?:seconds?|secs?)\b|(?<![\d.,])\d+ (?:feet|foot|ft) (?:and )?\d+ (?:inch(?:es)?)\b|(?<![\d.,])\d+ (?:dollars?|euros?) (?:and )?\d+ cents?\b/

/** A quantity that is restated at the end: "that is 95 minutes". */
const restated = /(?:,\s*(?:that is|i\.e\.|namely)|\si\.e\.),?\s+(-?\d[\d,.]*(?: [a-z]+)?)[.!]?$/

const months = "January|February|March|April|May|June|July|August|September|October|November|December"

const date = new RegExp(
  `\\b(?:${months}) \\d{1,2}(?:st|nd|rd|th)?\\b|\\b\\d{1,2}(?:st|nd|rd|th)? (?:of )?(?:${months})\\b`
)

/** Words after the last of several numbers that mark it as their total: "12 on Monday and 9 on Tuesday, 21 in all". */
const total = /^(?:\s+\p{L}+){0,2}?\s+(?:altogether|in total|in all|overall|total)[.!]?$/u

/** Returns the only number in the last sentence, with its unit, if it is stated plainly. */
const onlyNumber = (text: string): string | undefined => {
  const sentence = lastSentence(text)
  if (sentence === undefined || /\b(?:if|otherwise|else)\b/i.test(sentence)) return undefined
  const whole = withFractions(sentence.replace(/^[\s\S]*;(?=[^;]*\d)/, ""))
  const last = whole.replace(/\([^()]*\)|（[^（）]*）/g, "").replace(because, "")
  if (hedge.test(last) || foreignHedge.test(last)) return undefined
  const outside = matches(last, number)
  const source = outside.length > 0 ? last : whole
  const plain = outside.length > 0 ? outside : matches(whole, number)
  const raised = matches(source, powers)
  const isPart = ({ index }: RegExpExecArray) =>
    raised.some((one) => one.index <= index && index < one.index + one[0].length)
  const all = plain.every(isPart) ? raised : plain
  const concluded = all.length > 1 ? lastConclusion(source.slice(0, all.at(-1)!.index)) : -1
  const later = concluded === -1 ? all : all.filter(({ index }) => index > concluded)
  const end = all.at(-1)
  const isTotal = all.length > 1 && total.test(source.slice(end!.index + end![0].length))
  const twofold = compound.exec(source)
  if (twofold !== null && all.length === 2 && twofold[0].includes(all[0]![0]) && !about.test(last)) return twofold[0]
  const again = all.length === 1 ? undefined : restated.exec(whole)?.[1]
  if (again !== undefined) return again
  const dated = all.length === 1 ? date.exec(source)?.[0] : undefined
  if (dated !== undefined) return dated
  const found = isTotal || later.every(([one]) => one === later[0]![0]) ? later.slice(-1) : later
  if (found.length !== 1) return undefined
  const [match] = found
  const said = `${match![0]}${unitBehind(source.slice(match!.index + match![0].length))}`
  return about.test(last) ? `≈ ${said}` : withLetterUnit(said)
}

/** Returns the result at the end of a calculation in the last sentence. */
const reckoned = (text: string): string | undefined => {
  const last = lastSentence(text)
  if (last === undefined || hedge.test(last)) return undefined
  const match = /=\s*(-?(?:\\?[$€£])?(?:\d*√\d+|\d*π|[\d,]*\.?\d+)(?:\s?[°%]|\s+[a-z]+)?)\s*[.!]?$/.exec(last)?.[1]
  return match
}

/** Whether a text is a short sentence, as opposed to a formula that contains a word. */
export const isSentence = (text: string): boolean =>
  /^(?:\p{Lu}\p{Ll}+(?:['’]\p{Ll}+)?[ ,:]|[AO] \p{Ll}{3})/u.test(text) && words(text) > 0

/** Words that leave open whether a sentence is true. */
const doubt =
  /\b(?:not|never|cannot|can't|isn't|maybe|perhaps|might be|may be|could be (?=[\d$\\])|guess\w*|tried|if|suppose|assume|unless|wrong|unsure|neither|nor|possible that|whether|doubt\w*)\b/i

/** Reads a separate letter after a number as a unit if it is a known unit symbol: "14 m". Applies to prose only. */
export const withLetterUnit = (said: string): string =>
  said.replace(
    /^(\*{0,2}[-−]?[\d.,]*\d(?:\s?(?:[×x*·]|\\times)\s?10\^(?:\{-?\d+\}|-?\d+)|[eE]-?\d+)?) ?([a-zA-Z])(\/[a-zA-Z]{1,3})?(\^?[23]|[²³])?(?=\*{0,2}$)/,
    (all, value, letter, divisor, power) =>
      isKnown(letter) && (divisor === undefined ? /\s/.test(all) : isKnown(divisor.slice(1)))
        ? `${value} \\text{ ${letter}${divisor ?? ""}${power === undefined ? "" : `^${power.replace("^", "").replace("²", "2").replace("³", "3")}`}}`
        : all
  )

/**
 * Returns a formula or number after "is" at the end of a text: "The probability is \frac{1}{2}", "The largest $n$ is
 * 34".
 */
const stated = (text: string): string | undefined => {
  const whole = (lastSentence(text) ?? "").replace(
    /\s\([^()\d]*\)(?=[.!]?$)|\s\([^()]{0,40}=[^()]{0,40}\)(?=[.!]?$)/,
    ""
  )
  const short = whole.replace(because, "")
  const last = (/[\d$\\]/.test(short) ? short : whole).replace(contrastInside, " ")
  const assignments =
    /(?:solutions?|pair|values?|for|with|when|where|at|is|are|need|have|get|obtain|find|gives?|yields?|so|thus|hence|therefore),?:? ((?:(?:[-−]?[\d./]+ ?[<≤] ?)?[a-z] ?(?:[=<>≤≥]|[<>]=) ?[-−]?[\d./√π]+(?:,? (?:and|or) |, |(?=[.!]?$))){1,4})[.!]?$/.exec(
      last
    )?.[1]
  if (assignments !== undefined && !doubt.test(last)) return assignments
  const interval = /\b(?:interval|domain|range|is)\s+([[(][-−]?[\d./√π∞]+,\s*[-−+]?[\d./√π∞]+[\])])[.!]?$/.exec(
    last
  )?.[1]
  if (interval !== undefined && !doubt.test(last)) return interval
  const point = /(?:point|at|is|are|vertex|coordinates?|=)\s+(\([-−]?[\d/.√]+(?:,\s*[-−]?[\d/.√]+)+\))[.!]?$/.exec(
    last
  )?.[1]
  if (point !== undefined && !doubt.test(last)) return point
  const end = /^[\s\S]*\b(?:is|are|equals|gives|yields|left with|simplifies to|reduces to)\s+([^\n]{1,80}?)[.!]?$/.exec(
    last
  )?.[1]
  return end === undefined ||
    doubt.test(last) ||
    words(end) > 0 ||
    !/\d|\\|\$|[(^π√]|^[a-z]{1,2}\s?[/+*−-]\s?[a-z]{1,2}$/.test(end)
    ? undefined
    : withLetterUnit(end)
}

/** Returns a bold value at the end of a sentence, or the value after "is" in bold text. */
const emphasised = (text: string): string | undefined => {
  const last = lastSentence(text) ?? ""
  const found = /(?:^|[^*])\*\*([^*\n]{1,80})\*\*(?:\s*\([^()]*\))?[\s.!。✅✓]*(?:,[^*]*)?$/.exec(last)?.[1]
  if (found === undefined || doubt.test(last) || foreignHedge.test(last)) return undefined
  const value = behindLead(/^(?:[^=]*\b(?:is|are|equals)\s+)?(.*?)\.?$/.exec(found)![1]!)
  if (/^[A-J]$/.test(value) && /\b(?:option|choice|answer)\b/i.test(last)) return value
  return words(value) <= 3 && /\d|\\|\$|[√π∞]/.test(value) ? withLetterUnit(value) : undefined
}

/** An answer in words as the predicate of a short sentence: "The function is even." */
const predicate =
  /(?:^\W*(?:(?:so|thus|hence|therefore|then|finally|consequently|in conclusion),? )?|[,;] (?:and )?(?:so|thus|hence|therefore) |^(?:Since|Because|As|By|From)\b[^;.!?]*, )(?!if\b)[^,;.!?]{1,80}? (?:is|are|was|will be|must be)(?: (?:thus|therefore|hence|always|indeed|clearly|then|called|named|on|in|an?|the|on an?)){0,2} \*{0,2}(\p{L}{2,}(?:[ -]\p{L}{3,})?)[.!*]*$/iu

const quantity =
  "(?<=\\b(?:series|integral|sequence|product|sum|limit|it|function|expression)(?: \\$[^$\\n]{1,60}\\$)?(?: therefore| thus| hence)?) "

/** Verbs that can be replaced by a symbol or an adjective. */
const verbs: ReadonlyArray<readonly [said: RegExp, value: string]> = [
  [/(?<= )(?:diverges|tends|goes|approaches|grows) to (?:negative|minus) infinity[.!*]*$/i, "$-\\infty$"],
  [/(?<= )(?:diverges|tends|goes|approaches|grows) to (?:positive |plus )?infinity[.!*]*$/i, "$\\infty$"],
  [new RegExp(`${quantity}diverges[.!*]*$`, "i"), "divergent"],
  [new RegExp(`${quantity}converges[.!*]*$`, "i"), "convergent"],
  [new RegExp(`${quantity}does(?: not|n['’]t) exist[.!*]*$`, "i"), "does not exist"]
]

/** The set of all numbers, in words: "Domain: all real numbers". */
const everything =
  /(?<=(?:is|are|:|for|domain|range) )(?:(?:the set of )?(?:all )?real numbers|ℝ|\(?all reals\)?)[.!*]*$/iu

const none =
  /\b(?:(?:has|have) )?no (?:real |integer |rational |complex |such |positive |valid |further )?(?:solutions?|roots?)(?: exists?)?[.!*]*$/i

/** A person who found no solution. */
const unfound = /\b(?:i(?: \w+){0,2}|(?:we|you|one) (?:see|saw|find|found|know))\s*$/i

/** "Infinitely many", about solutions. */
const endless = /\b(?:has|have|there are) (infinitely many)(?: solutions?)?[.!*]*$/i

const opening = /^\W*(yes|no|true|false)\b(?=[,;:.!—–*]|$)/i

/**
 * Rewrites a text whose verb states the answer so that its predicate does: "The series is divergent" for "The series
 * diverges".
 */
export const withWordAnswer = (
  text: string
): { readonly text: string; readonly start: number; readonly end: number; readonly content: string } | undefined => {
  const last = lastSentence(text)
  if (last === undefined || doubt.test(last.replace(/does not exist/i, ""))) return undefined
  const from = text.lastIndexOf(last)
  const put = (index: number, verb: string, content: string) => {
    const start = from + index + verb.length
    return { text: `${text.slice(0, from + index)}${verb}${content}`, start, end: start + content.length, content }
  }
  const nothing = none.exec(last)
  if (nothing !== null && unfound.test(last.slice(0, nothing.index))) return undefined
  if (nothing !== null) return put(nothing.index, /^ha/i.test(nothing[0]) ? "is " : "", "$\\emptyset$")
  const all = last.search(everything)
  if (all !== -1) return put(all, "", "$(-\\infty,\\infty)$")
  for (const [said, value] of verbs) {
    const index = last.search(said)
    if (index !== -1) return put(index, last[index] === " " ? " is " : "is ", value)
  }
  const many = endless.exec(last)
  if (many !== null) {
    const at = from + many.index + many[0].indexOf(many[1]!)
    return { text, start: at, end: at + many[1]!.length, content: many[1]! }
  }
  const first = opening.exec(text)
  if (first !== null && (!/[.!?\n]\s+\S/.test(text) || /^[.!*]/.test(text.slice(first[0].length)))) {
    return { text, start: first[0].length - first[1]!.length, end: first[0].length, content: first[1]! }
  }
  const word = predicate.exec(last)?.[1]
  if (word === undefined) return undefined
  const start = from + last.lastIndexOf(word)
  return { text, start, end: start + word.length, content: word }
}

/** Returns a value that is attained somewhere: "The minimum is $17$, attained at $x = 4$". */
const reached = (text: string): string | undefined => {
  const last = lastSentence(text) ?? ""
  const match = /\b(?:is|equals)\s+(\$[^$\n]{1,80}\$),?\s+(?:(?:which|and) is )?(?:attained|achieved|reached)\b/.exec(
    last
  )
  return match === null || doubt.test(last) ? undefined : match[1]
}

/** Returns a point given by its coordinates in separate formulas: "$x=4$ and $y=-2$". */
const coordinates = (last: string): string | undefined =>
  doubt.test(last)
    ? undefined
    : /\$x\s*=[^$=<>]{1,40}\$(?:,? and |, )\$y\s*=[^$=<>]{1,40}\$(?:(?:,? and |, )\$z\s*=[^$=<>]{1,40}\$)?(?=[.!]?$)/.exec(
        last
      )?.[0]

/** The domain of a formula, stated after it: "for $x \\neq 1$". */
const condition =
  /,? for (?:every|each|all|any) (?:\w+ ){0,3}\$[a-zA-Z]\$(?=[.!]?$)|,? (?:for|where|when|with|provided(?: that)?) (?:all )?\$[^$\n]{0,40}(?:\\(?:neq?|geq?|leq?|in)(?![a-z])|[≠<>≤≥])[^$\n]{0,40}\$(?=[.!]?$)/

/**
 * Returns the answer at the end of a text if it is a formula, the result of an equation, or a plainly stated number.
 */
export const asserted = (written: string): string | undefined => {
  const text = /\$[^$]+\$[^$]*\$/.test(written) ? written.replace(condition, "") : written
  const last = lastSentence(text) ?? ""
  const bold = last.includes("**") ? emphasised(text) : undefined
  if (bold !== undefined) return bold
  const shown = matches(last, formulas).at(-1)
  if (shown !== undefined) {
    const behind = last.slice(shown.index + shown[0].length)
    return coordinates(last) ?? stated(text) ?? reached(text) ?? run(last) ?? reckoned(behind) ?? lastFormula(text)
  }
  return stated(text) ?? reckoned(text) ?? onlyNumber(text) ?? lastFormula(text)
}

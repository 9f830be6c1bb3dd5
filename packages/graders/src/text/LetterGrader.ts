/**
 * Grades multiple-choice answers: extracts the chosen letter and compares it with the reference.
 *
 * A letter counts only if it is separate: not the "A" in "A hexagon", and not within a word. Lowercase letters count in
 * brackets, boxes and tags, and after a colon. A text that only discusses options, or that names several, does not
 * choose any. If there are several statements, the last one counts.
 */
import { Options as Tables } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import * as Effect from "effect/Effect"
import { answerWords, joinedWords, rightWords, wrongWords } from "../internal/answerWords.ts"
import { isChosen, isReplaced, isUnchosen } from "../internal/assertion/Assertion.ts"
import { matches } from "../internal/matches.ts"
import { spoken } from "../internal/spoken.ts"
import { firstTagged } from "../internal/tagged.ts"
import { around, inJson, withoutStruck } from "../math/Marks.ts"
import * as Verdict from "../Verdict.ts"

/** Options for {@link make}. */
export interface Options {
  /** Name of the grader. Default: `letter`. */
  readonly name?: string | undefined
  /** The possible letters. Default: A to J. */
  readonly letters?: string | undefined
}

const defaultLetters = "ABCDEFGHIJ"

// -------------------------------------------------------------------------------------------------------------------
// Plain text
// -------------------------------------------------------------------------------------------------------------------

/** Letters of other scripts that label choices as A, B, C and D do. They must be separate. */
const foreign: Readonly<Record<string, string>> = {
  أ: "A",
  ب: "B",
  ج: "C",
  د: "D",
  অ: "A",
  ব: "B",
  ড: "C",
  ঢ: "D",
  Α: "A",
  Β: "B",
  Γ: "C",
  Δ: "D"
}

/**
 * Cyrillic letters that look like Latin ones. "В" is not included, because it may be meant as the third letter of its
 * alphabet.
 */
const alike: Readonly<Record<string, string>> = { А: "A", С: "C", Е: "E" }

const innermost = /\\(?:text\w*|math\w*|mbox|emph|underline|displaystyle|Large|large|huge|bf)\s*\{([^{}]*)\}/g

/** A label in brackets: "[Answer] B", "【答案】B". */
const framed = new RegExp(
  `^[ \\t]*[[【「『]\\s*(?:final )?(?:${answerWords}|${joinedWords})\\s*[\\]】」』]\\s*[:：]?\\s*`,
  "gimu"
)

const ordinals = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]

/** A choice by its place: "the fourth option, France, is correct". */
const ordinal = new RegExp(
  `\\bthe (${ordinals.join("|")}) (?:option|choice|alternative)(?:, [^,.\\n]{1,60},| \\([^()\\n]{1,60}\\))?(?! (?:is|was) (?:not|wrong|incorrect|also|only))`,
  "gi"
)

/** Letters in circles and squares: "Ⓑ", "🅑", "🄱". */
const enclosed = /[Ⓐ-ⓩ]|[\u{1f110}-\u{1f129}\u{1f130}-\u{1f149}\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}]\ufe0f?/gu

const unenclosed = (sign: string): string => {
  const code = sign.codePointAt(0)!
  return `(${String.fromCodePoint(0x41 + (code < 0x10000 ? (code - 0x24b6) % 26 : (code - 0x1f110) % 32))}) `
}

/** Symbols around a choice that do not judge it. */
const ornaments = /[⭐🌟★☆🎯➡✨🏆🏁💡🔹🔸▶🎉🥇📌📝🔷🔶]\ufe0f?/gu

/** Removes Markdown, HTML and LaTeX markup. Boxes and tags become `‹…›`. */
const plain = (text: string): string => {
  const unwrapped = text
    .replace(enclosed, unenclosed)
    .replace(ornaments, "")
    .normalize("NFKC")
    .replace(/<answer>\s*([\s\S]*?)\s*<\/answer>|\[answer\]\s*([\s\S]*?)\s*\[\/answer\]/gi, "‹$1$2›")
    .replace(/<\w+\s[^<>]{0,40}?(?:letter|choice|option|answer)\s*=\s*["']([A-Za-z])["'][^<>]{0,40}>/g, "‹$1›")
    .replace(ordinal, (_, place: string) => `option ${"ABCDEFGHIJ"[ordinals.indexOf(place.toLowerCase())]!}`)
    .replace(framed, "Answer: ")
    .replace(/^[ \t]*\|[ \t:|-]+\|[ \t]*$|^[ \t]*\|[ \t]*|[ \t]*\|[ \t]*$/gm, "")
    .replace(
      /^(?:(?:my |final )?(?:answer|choice|selection|pick|option|letter)|selected(?: \w+)?|chosen(?: \w+)?)[ \t]*\|[ \t]*/gim,
      "Answer: "
    )
    .replace(/^[ \t]*(?:[-*] )?\[[xX]\][ \t]*/gm, "")
    .replace(/<\/?[a-z][^<>]{0,80}>/gi, " ")
    .replace(/^ {0,3}#{1,6} +/gm, "")
    .replace(/[✓✔✅☑👉]\uFE0F?|^[ \t]*>[ \t]?/gmu, "")
    .replace(innermost, "$1")
    .replace(innermost, "$1")
    .replace(/\\f?box(?:ed)?\s*\{((?:[^{}]|\{[^{}]*\})*)\}/g, "‹$1›")
    .replace(/\\f?boxed\s+([A-Za-z])(?![\w])/g, "‹$1›")
    .replace(/\\(?:quad|qquad|left|right|displaystyle|bf|rm|[,;:! ])/g, " ")
    .replace(/\\[()[\]]|\$|\*|`|__|(?<![\w])_(?=\(?[A-Za-z]\)?_)|(?<=[A-Za-z]\)?)_(?![\w])/g, "")
    .replace(/[【「『〔]/g, "(")
    .replace(/[】」』〕]/g, ")")
    .replace(/["“”„«»]|(?<!\p{L})['‘’]|['’](?!\p{L})/gu, "")
  return unwrapped
    .replace(/(?<!\p{L})[أبجدঅবডঢΑΒΓΔ](?!\p{L})/gu, (letter) => foreign[letter]!)
    .replace(/(?<=[:(]\s*)[АСЕ](?!\p{L})/gu, (letter) => alike[letter]!)
}

// -------------------------------------------------------------------------------------------------------------------
// Statements
// -------------------------------------------------------------------------------------------------------------------

const choiceWords =
  "option|choice|letter|alternativ[ea]|answer|opción|opcion|opção|opzione|option|variante?|letra|lettera|lettre|buchstabe|вариант|選択肢|选项|選項|보기"

const is =
  "is|are|would be|must be|should be|has to be|will be|ist|lautet|wäre|est|es|sería|è|é|seria|är|jest|je|este|adalah|ialah|είναι|это|є|е|:|=|→|->|—|–|-|هو|هي|היא|הוא|คือ|to|on|là|là|olarak|是|为|為|選|选|は|が|은|는"

const adverbs = "therefore|thus|then|definitely|clearly|probably|likely|indeed|hence|simply|actually|most likely"

/** Words that may follow a chosen letter. "A" and "I" are also words, so not every occurrence is a choice. */
const connectors =
  "because|since|which|as|is|it|ist|est|es|è|é|är|er|and|or|with|for|by|due|given|but|where|from|weil|da|porque|car|parce|perché|потому|omdat|şıkkı\\p{L}*|seçene\\p{L}*|olur"

const options = `(?:(?:the|la|le|el|il|die|a|o)\\s+)?(?:(?:${choiceWords})\\s*#?)?`

interface Way {
  readonly pattern: RegExp
  /** Whether a separate lowercase letter counts. */
  readonly isSmall: boolean
}

/** Scripts without spaces between words: "정답은 B입니다". */
const asian = "[\\p{Script=Han}\\p{Script=Hangul}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}]"

/** Nouns for a choice, in the same languages. */
const nouns = `${choiceWords}|alternativ|(?:${answerWords})\\p{L}{0,4}|statement|claim|lösung|soluzione|solución|solução|утверждение|ответ|seçenek|şık|विकल्प|বিকল্প|گزینه|الخيار|האפשרות|επιλογή|wariant|možnost|svarsalternativ`

/** Words that may stand between these and the letter: copulas, articles and concluding words. */
const links =
  "is|are|must be|should be|would be|will be|ist|lautet|est|es|sería|è|é|seria|är|er|on|jest|je|este|to|là|adalah|ialah|ni|είναι|это|є|е|هو|هي|היא|הוא|the|la|le|el|il|die|das|a(?=\\s+letra)|η|το|here|also|so|thus|therefore|hence|then|clearly|donc|dunque|quindi|logo|portanto|entonces|somit|daher|dus|alltså|altså|więc|deci|dakle|tehát|siis|таким образом|значит|do"

/** Text after a letter that does not continue its sentence. */
const rest =
  "(?=['’](?:[dt][ıiuü]r|s)(?!\\p{L})|\\s*[)\\]}›:]|\\s*[.,;!।。]|\\s*(?:$|\\n)|\\s+(?:şıkkı\\p{L}*|seçene\\p{L}*|है|ہے|است)|(?:번|입니다|です|である))"

const way = (before: string, letters: string, isSmall = false, after = ""): Way => {
  const letter = `[(\\[{]{0,3}(?<letter>[${letters}])(?!(?!${asian})[\\p{L}\\p{N}]|['’](?![dt][ıiuü]r)\\p{L}|\\s*[+^=×*/]\\s*\\w|\\.\\w|\\s?[-–—][A-Z](?!\\p{L}))[)\\]}]*`
  return { pattern: new RegExp(`${before}${letter}${after}`, "giu"), isSmall }
}

const end = "(?=\\s*(?:[.!,;›(]|$|\\n))"

/** Patterns for stating an answer, in groups. Later groups are used only if earlier ones do not match. */
const waysOf = (letters: string): ReadonlyArray<ReadonlyArray<Way>> => {
  const label = `(?:(?<!\\p{L})(?:${answerWords})s?|${joinedWords})`
  const phrase = `(?<!\\p{L})(?:(?:${rightWords}|${nouns}|${links})[\\s,:]+)*?(?:${rightWords}|${nouns})[\\s:]+(?:(?:${rightWords}|${nouns}|${links})[\\s:]+){0,5}`
  const stated = [
    way(`‹\\s*${options}\\s*`, letters, true),
    way(`${label}\\s*[:=]\\s*${options}\\s*`, letters, true),
    way(
      `${label}[^\\n:.‹]{0,40}?(?:\\b|\\s|(?<=${asian}))(?:${is})\\s*(?:(?:${adverbs}),?\\s+)?${options}\\s*`,
      letters
    ),
    way(phrase, letters, false, rest),
    way(
      `(?:(?<!\\p{L})(?:${nouns})\\s+|选项|選項|選択肢|(?<=^|[\\n.,]\\s*))`,
      letters,
      false,
      `(?:\\s+(?:${links}))*\\s*(?:(?:${rightWords})(?!\\p{L})(?=\\s*(?:[.,;!।。]|$|\\n)|\\s+(?:है|ہے|است)|\\s+(?:answer|choice|option)\\b)|是?正确|是?正確|が正し|が正解|[가이] 정답|[가이] 맞|सही)(?!\\s+(?:if|for|only|when))`
    ),
    way(
      "(?<!\\p{L})the\\s+(?:(?:false|incorrect|untrue|wrong|invalid)\\s+(?:statement|claim|assertion|sentence)|(?:statement|claim|option|choice|one|assertion)\\s+(?:that|which)\\s+is\\s+(?:not\\s+\\p{L}+|false|incorrect|untrue|wrong))\\s+is:?\\s+",
      letters,
      false,
      rest
    ),
    way("\\b(?:incorrect|untrue)\\s+(?:statement|claim)\\s+is\\s+", letters, false, rest),
    way(
      `(?<!\\p{L})(?:go(?:es|ing)? for|elegimos|escolhemos|wählen|choisissons|scegliamo|выбираем|выбираю|вибираю|seçiyoruz|chọn|pilih|kies|välj|väljer|velger|wybieram|volím)\\s+(?:(?:${nouns})\\s+)?`,
      letters,
      false,
      rest
    ),
    way(`${label}\\s+(?:is|:)\\s*${options}\\s*`, letters, true, "(?<=[)\\]}])(?=\\s*[.!]?\\s*(?:$|\\n))"),
    way(`${label}\\s*(?=\\()`, letters, true),
    way(
      "(?<!\\p{L})(?:correct|right)\\s+(?:option|choice|alternative|letter)\\s*(?:is|:)\\s*",
      letters,
      true,
      "(?<=[)\\]])(?=\\s*[.!]?\\s*(?:$|\\n))"
    ),
    way(
      "\\b(?:option|choice|answer|one|statement)\\s+(?:that|which)\\s+(?:matches|fits|works|agrees|remains|applies|holds)\\s+is:?\\s+",
      letters,
      false,
      rest
    ),
    way(`${label}\\s+`, letters, false, "(?:['’]d[ıiuü]r|\\s+है)?(?=\\s*(?:[.!।›]|$|\\n))"),
    way(
      `(?<!\\p{L})(?:final(?:\\s+\\p{L}+)?|(?:my\\s+)?picks?|select(?:ed|ion)|ans)\\.?\\s*[:=]\\s*${options}\\s*`,
      letters,
      true
    ),
    way(`(?<!\\p{L})ans\\.\\s+`, letters, false, end),
    way(`(?<!\\p{L})(?:(?:option|choice|so|answer)\\s+)?`, letters, false, "\\s+it\\s+is(?=\\s*(?:[.!]|$|\\n))"),
    way(`\\b(?:leaves|leaving|left\\s+with)\\s+(?:us\\s+(?:with\\s+)?)?${options}\\s*`, letters, false, end),
    way(
      `(?:^|[\\n.]\\s*)(?:richtig|korrekt|correcta?|corretta|juist)\\s+(?:ist|es|è|is|est)\\s+${options}\\s*`,
      letters,
      false,
      end
    ),
    way(
      `\\b(?:opción|opzione|opção|option|alternativa|variante?)\\s+(?:correcta|corretta|correta|correcte|richtige|corectă)\\s+(?:es|è|é|est|ist|este)\\s+(?:la\\s+|a\\s+)?`,
      letters,
      false,
      end
    ),
    way(`(?:${label})[^\\p{L}\\n]*\\n+\\s*${options}\\s*`, letters, false, end),
    way(
      `(?:correct|right|best|final)?\\s*\\b(?:choice|option|solution|response|letter|selection|pick|one)\\s*(?:(?:is|would be|must be|should be)\\b:?|:|→|->|=>)\\s*(?:(?:${adverbs}),?\\s+)?${options}\\s*`,
      letters
    ),
    way(
      `\\b(?:choose|chose|pick|picked|mark|select|selected|go with|going with|opt for|settle on|elijo|wähle|choisis|scelgo|escolho)\\s+${options}\\s*`,
      letters
    ),
    way(`(?:选择?|選擇?|選ぶ|ตอบ)\\s*(?:选项|選項)?\\s*`, letters),
    way(
      `(?<![\\p{L}])`,
      letters,
      false,
      "\\s+is\\s+(?:therefore\\s+|thus\\s+)?(?:the\\s+|our\\s+)?(?:(?:correct|right|best|final|most \\p{L}+)\\s+)?(?:answer|choice|option|one)\\b"
    ),
    way(
      `(?:^|[\\n.,;]\\s*)${options}`,
      letters,
      false,
      "\\s+is\\s+(?:the\\s+)?(?:best|my\\s+(?:final\\s+)?answer)(?=\\s*(?:[.!]|$|\\n))"
    ),
    way(
      `(?:^|[\\n.,;]\\s*)only\\s+${options}\\s*`,
      letters,
      false,
      "\\s+(?:fits?|works?|satisf\\w+|matches|is\\s+(?:left|consistent|possible)|remains)\\b"
    ),
    way(`\\b(?:which|that)\\s+is\\s+(?:the\\s+)?(?:option|choice|answer)\\s*`, letters, false, end),
    way(
      `\\b(?:hence|thus|therefore|so|consequently|finally)\\b[^.\\n]{0,40}?\\b${options}\\s*`,
      letters,
      false,
      "\\s+is\\s+(?:correct|right|true|the one)\\b"
    ),
    way(
      `\\b(?:hence|thus|therefore|so|consequently|finally|conclusion|by elimination|definitely|clearly|certainly|i think|i believe|confident)\\b[,:]?\\s*(?:it\\s+is\\s+|it's\\s+|it must be\\s+|we\\s+(?:have|get)\\s+)?${options}\\s*`,
      letters,
      false,
      end
    ),
    way(
      `(?:^|[\\n.,!?:;]\\s*|\\b(?:think|believe|say)\\s+)(?:i'd say|i would say|i say|it's|it is|it (?:must|has to|should|can only|ought to) be|that's|that is|this is)\\s+${options}\\s*`,
      letters,
      false,
      `(?:${end}|(?=\\s+(?:because|since|as|for)\\s))`
    ),
    way("(?:^|\\n)\\s*(?:=>|→|⇒|∴|->)\\s*", letters, false, end),
    way(
      `\\b(?:actually|correction|wait|no|rather|instead|mistake)\\b[^.\\n]{0,25}?[:,]\\s*(?:no[:,]\\s*)?(?:it\\s+(?:is|should be)\\s+|it's\\s+)?${options}\\s*`,
      letters,
      false,
      end
    )
  ]
  const pointed = [
    way(
      "(?<!\\p{L})(?:antwort|option|réponse|opción|respuesta|risposta|opzione|resposta|opção|alternativa|antwoord|svar)\\s+",
      letters,
      false,
      "\\s+(?:(?:est|ist|es|è|é|is|är)\\s+)?(?:la\\s+|a\\s+|de\\s+)?(?:correct[ae]?|richtig|korrekt|juste|bonne|corrett[ao]|corret[ao]|giust[ao]|esatt[ao]|juist|rätt)(?!\\p{L})"
    ),
    way(
      `\\b(?:option|choice|alternative|statement)\\s*`,
      letters,
      false,
      "\\s+is\\s+(?:correct|right|true|the one)\\b"
    ),
    way(`(?:^|[\\n.,:;(]\\s*|\\b(?:only|that|because)\\s+)`, letters, false, "\\s+is\\s+(?:correct|right)\\b"),
    way(
      `\\b(?:corresponds?|corresponding|matches|match|points?|leads?|equivalent|agrees?|consistent)\\s+(?:to|with)?\\s*(?:the\\s+)?(?:option|choice|answer|letter)\\s*`,
      letters
    ),
    way(`\\b(?:corresponds?|corresponding|matches|points?|leads?)\\s+(?:to|with)?\\s*(?=\\()`, letters)
  ]
  const alone = [
    way(
      "^\\s*",
      letters,
      true,
      `(?:\\s*[)\\]}.:]*\\s*(?:$|\\n)|\\s*\\((?:the|option|choice|answer|i\\.e|which|=)[^()?]{1,60}\\)[.!]?\\s*$|\\s*[-–—:.)]\\s|,?\\s+(?:because|since|as|for|weil|da|porque|car|parce|perché)\\b|(?<=[)\\]])\\s)`
    ),
    way(`(?:^|\\n)\\s*${options}\\s*`, letters, false, "[\\s.)\\]}]*(?:$|\\n)"),
    way(`(?:^|\\n)\\s*(?:option|choice)\\s+`, letters, false, "\\s*[:.–—-](?:\\s|$)"),
    way(`:\\s*`, letters, false, "\\s*\\.?\\s*$"),
    way("(?:^|\\n)\\s*", letters, false, "(?:[)\\]}]|\\s*[.:])[^\\n]*$")
  ]
  return [stated, pointed, alone]
}

/** The patterns for a set of letters. */
interface Patterns {
  readonly ways: ReadonlyArray<ReadonlyArray<Way>>
  /** A letter that the rest of its sentence calls wrong. */
  readonly calledWrong: RegExp
  /** Text before a letter that ends with another letter. */
  readonly second: RegExp
  /** Text after a letter that continues with another letter. */
  readonly hedged: RegExp
  /** A letter that is not part of a word or a formula. */
  readonly mention: RegExp
  /** A letter at the start of an item of a list. */
  readonly listed: RegExp
}

const known = new Map<string, Patterns>()

const patternsFor = (letters: string): Patterns => {
  const found = known.get(letters) ?? {
    ways: waysOf(letters),
    calledWrong: calledWrong(letters),
    second: new RegExp(`(?<![\\p{L}])[${letters}][)\\]]*\\s*(?:,|/|&|and|or|,\\s*(?:and|or))\\s*$`, "u"),
    hedged: hedged(letters),
    mention: new RegExp(`(?<![\\p{L}\\p{N}'’-])[${letters}](?![\\p{L}\\p{N}'’]|\\s*[+^*/]|-\\p{L})`, "gu"),
    listed: new RegExp(`(?:^|\\n|\\s(?=\\())[\\s(]*(?:(?:option|choice)\\s+)?([${letters}])\\s*[).:]`, "gi")
  }
  known.set(letters, found)
  return found
}

/** Words that negate a statement in advance: "I do not think that it is B". */
const disowned =
  /(?:\b(?:not|never|cannot|unless|whether|if|doubt|probability|chance|wrong|incorrect|isn't|neither|eliminate|except|suppose|assume|why|look(?:ing)? at|examin\w+|consider\w*|turn(?:ing)? to|move on to)\b|n't)[^.\n:;,!?]{0,40}$/i

const isWord = new RegExp(`^ (?!(?:${connectors})\\b)\\p{Ll}`, "u")

/** A statement about other people's choices: "Some students choose A". */
const ofOthers =
  /\b(?:students?|people|some|many|others?|they|someone|roommate|friend|classmates?|brother|sister|teacher|tutor|user|beginners|candidates|most)\b[^.\n:;]{0,30}$/i

/** A letter that the rest of its sentence calls wrong. */
const calledWrong = (letters: string) =>
  new RegExp(
    `^(?:(?![${letters}](?![\\p{L}\\p{N}]))[^.!?\\n]){0,120}?\\b(?:(?:is|was|are|be) (?:wrong|incorrect|false|mistaken)|common (?:mistake|error|trap))`,
    "u"
  )

/** A choice as the subject of a sentence: "C ignores entropy". */
const isSubject =
  /^[)\]}]*\s+(?:is (?:not|wrong|incorrect|false|too|only|also|a|an)|isn't|was|would|could|can|cannot|can't|does|doesn't|did|has|had|may|might|seems|fails|ignores|states|says|violates|contradicts|describes|refers|assumes|gives|misses|confuses|requires|implies)\b/

/** A mark or a word for "wrong" after a letter: "D: ❌", "A — неверно". */
const refuted = new RegExp(`^[)\\]}.:\\s]*(?:[–—-]\\s*)?(?:[✗✘❌✖❎🚫👎]|(?<=[:–—-]\\s*)(?:${wrongWords}))`, "iu")

/** Whether a second letter, or a doubt, directly follows the first letter. */
const hedged = (letters: string): RegExp =>
  new RegExp(
    `^[)\\]}.]*\\s*(?:(?:,|/|&|\\||;)\\s*(?:and|or)?|and|or|und|oder|ou|et|o|y|e|u|и|или|або|veya|ve|atau|dan|或|和|または|또는|أو|و)\\s*(?:the\\s+)?(?:(?:${choiceWords})\\s*)?[(\\[]*(?:[${letters}](?<![AI](?=\\s+\\p{Ll}))(?![\\p{L}\\p{N}'’])|(?<=[(\\[])[${letters.toLowerCase()}](?=[)\\]]))`,
    "u"
  )

const doubted = /^[)\]}]*\s*(?:\?|or\b|\(?(?:or\b|maybe|perhaps|not sure|a guess))/i

interface Statement {
  readonly at: number
  /** The chosen letter. Undefined if the text names several or is uncertain. */
  readonly letter: string | undefined
}

const statements = (
  text: string,
  { isSmall, pattern }: Way,
  patterns: Patterns,
  isHeld: (at: number) => boolean
): ReadonlyArray<Statement> =>
  matches(text, pattern).flatMap((match): ReadonlyArray<Statement> => {
    const found = match.groups!.letter!
    const at = match.index + match[0].lastIndexOf(found)
    const rest = text.slice(at + 1)
    const letter = found.toUpperCase()
    if (!isSmall && found !== letter) return []
    if (found !== letter && !/^\s*(?:[)\]}›]|[.,;!]?\s*(?:$|\n))/.test(rest)) return []
    if (/[AI]/.test(letter) && isWord.test(rest)) return []
    if (refuted.test(rest)) return []
    if (isSubject.test(rest) && !/is\s+(?:correct|right)/.test(match[0])) return []
    const from = match.index + /^[\s.!?]*/.exec(match[0])![0].length
    const lead = text.slice(Math.max(0, from - 60), from)
    if (disowned.test(lead) || ofOthers.test(lead) || patterns.calledWrong.test(rest)) return []
    const isSecond = patterns.second.test(text.slice(Math.max(0, at - 40), at).replace(/[([{]+$/, ""))
    if (!isHeld(at)) return []
    return [{ at, letter: isSecond || patterns.hedged.test(rest) || doubted.test(rest) ? undefined : letter }]
  })

/** Predicates in favor of a letter that is the subject of a sentence. */
const inFavour =
  /\b(?:best(?! known)|correct(?:ly)?|right|most|strongest|closest|clearest|complete|accurate(?:ly)?|fits?|match(?:es)?|works?|satisf(?:y|ies)|makes sense|true|remains|(?:the|my|our) (?:final )?(?:answer|choice))\b/i

/** Words that keep the last sentence with a letter from choosing it. */
const against =
  /\b(?:not|never|no longer|neither|nor|none|cannot|wrong|incorrect|false|mistakes?|errors?|fails?|tempting|trap|off|rule[ds]? out|out because|eliminated?|discard(?:ed)?|reject(?:ed)?|exclude[ds]?|if|unless|whether|would (?:be|have)|could|might|may|maybe|perhaps|suppose|assum(?:e|es|ing)|check|consider|let['’]?s|look at|try|test|students?|people|others?|they|some|many|textbook|key|until|guess|glance|looks?|only correct for|probability)\b|n't|\?|\bonly[.!]?$|\b[A-J] to [A-J]\b/i

const subjectOf = new RegExp(
  `(?:^|[,:;]\\s*|\\b(?:only|that|so|thus|hence|therefore)\\s+)(?:(?:the\\s+)?(?:${choiceWords})\\s+)?[(\\[]*$`,
  "i"
)

/**
 * Text before a letter at the end of a sentence that makes it the choice: a symbol, a preposition or a verb, but not a
 * noun.
 */
const objectOf = new RegExp(
  `(?:^|[,:;→⇒>=—–]\\s*|\\b(?:in|to|with|on|as|is|be|so|us|hence|thus|ergo|therefore|just|simply|only|conclude|choose|pick|select|matching|meaning|making|leaving|gives?|yields?|favou?rs?|supports?|indicates?|suggests?|implies|means|proves|confirms|shows)\\s+)(?:(?:the\\s+)?(?:${choiceWords})\\s+)?[(\\[]*$`,
  "i"
)

/** Returns the letter in the last sentence that mentions any, if it mentions only one, as its subject or conclusion. */
const favoured = (text: string, { mention }: Patterns): Statement | undefined => {
  for (const { 0: sentence, index } of [...text.matchAll(/[^.!?\n]+[.!?]?/g)].toReversed()) {
    const mentions = matches(sentence, mention).map((one) => ({
      letter: one[0],
      at: one.index,
      before: sentence.slice(0, one.index),
      after: sentence.slice(one.index + 1)
    }))
    const named = mentions.filter(
      ({ after, before, letter }) =>
        !/[AI]/.test(letter) || !isWord.test(after) || /\b(?:option|choice)\s+$/i.test(before)
    )
    if (named.length === 0) continue
    const { after, at, before, letter } = named.at(-1)!
    if (named.some((one) => one.letter !== letter) || against.test(sentence)) return undefined
    const isHeld =
      ((objectOf.test(before) || /\p{L}\s\($/u.test(before)) &&
        /^[)\]]*(?:\s+(?:as\s+)?(?:the|my|our)\s[^.]{0,30})?\s*[.!]?\s*$/.test(after)) ||
      (subjectOf.test(before) && inFavour.test(after))
    return isHeld ? { at: index + at, letter } : undefined
  }
  return undefined
}

/** A sentence about a wrong choice: "A trap here is D, which is wrong." */
const trap =
  /(?<=[.!]\s+)(?:an?|the|one) (?:common |usual |obvious |main |typical |tempting )*(?:trap|distractor|pitfall|mistake|decoy)\b[^.!?\n]*[.!]/gi

/** The probability of a choice: "C: 40%". */
const share = /(?<!\p{L})[A-J][)*]*\s*[:=(–-]\s*\d{1,3}\s?%/gu

/** Phrases that retract earlier statements without giving another answer. */
const evasions =
  /\b(?:answer|choice|option)\s+(?:is|could be|might be|may be|must be)\s+(?:either|both|neither|unclear|unknown|not|none|impossible)\b/gi

/**
 * Returns the letter that a text chooses, or `undefined` if it does not choose one.
 *
 * **Example**
 *
 * ```ts
 * import { LetterGrader } from "@divisi/graders"
 *
 * LetterGrader.extract("A hexagon has 6 sides, so the answer is **C**.") // => "C"
 * LetterGrader.extract("A hexagon has 6 sides.") // => undefined
 * ```
 */
export const extract = (text: string, letters: string = defaultLetters): string | undefined => {
  const given = withoutStruck(spoken(text)).replace(trap, "")
  if ((given.match(share)?.length ?? 0) > 1) return undefined
  const json = /^\s*(?:```\w*\s*)?(\{[\s\S]*\})\s*(?:```\s*)?$/.exec(given)?.[1]
  const shown = json !== undefined ? (inRecord(json) ?? inJson(given).at(-1)?.content ?? given) : given
  if (/\b(?:1st|first) choice\b[\s\S]*\b(?:2nd|second) choice\b/i.test(shown)) return undefined
  const verified = onlyVerified(shown, letters)
  const said = withoutContrast(plain(shown.replace(boldEnd, "$1\n$2$3")))
  const patterns = patternsFor(letters)
  const [stated, pointed, alone] = patterns.ways
  const held = new Map<number, boolean>()
  // Several patterns find the same letter.
  const isHeld = (at: number) => {
    const isKnown = held.get(at) ?? isChosen(said, { start: at, end: at + 1 })
    held.set(at, isKnown)
    return isKnown
  }
  for (const kind of isListing(said, patterns) ? [stated!, pointed!] : [stated!, pointed!, alone!]) {
    const byWay = kind.map((one) => statements(said, one, patterns, isHeld))
    const found = byWay.flat()
    const evaded = matches(said, evasions).map(({ index }) => ({ at: index, letter: undefined }))
    if (found.length === 0) {
      const only = kind === pointed ? favoured(said, patterns) : undefined
      if (only === undefined) continue
      return isHeld(only.at) && !isUnchosen(said, only.at + 1) ? only.letter : undefined
    }
    const chosen = last([...found, ...evaded])
    if (chosen === undefined || isUnchosen(said, chosen.at + 1)) return undefined
    const isRival = ({ at, letter }: Statement) =>
      letter !== undefined && letter !== chosen.letter && !isReplaced(said.slice(at + 1, chosen.at), true)
    const strong = kind === stated ? byWay.slice(0, 3).flat() : []
    return strong.some(({ at }) => at === chosen.at) && strong.some(isRival) ? undefined : chosen.letter
  }
  return verified
}

const letterKey =
  /^(?:(?:final|my|correct|selected|chosen)?_?(?:answer|choice|option|letter|selection|label|pick)|selected|chosen|key)$/i

/** Returns the only letter in the fields of a JSON object that name a choice: `{"choice": {"letter": "B"}}`. */
const inRecord = (text: string): string | undefined => {
  const walk = (value: unknown, levels: number): ReadonlyArray<string> =>
    typeof value !== "object" || value === null || levels === 0
      ? []
      : Object.entries(value).flatMap(([name, one]) =>
          letterKey.test(name) && typeof one === "string" && /^\s*\(?[A-Za-z]\)?\s*$/.test(one)
            ? [one.replace(/[\s()]/g, "").toUpperCase()]
            : letterKey.test(name) || around.test(name)
              ? walk(one, levels - 1)
              : []
        )
  try {
    const found = new Set(walk(JSON.parse(text), 3))
    return found.size === 1 ? `‹${[...found][0]}›` : undefined
  } catch {
    return undefined
  }
}

/** A letter in bold or in parentheses at the end of a text, after a sentence. */
const boldEnd = /([.!?:)\]]\s+)(?:\*\*\(?([A-Z])\)?\.?\*\*|\(([A-Z])\))(?=\s*$)/

/** Matches the rejected letter of a contrast: "isn't A but", and an introduction that names eliminated letters. */
const contrasts =
  /it(?:['’]s|\s+is)\s+not\s+\(?[A-J]\)?,\s+it(?:['’]s|\s+is)\b|(?:(is|was)n['’]t|\b(is|was)? ?\bnot|nicht|n['’]est pas|\bno es|\bnão é|\bnon è|не)\s+(?:(?:option|choice)\s+)?\(?[A-J]\)?,?\s+(?:but|sondern|mais|sino|mas|ma|а)(?:\s+rather)?(?=\s+\(?[A-J]\b)|不是\s*[A-J][,，]?\s*而(?=是)|\S{1,3}\s*[가이]\s*아니라\s*(?=[A-J])|\b(?:after|having|by)\s+(?:eliminat|rul|exclud|discard|reject)\w+[^.\n]{0,80}?,\s+(?=only\b|the\b)/gi

const withoutContrast = (text: string): string =>
  text.replace(contrasts, (all, one, two) => ((one ?? two) ? "is" : /not/i.test(all) ? "it is" : ""))

const approved = /^\W*(?:✓|✔|✅|☑|correct|right|true|yes)(?!\p{L})/iu
const disapproved = /^\W*(?:✗|✘|❌|✖|❎|wrong|incorrect|false|no|not)(?!\p{L})/iu

/** Returns the only choice that a list approves if it rejects every other one: "A) ✗", "B) ✓". */
const onlyVerified = (text: string, letters: string): string | undefined => {
  const lines = text.split("\n", 60).flatMap((line) => {
    const found = /^[\s*_(|-]*(?:(?:option|choice)\s+)?([A-Z])[\s*_]*[).:|–—✓✔✅☑✗✘❌✖❎-]/iu.exec(line)
    if (found === null || !letters.includes(found[1]!)) return []
    const said = line.slice(found[0].length - 1).replace(/^[).:|–—-]/, "")
    return [{ letter: found[1]!, isApproved: approved.test(said), isRejected: disapproved.test(said) }]
  })
  const chosen = lines.filter(({ isApproved }) => isApproved)
  const others = lines.filter(({ isRejected }) => isRejected)
  return chosen.length === 1 && others.length > 0 && others.length === lines.length - 1 ? chosen[0]!.letter : undefined
}

/** Whether a text lists the choices, one per line or in parentheses. */
const isListing = (text: string, { listed }: Patterns): boolean =>
  new Set(matches(text, listed).map(([, letter]) => letter)).size > 1

/** Returns the letter of the last statement. If one of several readings is a hedge, there is no letter. */
const last = (found: ReadonlyArray<Statement>): Statement | undefined => {
  const at = Math.max(...found.map((one) => one.at))
  const latest = found.filter((one) => one.at === at)
  return latest.some(({ letter }) => letter === undefined) ? undefined : latest[0]!
}

// -------------------------------------------------------------------------------------------------------------------
// The question's options
// -------------------------------------------------------------------------------------------------------------------

const optionLine = /^[ \t]*[*_]*[([]?([A-Z])(?:[)\].:]|\s+[-–—])[*_]*[ \t]+(\S[^\n]*?)[ \t]*$/gm

/** Normalizes the text of an option for comparison. */
const bare = (text: string): string =>
  plain(text)
    .replace(/[‹›]/g, "")
    .toLowerCase()
    .replace(/^(?:the|an?)\s+/, "")
    .replace(/[\s.,;:!"'()]+/g, " ")
    .trim()

/** Returns the options that a question lists, by letter. */
const optionsOf = (question: string): ReadonlyMap<string, string> =>
  new Map(Array.from(question.matchAll(optionLine), ([, letter, text]) => [letter!, bare(text!)]))

/** What a text that ends with an option may say before it. */
const choosing = new RegExp(
  `^(?:[\\s\\S]*(?:[.!?:]\\s|\\n))?[\\s*_]*(?:(?:so|thus|hence|therefore|clearly),?\\s+)?(?:(?:the\\s+)?(?:(?:correct|right|best|final)\\s+)?(?:${answerWords}|option|choice)\\s*(?::|is:?|est|ist|es|è|é)\\s*|it\\s+(?:is|must be|has to be)\\s+|it['’]s\\s+)?`,
  "iu"
)

/** Returns the letter of the option whose text an answer consists of, or ends with: "The answer is Canberra." */
const byText = (answer: string, options: ReadonlyMap<string, string>): string | undefined => {
  const said = spoken(answer).slice(-400)
  const boxed = /\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}[\s$.]*$|<answer>([^<]*)<\/answer>\s*$/i.exec(said)
  const value = bare(boxed?.[1] ?? boxed?.[2] ?? said.replace(choosing, ""))
  const found = [...options].filter(([, text]) => text !== "" && text === value)
  return found.length === 1 ? found[0]![0] : undefined
}

/** Cyrillic letters that look like Latin ones, where a choice ends. */
const lookalike = /(?<!\p{L})[АВСЕН](?=\s*(?:[).:,;!*\]}]|$|\n))/gu
const latin: Readonly<Record<string, string>> = { А: "A", В: "B", С: "C", Е: "E", Н: "H" }

const goldLetter = (gold: string) => /[A-Z]/.exec(gold.trim())?.[0] ?? gold.trim().toUpperCase()

const table = {
  name: Tables.name,
  letters: Tables.expects("capital letters", (value) => typeof value === "string" && /^[A-Z]+$/.test(value))
} satisfies Tables.ShapeOf<Options>

/** Creates a grader for multiple-choice letters. */
export const make = (options: Options = {}): Verdict.AnswerGrader => {
  Tables.check("LetterGrader.make", options, table)
  return Verdict.graderEffect(options.name ?? "letter", (gold, answer, task) =>
    Effect.sync(() => {
      const listed = optionsOf(Task.question(task))
      const isLatin = listed.size > 1 && !/(?<!\p{L})[БГД](?!\p{L})/u.test(answer)
      const said = isLatin ? answer.replace(lookalike, (letter) => latin[letter]!) : answer
      const extracted = extract(said, options.letters) ?? (listed.size > 1 ? byText(answer, listed) : undefined)
      if (extracted === undefined) return Verdict.unparsed
      return Verdict.make({ correct: extracted === goldLetter(gold), rung: "letter", extracted })
    })
  )
}

/** Grades choices from A to J. */
export const letter: Verdict.AnswerGrader = make()

/**
 * Extracts the letter by the rule in a supplement to related work by the paper's authors. The rule is loose, and
 * supported only for comparison.
 */
const extractLoosely = (text: string): string | undefined => {
  const answer = firstTagged(text) ?? text
  const digit = /[0-3]/.exec(answer)?.[0]
  return /[A-D]/.exec(answer.toUpperCase())?.[0] ?? (digit === undefined ? undefined : "ABCD"[Number(digit)])
}

/**
 * Takes the first letter A to D in the uppercased answer, otherwise its first digit 0 to 3, so "Because…" chooses B.
 * Only use it to compare with published figures.
 */
export const paper: Verdict.AnswerGrader = Verdict.grader("letter-paper", (gold, answer) => {
  const extracted = extractLoosely(answer)
  if (extracted === undefined) return Verdict.unparsed
  return Verdict.make({ correct: extracted === goldLetter(gold), rung: "letter", extracted })
})

/**
 * Grades multiple choice: which letter a text chooses, and whether it is the right one.
 *
 * Only capitals that stand alone are letters: not the "A" of "A hexagon", nor any within a word. A text that only
 * speaks of options chooses none.
 */
import { spoken } from "../internal/spoken.ts"
import * as Verdict from "../Verdict.ts"

/** The grader's name, and its letters. */
export interface Options {
  /** The name of the grader; `letter` by default. */
  readonly name?: string | undefined
  /** The letters there are; A to J by default. */
  readonly letters?: string | undefined
}

const defaultLetters = "ABCDEFGHIJ"

/** What may stand around a letter: bold, quotes, brackets, dollars, LaTeX. */
const before = String.raw`[\s*_"'“‘(\[{$\x60]*(?:\\(?:boxed|text|textbf|mathrm|mathbf)\s*\{\s*\(?\s*)*`
const after = String.raw`(?![\w'’]|\s*[+^=×*/]\s*\w|\.\w)`

/** Ways to choose a letter, the surest first. Where one way occurs more than once, the last counts. */
const ways = (letters: string): ReadonlyArray<RegExp> => {
  const letter = `${before}([${letters}])${after}`
  const options = "(?:[Oo]ption|[Cc]hoice|[Ll]etter)?"
  return [
    new RegExp(`<answer>${options}${letter}`, "g"),
    new RegExp(String.raw`\\(?:boxed|fbox)\s*\{${options}${letter}`, "g"),
    new RegExp(String.raw`[Ff]inal\s+[Aa]nswer\s+is:?\s*${options}${letter}[^\n]{0,12}\bI hope`, "g"),
    new RegExp(String.raw`(?:[Ff]inal|FINAL)\s+(?:[Aa]nswer|ANSWER)[^\n]{0,30}?(?:\bis|:)\s*${options}${letter}`, "g"),
    new RegExp(String.raw`(?:[Aa]nswer|ANSWER)(?:\*\*|__)?\s*[:：]\s*${options}${letter}`, "g"),
    new RegExp(
      String.raw`(?:[Aa]nswer|[Cc]hoice|[Oo]ption|[Ss]olution)\s+(?:is|would be|must be)\s+(?:(?:therefore|thus|then|definitely|clearly|probably|likely|indeed|hence),?\s+)?${options}${letter}`,
      "g"
    ),
    new RegExp(String.raw`^\s*${letter}[\s*_"'”)\]}.:$]*(?:$|\n|\s*[-–:.)]\s)`, "g"),
    new RegExp(String.raw`(?:^|\n)\s*${options}${letter}[\s*_"'”)\]}.$]*(?:$|\n)`, "g"),
    new RegExp(String.raw`\b(?:[Cc]hoose|[Pp]ick|[Ss]elect|go with)\s+${options}${letter}`, "g")
  ]
}

/** "A" and "I" before a word in small letters are words themselves. */
const isArticle = (text: string, letter: string, end: number): boolean =>
  /[AI]/.test(letter) && /^ (?!(?:because|since|which|as|is|and|or|with|for|by)\b)[a-z]/.test(text.slice(end))

const chosen = (text: string, way: RegExp): string | undefined =>
  [...text.matchAll(way)]
    .filter((match) => {
      const letter = match[1]!
      const end = match.index + match[0].lastIndexOf(letter) + 1
      return !isArticle(text, letter, end)
    })
    .at(-1)?.[1]

/**
 * The letter that a text chooses; `undefined` when it chooses none.
 *
 * **Example**
 *
 * ```ts
 * import { LetterGrader } from "@divisi/graders/text"
 *
 * LetterGrader.extract("A hexagon has 6 sides, so the answer is **C**.") // => "C"
 * LetterGrader.extract("A hexagon has 6 sides.") // => undefined
 * ```
 */
export const extract = (text: string, letters: string = defaultLetters): string | undefined => {
  const said = spoken(text)
  for (const way of ways(letters)) {
    const letter = chosen(said, way)
    if (letter !== undefined) return letter
  }
  return undefined
}

const goldLetter = (gold: string) => /[A-Z]/.exec(gold.trim())?.[0] ?? gold.trim()

/** Makes a grader of choices among letters. */
export const make = (options: Options = {}): Verdict.AnswerGrader =>
  Verdict.grader(options.name ?? "letter", (gold, answer) => {
    const extracted = extract(answer, options.letters)
    if (extracted === undefined) return Verdict.unparsed
    return Verdict.make({ correct: extracted === goldLetter(gold), rung: "letter", extracted })
  })

/** Grades choices among A to J. */
export const letter: Verdict.AnswerGrader = make()

/** The letter that a supplement to related work by the paper's authors takes: a loose rule, kept for comparison. */
const extractLoosely = (text: string): string | undefined => {
  const answer = /<answer>([\s\S]*?)<\/answer>/i.exec(text)?.[1] ?? text
  const digit = /[0-3]/.exec(answer)?.[0]
  return /[A-D]/.exec(answer.toUpperCase())?.[0] ?? (digit === undefined ? undefined : "ABCD"[Number(digit)])
}

/**
 * The first A to D of the answer in capitals, else its first digit 0 to 3: "Because…" chooses B. For comparison with
 * reported figures alone.
 */
export const paper: Verdict.AnswerGrader = Verdict.grader("letter-paper", (gold, answer) => {
  const extracted = extractLoosely(answer)
  if (extracted === undefined) return Verdict.unparsed
  return Verdict.make({ correct: extracted === goldLetter(gold), rung: "letter", extracted })
})

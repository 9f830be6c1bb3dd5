/**
 * The reading method shared by all solvers. A solver removes everything that it understands from a question. If
 * anything but filler words is left, the question is rejected, so a solver never answers a different question than the
 * one asked.
 */
import type { Habits } from "../Habits.ts"
import type { Stock } from "../internal/stock.ts"
import { type Exact, shown as shownExactly } from "./exact.ts"
import { type Finish, finish, type Peeled, peelings } from "./finish.ts"
import { inFigures } from "./numerals.ts"

/** Returns the tool's result for an item in the warehouse, or `undefined` if it is not available yet. */
export type LookUp = (article: string) => Stock | undefined

/** A question, or a part of it, that people understand differently. */
export class Ambiguous {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Reads the questions of one family and computes their answers. */
export interface Solver {
  /** Whether a question belongs to the family. Fast, and does not load any libraries. */
  readonly reads: (question: string) => boolean
  /** Returns the answer, or `undefined` if the question is not of the family or the habits prevent an answer. */
  readonly solve: (question: string, habits: Habits, lookUp?: LookUp) => Promise<string | undefined>
  /** Returns the words that the solver does not understand, for a question that resembles the family. */
  readonly unread: (question: string) => ReadonlyArray<string> | undefined
  /** Returns the ambiguous part of a question whose other parts are understood. */
  readonly ambiguous: (question: string) => string | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Accounting
// -------------------------------------------------------------------------------------------------------------------

/** Placeholder for text that was taken. */
export const taken = "\uE000"

/** A text from which a solver takes the parts that it understands. */
export class Text {
  private rest: string

  constructor(text: string) {
    this.rest = text
  }

  /** The text that has not been taken. */
  get left(): string {
    return this.rest
  }

  has(pattern: RegExp): boolean {
    return this.rest.search(pattern) >= 0
  }

  /** Takes the first match of a pattern. */
  take(pattern: RegExp, filler = taken): RegExpExecArray | undefined {
    const match = pattern.exec(this.rest)
    if (match === null) return undefined
    this.rest = `${this.rest.slice(0, match.index)}${filler}${this.rest.slice(match.index + match[0].length)}`
    return match
  }

  /** Takes the text between two offsets. */
  cut(from: number, to: number, filler = ""): void {
    this.rest = `${this.rest.slice(0, from)}${filler}${this.rest.slice(to)}`
  }

  restore(text: string): void {
    this.rest = text
  }

  lower(): void {
    this.rest = this.rest.toLowerCase()
  }

  /** Takes all matches of a global pattern. */
  takeAll(pattern: RegExp, filler = taken): ReadonlyArray<RegExpExecArray> {
    const found = [...this.rest.matchAll(pattern)]
    this.rest = this.rest.replace(pattern, filler)
    return found
  }
}

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.split(" "))

/** Filler words of questions, independent of the subject. */
const asking = wordsOf(
  "a an the what what's whats is are was were please pls kindly thanks thank you can could would will me us my your i " +
    "we need want like know tell give find calculate compute determine work out say show answer result value hi hello hey " +
    "there all team exactly now ok okay well just carefully quickly question and"
)

const piece = /"[^"]*"?|```[\s\S]*?(?:```|$)|\d+(?:\.\d+)?|[\p{L}\p{M}]+(?:'[\p{L}\p{M}]+)*|[^\s\p{L}\p{M}\d]/gu

const isPunctuation = (text: string): boolean => /^[.,;:?!()'…—\uE000-\uE00F]$/.test(text)

/** Returns the words, numbers, quotations and symbols of a text that are not in `known`. */
const unknownIn = (text: string, known: ReadonlySet<string>): ReadonlyArray<string> =>
  (text.match(piece) ?? []).filter((found) => {
    const word = found.toLowerCase()
    return !asking.has(word) && !known.has(word) && !isPunctuation(found)
  })

// -------------------------------------------------------------------------------------------------------------------
// Solvers
// -------------------------------------------------------------------------------------------------------------------

/**
 * Maximum length of a question in characters, excluding code and quotations. Longer texts are treated as documents
 * whose numbers are not a question. The longest question in the gym has 340 characters.
 */
const longestQuestion = 600

/** Maximum length of a text in characters, including code and quotations. */
const longestText = 20_000

const isDocument = (question: string): boolean =>
  question.length > longestText ||
  (question.length > longestQuestion &&
    question.replace(/```[\s\S]*?(?:```|$)|"[^"\n]*"/g, "").length > longestQuestion)

/** Inputs to an answer other than the question. */
export interface Means {
  readonly habits: Habits
  readonly lookUp: LookUp
  /** Number of significant digits to return. Higher if further operations follow. */
  readonly digits: number
}

/** Defines how a family is read and solved. */
export interface Family<Read> {
  /** Additional filler words of this family. */
  readonly words: string
  /** Whether the text is read verbatim, line by line. Otherwise symbols and spaces are normalized. */
  readonly isVerbatim?: boolean | undefined
  /**
   * Takes the parts of a text that it understands. Returns `undefined` if the text is not a question of this family.
   */
  readonly read: (text: Text) => Read | Ambiguous | undefined
  /** Returns the unknown words in text that `read` ignores. */
  readonly unread?: ((text: string) => ReadonlyArray<string>) | undefined
  /** Whether the text is a question only in combination with a final operation. */
  readonly isIncomplete?: ((read: Read) => boolean) | undefined
  /** The type of the answer, if operations can be applied to it. */
  readonly kind: (read: Read) => Finish["on"] | undefined
  readonly solve: (read: Read, means: Means) => Promise<string | Exact | undefined> | string | Exact | undefined
}

interface Question<Read> {
  readonly read: Read
  readonly finishes: ReadonlyArray<Finish>
}

type Attempt<Read> = Question<Read> | { readonly unread: ReadonlyArray<string> } | Ambiguous

const answerDigits = 12
const digitsBetween = 14

/** Caches the most recent result, because all solvers are called with the same text in turn. */
const remembering = <A>(make: (text: string) => A): ((text: string) => A) => {
  let last: { readonly text: string; readonly made: A } | undefined
  return (text) => {
    if (last?.text !== text) last = { text, made: make(text) }
    return last.made
  }
}

/** Returns the variants of a text to try: unchanged, with numbers as digits, and with final operations removed. */
const waysToRead = (text: string): ReadonlyArray<Peeled> =>
  peelings(withoutCourtesy(text)).flatMap((peeled) => {
    const figures = inFigures(peeled.core)
    return figures === peeled.core ? [peeled] : [peeled, { ...peeled, core: figures }]
  })

const verbatim = remembering(waysToRead)
const spelled = remembering((text) => waysToRead(plain(text)))

/** Creates a solver that answers a question only if it understands every word. */
export const solver = <Read>({
  isIncomplete = () => false,
  isVerbatim,
  kind,
  read,
  solve,
  unread: strange = () => [],
  words
}: Family<Read>): Solver => {
  const known = wordsOf(words)
  const ways = isVerbatim ? verbatim : spelled

  const attempt = (question: string, { core, finishes }: Peeled): Attempt<Read> | undefined => {
    const text = new Text(core)
    const found = read(text)
    if (found === undefined) return undefined
    const unread = unknownIn(text.left, known)
    if (unread.length > 0) return { unread }
    if (found instanceof Ambiguous) return found
    if (finishes.some(({ on }) => on !== kind(found)) || (finishes.length === 0 && isIncomplete(found)))
      return undefined
    return finishes.some(({ isLoose }) => isLoose !== undefined)
      ? new Ambiguous(question.trim())
      : { read: found, finishes }
  }

  const attempts = function* (question: string): Generator<Attempt<Read>> {
    if (isDocument(question)) return
    for (const way of ways(question)) {
      const found = attempt(question, way)
      if (found !== undefined) yield found
    }
  }

  const understood = (question: string): Question<Read> | undefined => {
    for (const found of attempts(question)) if ("read" in found) return found
    return undefined
  }

  return {
    reads: (question) => understood(question) !== undefined,
    unread: (question) => {
      const left = [...attempts(question)].flatMap((found) => ("unread" in found ? [found.unread] : []))
      if (left.length === 0 && !isDocument(question))
        left.push(
          ...ways(question)
            .map(({ core }) => unknownIn(strange(core).join(" "), known))
            .filter((found) => found.length > 0)
        )
      return left.sort((one, other) => one.length - other.length)[0]
    },
    ambiguous: (question) => {
      for (const found of attempts(question)) if (found instanceof Ambiguous) return found.text
      return undefined
    },
    solve: async (question, habits, lookUp = () => undefined) => {
      const found = understood(question)
      if (found === undefined) return undefined
      const { finishes } = found
      const answer = await solve(found.read, {
        habits,
        lookUp,
        digits: finishes.length > 0 ? digitsBetween : answerDigits
      })
      if (answer === undefined) return undefined
      if (finishes.length > 0) return finish(answer, finishes)
      return typeof answer === "string" ? answer : shownExactly(answer)
    }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Spelling
// -------------------------------------------------------------------------------------------------------------------

/** Normalizes symbols, quotes, spaces and numbers, except in quotations: `4,812 × 37 − 1` becomes `4812 * 37 - 1`. */
export const plain = (text: string): string =>
  text
    .replace(/[“”]/g, '"')
    .split(/("[^"]*")/)
    .map((piece, index) => (index % 2 === 1 ? piece : withPlainSymbols(piece)))
    .join("")

const withPlainSymbols = (text: string): string =>
  text
    .replace(/[−–]/g, "-")
    .replace(/[×·]/g, "*")
    .replace(/÷/g, "/")
    .replace(/²/g, "^2")
    .replace(/[‘’]/g, "'")
    .replace(/(?<=\d),(?=\d{3}(?!\d))/g, "")
    .replace(/\s+/g, " ")

const decimals =
  /(?:[,.;?!]\s*)?(?:\b(?:please )?round(?:ed)?(?: (?:it|the answer|your answer|the result))?(?: off)? )?\bto (?:the nearest (whole number|integer|unit)|(one|two|three|four|\d) decimal (?:places?|digits?))\b/i

const greeting =
  /^\s*(?:(?:hi|hello|hey|dear|good (?:morning|evening))(?: (?:all|there|team|everyone|everybody|folks|guys))?[,.!:]+\s+|(?:(?:quick )?question|one more|quick one|for my homework):\s+(?:\d[.)] )?|(?:ok|okay|well|so)[,:]? )*/i
const farewell =
  /(?:(?<!\s)\s*[.,!?]?\s*\b(?:(?:many )?thanks(?: a lot| in advance| so much)?|thank you(?: very much| in advance)?|cheers|take your time|(?:please )?be exact|no explanation(?: needed)?|(?:please )?answer with (?:only |just )?the number(?: alone| only)?)[.! ]*)$/i

const instruction =
  /^(?:attempt \d+\. )?(?:please )?(?:answer|calculate|compute|do|solve|work out)(?: only| just)? (?:this|the following|the) (?:part|question|step|subtask)\b[^:.?!"`]{0,60}: /i

/** Removes instruction phrases from a subtask. */
export const withoutInstruction = (subtask: string): string => subtask.replace(instruction, "")

/** Removes greetings and thanks from a text. */
const withoutCourtesy = (text: string): string => {
  const asked = withoutInstruction(text).replace(greeting, "")
  const end = asked.slice(-60)
  return `${asked.slice(0, -60)}${end.replace(farewell, "")}`
}

/** Takes the requested number of decimals. Returns `undefined` if the question does not specify it. */
export const decimalsAsked = (text: Text): number | undefined => {
  const found = text.take(decimals)
  if (found === undefined) return undefined
  const count = found[2]?.toLowerCase()
  if (count === undefined) return 0
  const word = ["zero", "one", "two", "three", "four"].indexOf(count)
  return word < 0 ? Number(count) : word
}

/**
 * Formats a number as an answer: rounded as requested, otherwise to the given number of significant digits, without
 * trailing zeros.
 */
export const shown = (value: number, decimals: number | undefined, digits = answerDigits): string =>
  String(Number(decimals === undefined ? value.toPrecision(digits) : value.toFixed(decimals)))

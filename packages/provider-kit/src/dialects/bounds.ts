/**
 * Parses the values that a server accepts in a field from its error message: a range, a single value, or a list of
 * strings. Accepted values are then sent in later requests, and rejected ones are replaced by the nearest accepted
 * value.
 */
import { type Effort, nearest } from "./reasoning.ts"

/** The values that a server accepts in a field. */
export interface Bound {
  readonly least?: number | undefined
  readonly most?: number | undefined
  /** Whether the minimum (or maximum) itself is excluded. */
  readonly isAboveLeast?: boolean | undefined
  readonly isBelowMost?: boolean | undefined
  /** The only accepted value. It is the default, so the field is omitted if the request has any other value. */
  readonly only?: number | undefined
  /** The accepted strings. */
  readonly words?: ReadonlyArray<string> | undefined
  /** Whether only integers are accepted. */
  readonly isWhole?: boolean | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const n = "([-+]?\\d{1,12}(?:\\.\\d{1,6})?)"

/** Matches the characters between a phrase and its number: quotes, and words such as "the". */
const gap = "[\\s'\"`(:=]{0,4}"

interface Phrase {
  readonly pattern: RegExp
  readonly bound: (first: number, second: number, match: RegExpExecArray) => Bound
  readonly source: string
}

const phrase = (pattern: string, source: string, bound: Phrase["bound"]): Phrase => ({
  pattern: new RegExp(pattern, "i"),
  bound,
  source
})

const only = (value: number): Bound => ({ only: value })

/** Ensures that a number is a complete value, not the start of a range or of another condition. */
const alone = "(?![\\d.]|\\s{0,2}(?:or|and|to|,|\\(disable|\\.\\.|-\\s?\\d))"

/** Phrases in order of precedence; the first match is used. */
const phrases: ReadonlyArray<Phrase> = [
  phrase(`only${gap}(?:the default${gap})?${n}\\)?(?: value)? (?:is|are) (?:allowed|supported)`, "Kimi, OpenAI", only),
  phrase(
    `(?:between|from)${gap}${n} ?(?:\\((?:in|ex)clusive\\))? ?(?:and|to)${gap}${n}`,
    "Google, Amazon Bedrock",
    (least, most, [whole]) => ({ least, most, isBelowMost: /to .{0,20}exclusive/i.test(whole) })
  ),
  phrase(
    `([[(]) ?${n} ?, ?(?:${n}|\\+?(?:inf\\w{0,5}|∞)) ?([\\])])`,
    "DashScope, GigaChat, DeepSeek",
    (_, __, [, open, least, most, close]) => ({
      least: Number(least),
      most: most === undefined ? undefined : Number(most),
      isAboveLeast: open === "(",
      isBelowMost: most !== undefined && close === ")"
    })
  ),
  phrase(`${n} ?\\.\\. ?${n}`, "Anthropic", (least, most) => ({ least, most })),
  phrase(`${n} ?(<=?|≤) ?[\\w ]{1,40}? ?(<=?|≤) ?${n}`, "vLLM, llama.cpp", (_, __, [, least, left, right, most]) => ({
    least: Number(least),
    most: Number(most),
    isAboveLeast: left === "<",
    isBelowMost: right === "<"
  })),
  phrase(
    `(?:less than or equal to|at most|no (?:more|greater|larger|higher) than|not exceed|cannot exceed|<=|≤|maximum(?: value)? (?:is|of)|up to)${gap}${n}`,
    "OpenAI, Pydantic",
    (most) => ({ most })
  ),
  phrase(
    `(?:greater than or equal to|at least|no (?:less|lower) than|>=|≥|minimum(?: value)? (?:is|of))${gap}${n}`,
    "OpenAI, Anthropic",
    (least) => ({ least })
  ),
  phrase(`(?:less than|lower than|below|<)${gap}${n}`, "Cohere", (most) => ({ most, isBelowMost: true })),
  phrase(`(?:greater than|larger than|above|>)${gap}${n}`, "Mistral", (least) => ({ least, isAboveLeast: true })),
  phrase("(?:must|should) be non-negative", "vLLM", () => ({ least: 0 })),
  phrase("(?:must|should) be (?:strictly )?positive", "text-generation-inference", () => ({
    least: 0,
    isAboveLeast: true
  })),
  phrase(
    `(?:must|should|can|may|has to)(?: only)?(?: be)?(?: (?:equal to|exactly|set to))?${gap}${n}${alone}|only (?:accepts?|supports?|takes?|allows?)${gap}${n}${alone}`,
    "Anthropic, DeepSeek",
    (first, second) => only(Number.isNaN(first) ? second : first)
  )
]

/** Maximum length of the text read about a field. */
const longest = 240

/** Returns the range, or the only accepted value, stated in an error message. */
export const numbersIn = (text: string): Bound | undefined => {
  const near = text.slice(0, longest)
  for (const { bound, pattern } of phrases) {
    const match = pattern.exec(near)
    if (match !== null) return bound(Number(match[1] ?? Number.NaN), Number(match[2] ?? Number.NaN), match)
  }
  return undefined
}

const list =
  /(?:one of|supported values are|supported values|valid (?:values|options|levels)(?: are)?|allowed values(?: are)?|must be|choose from|expected)[\s:'"`([]{0,4}([\w'"`, |/-]{2,160})/i

/** Returns the accepted strings listed in an error message. */
export const wordsIn = (text: string): Bound | undefined => {
  const [, listed = ""] = list.exec(text.slice(0, 600)) ?? []
  const words = listed
    .split(/[\s'"`,|/]+/)
    .map((word) => word.toLowerCase())
    .filter(
      (word) => /^[a-z][\w-]{1,20}$/.test(word) && !["and", "or", "one", "of", "the", "with", "for"].includes(word)
    )
  return words.length === 0 ? undefined : { words: [...new Set(words)] }
}

// -------------------------------------------------------------------------------------------------------------------
// Fitting
// -------------------------------------------------------------------------------------------------------------------

/** Returns the intersection of two bounds. */
export const both = (left: Bound | undefined, right: Bound): Bound => {
  if (left === undefined) return right
  const isHigher = right.least !== undefined && right.least >= (left.least ?? Number.NEGATIVE_INFINITY)
  const isLower = right.most !== undefined && right.most <= (left.most ?? Number.POSITIVE_INFINITY)
  return {
    least: isHigher ? right.least : left.least,
    isAboveLeast: isHigher ? right.isAboveLeast : left.isAboveLeast,
    most: isLower ? right.most : left.most,
    isBelowMost: isLower ? right.isBelowMost : left.isBelowMost,
    only: right.only ?? left.only,
    words: right.words ?? left.words,
    isWhole: right.isWhole
  }
}

/** Returns the accepted number closest to an excluded bound. */
const beside = (bound: number, sign: 1 | -1, isWhole: boolean): number =>
  isWhole ? bound + sign : Math.round((bound + sign * 0.01) * 100) / 100

/**
 * Fits a value to a bound: returns the value itself, the nearest accepted value, or `undefined` if the field must be
 * omitted.
 */
export const fit = (bound: Bound, value: unknown): unknown => {
  if (typeof value === "string") return bound.words === undefined ? value : fitWord(bound.words, value)
  if (typeof value !== "number") return value
  const { isAboveLeast, isBelowMost, isWhole = false, least, most, only } = bound
  if (only !== undefined) return value === only ? value : undefined
  if (most !== undefined && (isBelowMost ? value >= most : value > most))
    return isBelowMost ? beside(most, -1, isWhole) : most
  if (least !== undefined && (isAboveLeast ? value <= least : value < least))
    return isAboveLeast ? beside(least, 1, isWhole) : least
  return value
}

const efforts: ReadonlySet<string> = new Set(["minimal", "low", "medium", "high"])

/** Maps an effort to the nearest accepted one. Other strings have no replacement. */
const fitWord = (words: ReadonlyArray<string>, value: string): string | undefined => {
  if (words.includes(value.toLowerCase())) return value
  if (!efforts.has(value.toLowerCase())) return undefined
  const known = words.filter((word): word is Effort => efforts.has(word))
  const other = nearest(value.toLowerCase() as Effort, known)
  return value === value.toUpperCase() ? other?.toUpperCase() : other
}

/** Describes the values that a server accepts. */
export const describe = ({ isAboveLeast, isBelowMost, least, most, only, words }: Bound): string => {
  if (words !== undefined) return words.slice(0, 8).join(", ")
  if (only !== undefined) return `only ${only}`
  const low = least === undefined ? undefined : `${isAboveLeast ? "more than" : "at least"} ${least}`
  const high = most === undefined ? undefined : `${isBelowMost ? "less than" : "at most"} ${most}`
  return [low, high].filter((one) => one !== undefined).join(" and ")
}

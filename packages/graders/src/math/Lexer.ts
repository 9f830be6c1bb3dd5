/** Splits normalized notation into tokens. */
import { matches } from "../internal/matches.ts"
import { isShortUnit } from "./Units.ts"

/** A token of normalized notation. */
export interface Token {
  readonly type: "number" | "letter" | "word" | "command" | "text" | "symbol"
  /** The text of the token: a command without its backslash, or text without its braces. */
  readonly text: string
  /** Whether white space precedes the token. */
  readonly isSpaced: boolean
}

/** Maximum number of tokens. Longer texts are not answers. */
const maxTokens = 600

const pattern =
  /(?<space>\s+)|(?<number>(?:\d{1,3}(?:,\d{3})+(?![\d])|\d+)(?:\.\d+)?|\.\d+)(?<exponent>[eE][+-]?\d{1,4}(?![\d.]))?|\\(?:text|name)\s*\{(?<text>[^{}]*)\}|\\(?<command>[a-zA-Z]+|[{}|])|(?<word>[a-zA-Z]+)|(?<rowEnd>\\\\)|(?<symbol>[^\s])/gy

/** Names of functions and constants that plain text writes without a backslash. */
const names = new Set(
  "sin cos tan cot sec csc arcsin arccos arctan asin acos atan sinh cosh tanh ln log exp sqrt abs floor ceil pi infinity infty inf oo and or in theta alpha beta lambda phi frac union binom".split(
    " "
  )
)

const isWord = (text: string, isAlone: boolean) => text.length > 3 || (text.length === 3 && isAlone) || /o/i.test(text)

/** Unit symbols that are also ordinary words or function names. */
const isHomonym = /^(?:in|sec)$/

/** Matches what may follow a unit. */
const unitEnd = /^\s*(?:$|[\^.,;)²³/])/

/** Whether a unit may follow a token. */
const isMeasurable = (before: Token | undefined): boolean =>
  before?.type === "number" ||
  before?.type === "word" ||
  (before?.type === "symbol" && /^[})/]$/.test(before.text)) ||
  (before?.type === "command" && /^(?:pi|degree)$/.test(before.text))

const wordTokens = (
  text: string,
  isSpaced: boolean,
  isAlone: boolean,
  before: Token | undefined,
  rest: string
): ReadonlyArray<Token> => {
  if (text.length === 1) return [{ type: "letter", text, isSpaced }]
  const name = text.toLowerCase()
  const isInUnit = isMeasurable(before) && isSpaced && isHomonym.test(text) && unitEnd.test(rest)
  if (names.has(name) && !isInUnit) return [{ type: "command", text: name, isSpaced }]
  const isUnit = isInUnit || (isMeasurable(before) && isShortUnit(text, isSpaced))
  if (isUnit || isWord(text, isAlone)) return [{ type: "word", text, isSpaced }]
  return [...text].map((letter, index): Token => ({ type: "letter", text: letter, isSpaced: index === 0 && isSpaced }))
}

const numberTokens = (text: string, isSpaced: boolean, splitsThousands: boolean): ReadonlyArray<Token> => {
  if (!text.includes(",")) return [{ type: "number", text, isSpaced }]
  if (!splitsThousands) return [{ type: "number", text: text.replaceAll(",", ""), isSpaced }]
  return text.split(",").flatMap((part, index): ReadonlyArray<Token> => {
    const number: Token = { type: "number", text: part, isSpaced: isSpaced && index === 0 }
    return index === 0 ? [number] : [{ type: "symbol", text: ",", isSpaced: false }, number]
  })
}

/**
 * Splits normalized notation into tokens. Returns `undefined` if there are too many.
 *
 * If `splitsThousands` is `true`, `1,234` is read as two numbers instead of one.
 */
export const tokens = (normalised: string, splitsThousands = false): ReadonlyArray<Token> | undefined => {
  const found: Array<Token> = []
  const isAlone = /^[a-zA-Z\s]+$/.test(normalised)
  let isSpaced = false
  for (const match of matches(normalised, pattern)) {
    const { groups = {} } = match
    if (groups.space !== undefined) {
      isSpaced = true
      continue
    }
    if (groups.number !== undefined) {
      found.push(...numberTokens(`${groups.number}${groups.exponent ?? ""}`, isSpaced, splitsThousands))
    } else if (groups.text !== undefined) found.push({ type: "text", text: groups.text.trim(), isSpaced })
    else if (groups.command !== undefined) found.push({ type: "command", text: groups.command, isSpaced })
    else if (groups.word !== undefined) {
      const rest = normalised.slice(match.index + match[0].length)
      found.push(...wordTokens(groups.word, isSpaced, isAlone, found.at(-1), rest))
    } else if (groups.rowEnd !== undefined) found.push({ type: "command", text: "row", isSpaced })
    else found.push({ type: "symbol", text: groups.symbol ?? "", isSpaced })
    if (found.length > maxTokens) return undefined
    isSpaced = false
  }
  return found
}

/**
 * Parses Python literals: integers, strings, and arbitrarily nested lists and tuples, with the semantics of
 * `ast.literal_eval`.
 *
 * Values that cannot occur in a workflow (floats, bytes, dicts, `None`, ...) are identified but not decoded. Parsing is
 * iterative, so no input can overflow the stack, and each character is examined a bounded number of times.
 */
import { type Failure, failAt, isBehindList, type Reader, skipBlanks } from "./literalReader.ts"
import { readString, type StringLiteral } from "./stringLiteral.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

export interface IntegerLiteral {
  readonly type: "integer"
  /** Inexact above 2^53, which is larger than any valid index. */
  readonly value: number
  readonly signed: boolean
  readonly at: number
}

/** A list or a tuple. The two are treated alike. */
export interface ListLiteral {
  readonly type: "list"
  readonly items: ReadonlyArray<Literal>
  readonly at: number
}

/**
 * A value that is recognized but not supported, such as `None`, `True`, a float or bytes. `text` is the source text.
 */
export interface OtherLiteral {
  readonly type: "other"
  readonly what: string
  readonly text: string
  readonly at: number
}

export type Literal = IntegerLiteral | TextLiteral | ListLiteral | OtherLiteral
export type TextLiteral = Pick<StringLiteral, "type" | "value" | "at">

// -------------------------------------------------------------------------------------------------------------------
// Numbers
// -------------------------------------------------------------------------------------------------------------------

/** CPython rejects longer decimal integers. */
const mostDecimalDigits = 4300

const isDigit = (code: number) => code >= 48 && code <= 57
const isLetter = (code: number) => (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
const isWordCharacter = (code: number) => isDigit(code) || isLetter(code) || code === 95

/** Digits of the hexadecimal, octal and binary notations, by prefix letter. */
const radixDigits: { readonly [letter: string]: (code: number) => boolean } = {
  x: (code) => isDigit(code) || ((code | 32) >= 97 && (code | 32) <= 102),
  o: (code) => code >= 48 && code <= 55,
  b: (code) => code === 48 || code === 49
}

/** Skips digits, optionally separated by single underscores. Returns `false` if an underscore is misplaced. */
const skipDigits = (reader: Reader, isOne: (code: number) => boolean): boolean => {
  const { text } = reader
  while (isOne(text.charCodeAt(reader.at))) {
    reader.at++
    if (text.charCodeAt(reader.at) === 95) {
      reader.at++
      if (!isOne(text.charCodeAt(reader.at))) return false
    }
  }
  return true
}

const withoutUnderscores = (text: string) => (text.includes("_") ? text.replaceAll("_", "") : text)

const readRadix = (reader: Reader, start: number, isOne: (code: number) => boolean): Literal | Failure => {
  reader.at = start + (reader.text.charCodeAt(start + 2) === 95 ? 3 : 2)
  const first = reader.at
  const wellFormed = skipDigits(reader, isOne)
  if (!wellFormed || reader.at === first || isWordCharacter(reader.text.charCodeAt(reader.at))) {
    return failAt(reader, reader.at, "a digit of the number")
  }
  return {
    type: "integer",
    value: Number(withoutUnderscores(reader.text.slice(start, reader.at))),
    signed: false,
    at: start
  }
}

/** Skips a float's fraction and exponent, and the `j` of an imaginary number. */
const skipFraction = (reader: Reader): boolean => {
  const { text } = reader
  if (text.charCodeAt(reader.at) === 46) {
    reader.at++
    if (!skipDigits(reader, isDigit)) return false
  }
  if ((text.charCodeAt(reader.at) | 32) === 101) {
    reader.at++
    if (text[reader.at] === "+" || text[reader.at] === "-") reader.at++
    if (!isDigit(text.charCodeAt(reader.at)) || !skipDigits(reader, isDigit)) return false
  }
  if ((text.charCodeAt(reader.at) | 32) === 106) reader.at++
  return true
}

const readNumber = (reader: Reader): Literal | Failure => {
  const { text } = reader
  const start = reader.at
  const radix = text[start] === "0" ? radixDigits[text[start + 1]?.toLowerCase() ?? ""] : undefined
  if (radix !== undefined) return readRadix(reader, start, radix)
  if (!skipDigits(reader, isDigit)) return failAt(reader, reader.at, "a digit after the underscore")
  const integerEnd = reader.at
  if (!skipFraction(reader) || isWordCharacter(text.charCodeAt(reader.at))) {
    return failAt(reader, reader.at, "the end of the number")
  }
  const written = text.slice(start, reader.at)
  if (reader.at > integerEnd) return readFloat(reader, start, written)
  const digits = withoutUnderscores(written)
  const value = Number(digits)
  if (digits.length > 1 && digits[0] === "0" && value !== 0) {
    return failAt(reader, start, "a number without leading zeros", `"${written.slice(0, 24)}"`)
  }
  if (value !== 0 && digits.length > mostDecimalDigits) {
    return failAt(reader, start, `at most ${mostDecimalDigits} digits`, `a number of ${digits.length} digits`)
  }
  return { type: "integer", value, signed: false, at: start }
}

const noInteger = "a number that is not an integer"

/** In tolerant mode, `1.0` is accepted as 1. */
const readFloat = (reader: Reader, at: number, written: string): Literal => {
  const value = Number(withoutUnderscores(written))
  if (!reader.forgiving || !Number.isSafeInteger(value)) {
    return { type: "other", what: noInteger, text: written.slice(0, 24), at }
  }
  reader.notes.add(`Read ${written.slice(0, 24)} as ${value}.`)
  return { type: "integer", value, signed: false, at }
}

// -------------------------------------------------------------------------------------------------------------------
// Scalars
// -------------------------------------------------------------------------------------------------------------------

const constants = /(?:None|True|False|null|true|false|all|none)(?![\p{L}\p{N}_])/iuy

/**
 * Parses a constant. In tolerant mode, also accepts JSON constants and words that models often leave unquoted; these
 * are validated later.
 */
const readConstant = (reader: Reader): Literal | undefined => {
  constants.lastIndex = reader.at
  const word = constants.exec(reader.text)?.[0]
  if (word === undefined) return undefined
  const isPython = word === "None" || word === "True" || word === "False"
  if (!isPython && !reader.forgiving) return undefined
  const at = reader.at
  reader.at += word.length
  return { type: "other", what: word, text: word, at }
}

const kindNames = { text: "a string", bytes: "bytes", "f-string": "an f-string" } as const

/** Parses adjacent strings, which are concatenated as in Python. */
const readStrings = (reader: Reader, first: StringLiteral, withinBrackets: boolean): Literal | Failure => {
  let { kind, value } = first
  for (;;) {
    skipBlanks(reader, withinBrackets)
    const next = readString(reader)
    if (next === undefined) break
    if (next.type === "failure") return next
    if (next.kind !== kind) {
      if (next.kind === "bytes" || kind === "bytes") {
        return failAt(reader, next.at, `${kindNames[kind]} beside ${kindNames[kind]}`, kindNames[next.kind])
      }
      kind = "f-string"
    }
    value += next.value
  }
  return kind === "text"
    ? { type: "string", value, at: first.at }
    : { type: "other", what: kindNames[kind], text: reader.text.slice(first.at, first.at + 24), at: first.at }
}

/** Parses a value that is not in brackets. */
const readScalar = (reader: Reader, expected: string, withinBrackets: boolean): Literal | Failure => {
  const start = reader.at
  const code = reader.text.charCodeAt(start)
  if (isDigit(code) || (code === 46 && isDigit(reader.text.charCodeAt(start + 1)))) return readNumber(reader)
  const string = readString(reader)
  if (string !== undefined) return string.type === "failure" ? string : readStrings(reader, string, withinBrackets)
  if (code === 123) return failAt(reader, start, expected, "a dict or a set")
  return readConstant(reader) ?? failAt(reader, start, expected)
}

// -------------------------------------------------------------------------------------------------------------------
// Lists
// -------------------------------------------------------------------------------------------------------------------

/** CPython rejects deeper nesting. */
export const mostBrackets = 200

/** An open bracket, or the whole value (`""`), which ends at a line break. */
interface Frame {
  readonly bracket: "[" | "(" | ""
  readonly at: number
  readonly items: Array<Literal>
  commas: number
  /** A sign whose number has not been parsed yet. */
  sign: { readonly character: "+" | "-"; readonly at: number } | undefined
}

const frameAt = (bracket: Frame["bracket"], at: number): Frame => ({
  bracket,
  at,
  items: [],
  commas: 0,
  sign: undefined
})

const closers = { "[": "]", "(": ")", "": "" } as const

const expectedIn = ({ bracket, items }: Frame) => {
  if (bracket === "") return "a list"
  return items.length === 0 ? `a value or "${closers[bracket]}"` : `"," or "${closers[bracket]}"`
}

/**
 * Whether the reader is at the end of the frame: its closing bracket, or, for the whole value, the end of the
 * statement.
 */
const isAtEnd = (reader: Reader, frame: Frame): boolean => {
  const character = reader.text[reader.at]
  if (frame.bracket !== "") return character === closers[frame.bracket]
  return character === undefined || character === "\n" || character === "\r" || character === ";" || character === "#"
}

/** Returns the literal for a finished frame: a list, a tuple, or a parenthesized value. */
const finish = (frame: Frame): Literal =>
  frame.bracket !== "[" && frame.commas === 0 && frame.items.length === 1
    ? frame.items[0]!
    : { type: "list", items: frame.items, at: frame.at }

const addItem = (reader: Reader, frame: Frame, item: Literal): Failure | undefined => {
  const { sign } = frame
  frame.sign = undefined
  if (sign === undefined || (item.type === "other" && item.what === noInteger)) frame.items.push(item)
  else if (item.type !== "integer" || item.signed) return failAt(reader, item.at, `a number after "${sign.character}"`)
  else {
    const value = sign.character === "-" && item.value !== 0 ? -item.value : item.value
    frame.items.push({ type: "integer", value, signed: true, at: sign.at })
  }
  return undefined
}

/** Whether a list may be treated as closed although its bracket is missing. Only in tolerant mode. */
const isPlainlyOver = (reader: Reader, frame: Frame, depth: number): boolean => {
  if (!reader.forgiving || depth !== 1 || frame.bracket !== "[") return false
  const cut = reader.at >= reader.text.length
  if (cut ? frame.items.at(-1)!.type === "integer" : !isBehindList(reader, reader.at)) return false
  reader.notes.add("Closed a list whose last bracket is missing.")
  return true
}

/** Opens brackets up to the next value. Returns `undefined` if a frame ends first (`[]`, `[1,]`). */
const readItem = (reader: Reader, stack: Array<Frame>): Literal | Failure | undefined => {
  for (;;) {
    const frame = stack.at(-1)!
    const withinBrackets = frame.bracket !== ""
    skipBlanks(reader, withinBrackets)
    const character = reader.text[reader.at]
    if (character === "[" || character === "(") {
      if (stack.length > mostBrackets) return failAt(reader, reader.at, `at most ${mostBrackets} nested brackets`)
      stack.push(frameAt(character, reader.at))
      reader.at++
    } else if ((character === "-" || character === "+") && frame.sign === undefined) {
      frame.sign = { character, at: reader.at }
      reader.at++
    } else {
      const mayEnd = frame.sign === undefined && (frame.items.length > 0 || withinBrackets)
      if (mayEnd && isAtEnd(reader, frame)) return undefined
      return readScalar(reader, frame.items.length > 0 ? "a value" : expectedIn(frame), withinBrackets)
    }
  }
}

/**
 * Parses the text after a value. Stops after a comma and returns `undefined`, or closes frames up to the end of the
 * whole value and returns it.
 */
const closeFrames = (
  reader: Reader,
  stack: Array<Frame>,
  value: Literal | undefined,
  extent: Extent
): Literal | Failure | undefined => {
  let item = value
  for (;;) {
    const frame = stack.at(-1)!
    if (item !== undefined) {
      const failure = addItem(reader, frame, item)
      if (failure !== undefined) return failure
      if (extent === "brackets" && frame.bracket === "") return finish(frame)
      skipBlanks(reader, frame.bracket !== "")
      if (reader.text.charCodeAt(reader.at) === 44) {
        frame.commas++
        reader.at++
        return undefined
      }
    }
    if (isAtEnd(reader, frame)) {
      if (frame.bracket === "") return finish(frame)
      reader.at++
    } else if (!isPlainlyOver(reader, frame, stack.length - 1)) return failAt(reader, reader.at, expectedIn(frame))
    item = finish(frame)
    stack.pop()
  }
}

/** The end of a literal: at the end of the statement (where `1, 0` is a tuple), or at its closing bracket. */
type Extent = "statement" | "brackets"

/**
 * Parses a literal and advances the reader past it. On failure, the reader is left at the furthest position examined.
 */
export const readLiteral = (reader: Reader, extent: Extent): Literal | Failure => {
  const stack: Array<Frame> = [frameAt("", reader.at)]
  for (;;) {
    const item = readItem(reader, stack)
    if (item?.type === "failure") return item
    const whole = closeFrames(reader, stack, item, extent)
    if (whole !== undefined) return whole
  }
}

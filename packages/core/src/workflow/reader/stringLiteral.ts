/**
 * Parses a single Python string literal: prefix, quotes and escapes.
 *
 * In tolerant mode, also accepts curly quotes, and unescaped line breaks and quotes if the end of the string is still
 * unambiguous. Escapes that Python rejects are left in the text (models write `\nu` and `\xi` for Greek letters).
 */
import { afterLineBreak, type Failure, failAt, isBehindList, isSpace, type Reader } from "./literalReader.ts"

/** A parsed string literal. Bytes and f-strings are identified, because only plain strings are accepted. */
export interface StringLiteral {
  readonly type: "string"
  readonly value: string
  readonly kind: "text" | "bytes" | "f-string"
  readonly at: number
}

// -------------------------------------------------------------------------------------------------------------------
// Escapes
// -------------------------------------------------------------------------------------------------------------------

const simpleEscapes: { readonly [code: number]: string } = {
  34: '"',
  39: "'",
  92: "\\",
  97: "\x07",
  98: "\b",
  102: "\f",
  110: "\n",
  114: "\r",
  116: "\t",
  118: "\v"
}

const hexDigits: { readonly [code: number]: number } = { 120: 2, 117: 4, 85: 8 }

const digitValue = (code: number): number => {
  if (code >= 48 && code <= 57) return code - 48
  const lower = code | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : 99
}

/** Parses exactly `count` hexadecimal digits, or returns -1. */
const readHex = (text: string, at: number, count: number): number => {
  let value = 0
  for (let index = 0; index < count; index++) {
    const digit = digitValue(text.charCodeAt(at + index))
    if (digit > 15) return -1
    value = value * 16 + digit
  }
  return value
}

const readOctal = (reader: Reader, at: number): string => {
  let value = 0
  let next = at
  while (next < at + 3) {
    const digit = digitValue(reader.text.charCodeAt(next))
    if (digit > 7) break
    value = value * 8 + digit
    next++
  }
  reader.at = next
  return String.fromCharCode(value)
}

const refuseEscape = (reader: Reader, at: number, length: number, expected: string): string | Failure => {
  if (!reader.forgiving) return failAt(reader, at, expected, `"${reader.text.slice(at, at + length)}"`)
  reader.notes.add("Read a backslash literally, because its escape does not exist.")
  reader.at = at + 1
  return "\\"
}

/** Parses the escape sequence at the given backslash. */
const readEscape = (reader: Reader, at: number): string | Failure => {
  const { text } = reader
  const code = text.charCodeAt(at + 1)
  const simple = simpleEscapes[code]
  if (simple !== undefined) {
    reader.at = at + 2
    return simple
  }
  if (code === 10 || code === 13) {
    reader.at = afterLineBreak(text, at + 1)
    return ""
  }
  if (code >= 48 && code <= 55) return readOctal(reader, at + 1)
  const count = hexDigits[code]
  if (count !== undefined) {
    const value = readHex(text, at + 2, count)
    if (value < 0 || value > 0x10ffff) {
      return refuseEscape(reader, at, count + 2, `${count} hexadecimal digits after "\\${text[at + 1]}"`)
    }
    reader.at = at + 2 + count
    return String.fromCodePoint(value)
  }
  // Python supports about 35,000 character names, which a Conductor has no reason to use.
  if (code === 78) return refuseEscape(reader, at, 2, "a character or its code (character names are not supported)")
  if (code === 47 && reader.json) {
    reader.at = at + 2
    return "/"
  }
  reader.at = at + 1
  return "\\"
}

// -------------------------------------------------------------------------------------------------------------------
// Quotes
// -------------------------------------------------------------------------------------------------------------------

const straightQuotes = "\"'"
const curlyQuotes: { readonly [open: string]: string } = { "“": "”“", "”": "”“", "„": "”“", "‘": "’‘", "’": "’‘" }

const followsString = /$|[,\])}#;\\"'“”‘’]|[rRuUbBfF]{1,2}["']/y

/** Whether a quote ends its string, depending on the text that follows, ignoring blanks. */
const endsString = (reader: Reader, at: number): boolean => {
  let next = at + 1
  while (isSpace(reader.text.charCodeAt(next))) next++
  followsString.lastIndex = next
  return followsString.test(reader.text) || isBehindList(reader, next)
}

interface Delimiter {
  readonly open: number
  readonly closers: string
  readonly triple: boolean
  readonly raw: boolean
}

const unclosed = (reader: Reader, at: number, { closers, triple }: Delimiter, found?: string): Failure =>
  failAt(
    reader,
    at,
    `${triple ? "three closing quotes" : "a closing quote"} (${closers[0]!.repeat(triple ? 3 : 1)})`,
    found
  )

/**
 * Interprets a quote within a string. Returns the number of quotes that end the string, or 0 if the quote is part of
 * it.
 */
const readQuote = (reader: Reader, at: number, delimiter: Delimiter): 0 | 1 | 3 | Failure => {
  const { forgiving, text } = reader
  if (delimiter.triple) return text[at + 1] === text[at] && text[at + 2] === text[at] ? 3 : 0
  if (!forgiving || endsString(reader, at)) return 1
  if (text[at - 1] === "[") return unclosed(reader, delimiter.open, delimiter, "the next list")
  reader.notes.add("Read an unescaped quote as part of a string.")
  return 0
}

/** Skips a line break within a string. */
const readBreak = (reader: Reader, at: number, delimiter: Delimiter): Failure | undefined => {
  reader.at = afterLineBreak(reader.text, at)
  if (delimiter.triple) return undefined
  if (!reader.forgiving) return unclosed(reader, at, delimiter)
  if (reader.isHead(reader.at)) return unclosed(reader, delimiter.open, delimiter, "the next list")
  reader.notes.add("Read a line break as part of a string.")
  return undefined
}

/** Skips a backslash in a raw string and the character that it escapes. */
const readRaw = (reader: Reader, at: number): string => {
  const code = reader.text.charCodeAt(at + 1)
  const isBreak = code === 10 || code === 13
  reader.at = isBreak ? afterLineBreak(reader.text, at + 1) : Math.min(at + 2, reader.text.length)
  return isBreak ? "\\\n" : reader.text.slice(at, reader.at)
}

/** Parses the text between the quotes. The reader is positioned after the opening quote. */
const readBody = (reader: Reader, delimiter: Delimiter): string | Failure => {
  const { text } = reader
  const quote = delimiter.closers.charCodeAt(0)
  const otherQuote = delimiter.closers.charCodeAt(delimiter.closers.length - 1)
  let value = ""
  let from = reader.at
  for (let at = from; at < text.length; ) {
    const code = text.charCodeAt(at)
    if (code === quote || code === otherQuote) {
      const length = readQuote(reader, at, delimiter)
      if (typeof length !== "number") {
        reader.at = at
        return length
      }
      if (length > 0) {
        reader.at = at + length
        return value + text.slice(from, at)
      }
      at++
    } else if (code === 92) {
      const escaped = delimiter.raw ? readRaw(reader, at) : readEscape(reader, at)
      if (typeof escaped !== "string") return escaped
      value += text.slice(from, at) + escaped
      from = at = reader.at
    } else if (code === 10 || code === 13) {
      const failure = readBreak(reader, at, delimiter)
      if (failure !== undefined) return failure
      value += `${text.slice(from, at)}\n`
      from = at = reader.at
    } else at++
  }
  reader.at = text.length
  return unclosed(reader, delimiter.open, delimiter, "a string that is not closed")
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const prefixes: { readonly [prefix: string]: Pick<StringLiteral, "kind"> & { readonly raw: boolean } } = {
  "": { kind: "text", raw: false },
  u: { kind: "text", raw: false },
  r: { kind: "text", raw: true },
  b: { kind: "bytes", raw: false },
  br: { kind: "bytes", raw: true },
  rb: { kind: "bytes", raw: true },
  f: { kind: "f-string", raw: false },
  fr: { kind: "f-string", raw: true },
  rf: { kind: "f-string", raw: true }
}

/**
 * Returns the length of the prefix of a string that starts at an offset (1 for `r"\d"`), or -1 if no string starts
 * there.
 */
const prefixLength = (reader: Reader, at: number): number => {
  for (let length = 0; length <= 2; length++) {
    const character = reader.text[at + length]
    if (character === undefined) return -1
    if (straightQuotes.includes(character) || (reader.forgiving && length === 0 && character in curlyQuotes)) {
      return length
    }
    if (!"rRuUbBfF".includes(character)) return -1
  }
  return -1
}

/**
 * Parses the string at the current position, or returns `undefined` if there is no string. Bytes and f-strings are not
 * decoded.
 */
export const readString = (reader: Reader): StringLiteral | Failure | undefined => {
  const { text } = reader
  const start = reader.at
  const length = prefixLength(reader, start)
  if (length < 0) return undefined
  const prefix = prefixes[text.slice(start, start + length).toLowerCase()]
  if (prefix === undefined) return undefined
  const open = start + length
  const quote = text[open]!
  const curly = curlyQuotes[quote]
  if (curly !== undefined) reader.notes.add("Read curly quotes as straight ones.")
  const triple = curly === undefined && text[open + 1] === quote && text[open + 2] === quote
  reader.at = open + (triple ? 3 : 1)
  const raw = prefix.raw || prefix.kind !== "text"
  const value = readBody(reader, { open: start, closers: curly ?? quote, triple, raw })
  return typeof value === "string" ? { type: "string", value, kind: prefix.kind, at: start } : value
}

/**
 * State that all parts of the literal reader share: the position in the text, the deviations accepted so far, and the
 * failure.
 */

/** A position in a text, with the deviations accepted so far. */
export interface Reader {
  readonly text: string
  /** The offset of the next character. */
  at: number
  /** Whether deviations are accepted. Each kind is reported once in `notes`. */
  readonly forgiving: boolean
  /** Whether strings use JSON syntax, in which `\/` is a slash. */
  readonly json: boolean
  readonly notes: Set<string>
  /** Whether the head of another list (`subtasks = [`) is at an offset, ignoring blanks and markup before it. */
  readonly isHead: (at: number) => boolean
  /** Extensions of the lists beyond the paper's. */
  readonly more: More
}

/** Extensions that a round allows beyond the paper's three lists. */
export interface More {
  /** A list of checks. */
  readonly checks: boolean
  /** Steps of earlier rounds in access lists. */
  readonly earlier: boolean
  /** The list `how`, and checks with the consequence `again`. */
  readonly how: boolean
}

/** The reason why a literal cannot be read: the actual and the expected syntax at an offset. */
export interface Failure {
  readonly type: "failure"
  readonly at: number
  readonly found: string
  readonly expected: string
}

/** Returns a strict reader at the start of a text or at an offset. */
export const strictReader = (text: string, at: number, more: More): Reader => ({
  text,
  at,
  forgiving: false,
  json: false,
  notes: new Set(),
  isHead: () => false,
  more
})

const wordPattern = /[\p{L}\p{N}_]{1,24}/uy

/** Names the syntax at an offset, for an error. */
export const describe = (text: string, at: number): string => {
  const code = text.codePointAt(at)
  if (code === undefined) return "the end of the text"
  if (code === 10 || code === 13) return "the end of the line"
  if (code === 0) return "a NUL character"
  wordPattern.lastIndex = at
  const word = wordPattern.exec(text)
  if (word !== null) return `"${word[0]}"`
  const character = String.fromCodePoint(code)
  return /^[\p{L}\p{P}\p{S}]$/u.test(character)
    ? character === '"'
      ? "a double quote"
      : `"${character}"`
    : `the character U+${code.toString(16).toUpperCase().padStart(4, "0")}`
}

/** Returns a failure at an offset. The actual syntax is read from the text unless it is given. */
export const failAt = (reader: Reader, at: number, expected: string, found = describe(reader.text, at)): Failure => ({
  type: "failure",
  at,
  found,
  expected
})

const isLineBreak = (code: number) => code === 10 || code === 13

/** The offset after the line break at an offset. Python reads `\r\n` and `\r` as `\n`. */
export const afterLineBreak = (text: string, at: number): number =>
  text.charCodeAt(at) === 13 && text.charCodeAt(at + 1) === 10 ? at + 2 : at + 1

/**
 * Returns the offset after a backslash that continues a line, or `undefined`. As in Python, another line must follow.
 */
export const afterContinuation = (text: string, at: number): number | undefined => {
  if (text.charCodeAt(at) !== 92 || !isLineBreak(text.charCodeAt(at + 1))) return undefined
  const next = afterLineBreak(text, at + 1)
  return next < text.length ? next : undefined
}

/** The offset of the line break that ends a comment, or of the end of the text. */
export const afterComment = (text: string, at: number): number => {
  let end = at
  while (end < text.length && !isLineBreak(text.charCodeAt(end))) end++
  return end
}

/** Whether the syntax at an offset never occurs within a list: the end of a code fence, or another list. */
export const isBehindList = (reader: Reader, at: number): boolean =>
  reader.text.startsWith("```", at) || reader.isHead(at)

const isOtherSpace = (code: number) =>
  code === 0xa0 || code === 0xfeff || code === 0x0b || code === 0x3000 || (code >= 0x2000 && code <= 0x200d)

/** Whether a character is whitespace in Unicode. */
export const isSpace = (code: number): boolean =>
  code === 32 || (code >= 9 && code <= 13) || isOtherSpace(code) || code === 0x2028 || code === 0x2029

/** Moves over text that Python ignores between two tokens; within brackets also over line breaks and comments. */
export const skipBlanks = (reader: Reader, withinBrackets: boolean): void => {
  const { forgiving, text } = reader
  for (;;) {
    const code = text.charCodeAt(reader.at)
    if (code === 32 || code === 9 || code === 12 || (withinBrackets && isLineBreak(code))) reader.at++
    else if (code === 92) {
      const next = afterContinuation(text, reader.at)
      if (next === undefined) return
      reader.at = next
    } else if (withinBrackets && code === 35) reader.at = afterComment(text, reader.at)
    else if (forgiving && isOtherSpace(code)) reader.at++
    else return
  }
}

/** State shared by the parsers for literals: the position in the text, the accepted deviations, and the failure. */

/** A parser position within a text, with the deviations accepted before it. */
export interface Reader {
  readonly text: string
  /** Offset of the next character. */
  at: number
  /** Whether to accept deviations. Each kind of deviation is reported once in `notes`. */
  readonly forgiving: boolean
  /** Whether strings use JSON syntax, in which `\/` is an escaped slash. */
  readonly json: boolean
  readonly notes: Set<string>
  /**
   * Whether the head of another list (such as `subtasks = [`) follows at an offset, ignoring preceding blanks and
   * markup.
   */
  readonly isHead: (at: number) => boolean
  /** Which extensions of the paper's lists are accepted. */
  readonly more: More
}

/** Extensions of the paper's three lists that a round may accept. */
export interface More {
  /** Whether to accept a list of checks. */
  readonly checks: boolean
  /** Whether access lists may refer to steps of earlier rounds. */
  readonly earlier: boolean
  /** Whether to accept the `how` list, and `again` as the consequence of a check. */
  readonly how: boolean
}

/** A syntax error: the actual and the expected syntax at an offset. */
export interface Failure {
  readonly type: "failure"
  readonly at: number
  readonly found: string
  readonly expected: string
}

/** Creates a strict reader at the given offset. */
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

/** Describes the syntax at an offset for an error message. */
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

/** Creates a failure at an offset. `found` defaults to a description of the text at that offset. */
export const failAt = (reader: Reader, at: number, expected: string, found = describe(reader.text, at)): Failure => ({
  type: "failure",
  at,
  found,
  expected
})

const isLineBreak = (code: number) => code === 10 || code === 13

/** Returns the offset after a line break. Treats `\r\n` and `\r` like `\n`, as Python does. */
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

/** Returns the offset of the end of a comment: the next line break, or the end of the text. */
export const afterComment = (text: string, at: number): number => {
  let end = at
  while (end < text.length && !isLineBreak(text.charCodeAt(end))) end++
  return end
}

/**
 * Whether the syntax at an offset can never occur within a list: the end of a code fence, or the head of another list.
 */
export const isBehindList = (reader: Reader, at: number): boolean =>
  reader.text.startsWith("```", at) || reader.isHead(at)

const isOtherSpace = (code: number) =>
  code === 0xa0 || code === 0xfeff || code === 0x0b || code === 0x3000 || (code >= 0x2000 && code <= 0x200d)

/** Whether a character is Unicode whitespace. */
export const isSpace = (code: number): boolean =>
  code === 32 || (code >= 9 && code <= 13) || isOtherSpace(code) || code === 0x2028 || code === 0x2029

/** Skips text that Python ignores between two tokens. Within brackets, this includes line breaks and comments. */
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

/**
 * Parses JSON in steps, with the same result as `JSON.parse`, which takes up to 50 ms for the largest body within the
 * limits and handles no other request meanwhile. NUL, control characters and byte order marks, which some clients add
 * around the JSON, are ignored. The text is decoded as it is parsed: a copy of a whole body would take
 * up to 20 ms of one turn, most of it for new memory.
 */
import type { Steps } from "../wire/Steps.ts"

/** Number of values parsed in one step. */
const stepValues = 250

/** Length of a long string, in characters. Shorter ones and other tokens are parsed in one piece. */
const longCharacters = 2 ** 15

/** Length of the longest escape sequence, `\u0000`. */
const escapeCharacters = 6

const literal = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

type Container = Array<unknown> | Record<string, unknown>

/** Whether an odd number of backslashes precedes the character at an index. None before `from` are counted. */
const isEscaped = (text: string, at: number, from: number): boolean => {
  let slashes = 0
  while (at - slashes > from && text[at - slashes - 1] === "\\") slashes += 1
  return slashes % 2 === 1
}

/** Returns the index, or that of the escape sequence which contains it. */
const outsideEscape = (text: string, at: number, from: number): number => {
  const slash = text.slice(at - escapeCharacters, at).lastIndexOf("\\")
  if (slash < 0) return at
  const index = at - escapeCharacters + slash
  return isEscaped(text, index, from) ? at : index
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

/** Whether a character around the outermost value is ignored. */
const isJunk = (code: number): boolean => code <= 0x20 || code === 0x7f || code === 0xfeff

const set = (parent: Container, key: string, value: unknown): void => {
  if (Array.isArray(parent)) parent.push(value)
  else if (key !== "__proto__") parent[key] = value
  // An assignment would set the prototype.
  else Object.defineProperty(parent, key, { value, configurable: true, enumerable: true, writable: true })
}

/**
 * Parses JSON text that is given in pieces. Short strings that are keys of `texts` are replaced by the text stored there.
 * Throws a `SyntaxError` if the text is not valid JSON.
 */
export function* parse(pieces: Iterable<string>, texts: ReadonlyMap<string, string> = new Map()): Steps<unknown> {
  const source = pieces[Symbol.iterator]()
  const whole: Array<unknown> = []
  const parents: Array<Container> = [whole]
  /** The end of the text that was read, from the token that is parsed. */
  let text = ""
  let at = 0
  let isWhole = false
  let key = ""

  const readOn = (): void => {
    const { done, value } = source.next()
    if (done === true) isWhole = true
    else {
      // Unlike concatenation, this makes a text whose characters are read at once.
      text = at === text.length ? value : [text.slice(at), value].join("")
      at = 0
    }
  }
  /** Skips whitespace. Returns whether more has to be read, because the next token may be cut. */
  const isCut = (): boolean => {
    for (;;) {
      const code = text.charCodeAt(at)
      if (!isBlank(code) && !(parents.length === 1 && isJunk(code))) break
      at += 1
    }
    return !isWhole && text.length - at <= longCharacters
  }
  function* more(): Steps<void> {
    do {
      readOn()
      yield
    } while (isCut())
  }
  const take = (character: string) => {
    if (text[at] !== character) throw new SyntaxError(`Expected ${character}.`)
    at += 1
  }
  /** Parses the next string if it is short, which is faster than its steps. */
  const short = (): string | undefined => {
    if (text[at] !== '"') throw new SyntaxError("Expected a string.")
    const end = text.indexOf('"', at + 1)
    if (end < 0 || end - at > longCharacters || text[end - 1] === "\\") return undefined
    const string = text.slice(at, end + 1)
    at = end + 1
    return JSON.parse(string)
  }
  /** Parses the next string in pieces. */
  function* long(): Steps<string> {
    let value = ""
    at += 1
    for (;;) {
      let end = text.indexOf('"', at)
      while (end >= 0 && isEscaped(text, end, at)) end = text.indexOf('"', end + 1)
      const to = end < 0 ? outsideEscape(text, text.length, at) : end
      value += JSON.parse(`"${text.slice(at, to)}"`)
      at = end < 0 ? to : end + 1
      if (end >= 0) return value
      if (isWhole) throw new SyntaxError("A string is not terminated.")
      readOn()
      yield
    }
  }

  for (let count = 1; ; count++) {
    if (count % stepValues === 0) yield
    if (isCut()) yield* more()
    const parent = parents.at(-1)!
    const first = text[at]
    if (first === '"') {
      const value = short()
      set(parent, key, value === undefined ? yield* long() : (texts.get(value) ?? value))
    } else if (first === "{" || first === "[") {
      const container = first === "[" ? [] : {}
      set(parent, key, container)
      parents.push(container)
      at += 1
      if (isCut()) yield* more()
      if (text[at] !== (first === "[" ? "]" : "}")) {
        if (first === "{") {
          key = short() ?? (yield* long())
          if (isCut()) yield* more()
          take(":")
        }
        continue
      }
    } else {
      literal.lastIndex = at
      const [token] = literal.exec(text) ?? [""]
      set(parent, key, JSON.parse(token))
      at += token.length
    }
    for (;;) {
      if (isCut()) yield* more()
      const inside = parents.at(-1)!
      const after = text[at]
      if (inside === whole) {
        if (after === undefined) return whole[0]
        throw new SyntaxError("Expected the end.")
      }
      if (after !== (Array.isArray(inside) ? "]" : "}")) break
      at += 1
      parents.pop()
    }
    take(",")
    if (!Array.isArray(parents.at(-1))) {
      if (isCut()) yield* more()
      key = short() ?? (yield* long())
      if (isCut()) yield* more()
      take(":")
    }
  }
}

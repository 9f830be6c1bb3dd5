/**
 * Parses JSON in steps, with the same result as `JSON.parse`, which takes up to 50 ms for the largest body within the
 * limits and handles no other request meanwhile.
 */
import type { Steps } from "../wire/Steps.ts"

/** Number of values parsed in one step. */
const stepValues = 250

/** Number of characters of a long string parsed in one step. */
const stepCharacters = 2 ** 15

/** Characters that a string may have only as escape sequences. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const control = /[\0-\x1f]/

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

/** Checks a string without escape sequences in steps and returns it, which needs no copy. */
function* plainString(text: string, from: number, to: number): Steps<string> {
  for (let at = from; at < to; at += stepCharacters) {
    if (control.test(text.slice(at, Math.min(to, at + stepCharacters))))
      throw new SyntaxError("A string has a control character.")
    yield
  }
  return text.slice(from, to)
}

/** Parses a string in pieces. `start` is the index of its opening quote. Returns it with the index after it. */
function* longString(text: string, start: number): Steps<readonly [value: string, end: number]> {
  let value = ""
  let at = start + 1
  let end = text.indexOf('"', at)
  for (;;) {
    while (end >= 0 && end - at <= stepCharacters && isEscaped(text, end, at)) end = text.indexOf('"', end + 1)
    const isLast = end >= 0 && end - at <= stepCharacters
    if (!isLast && text.length - at <= stepCharacters) throw new SyntaxError("A string is not terminated.")
    const next = isLast ? end : outsideEscape(text, at + stepCharacters, at)
    value += JSON.parse(`"${text.slice(at, next)}"`)
    if (isLast) return [value, end + 1]
    at = next
    yield
  }
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

const set = (parent: Container, key: string, value: unknown): void => {
  if (Array.isArray(parent)) parent.push(value)
  else if (key !== "__proto__") parent[key] = value
  // An assignment would set the prototype.
  else Object.defineProperty(parent, key, { value, configurable: true, enumerable: true, writable: true })
}

/**
 * Parses JSON text. Strings that are keys of `texts` are replaced by the text stored there. Throws a `SyntaxError` if the
 * text is not valid JSON.
 */
export function* parse(text: string, texts: ReadonlyMap<string, string> = new Map()): Steps<unknown> {
  const whole: Array<unknown> = []
  const parents: Array<Container> = [whole]
  let at = 0
  let key = ""

  /** Skips whitespace and returns the next character. */
  const next = (): string | undefined => {
    while (isBlank(text.charCodeAt(at))) at += 1
    return text[at]
  }
  const take = (character: string) => {
    if (next() !== character) throw new SyntaxError(`Expected ${character} at character ${at}.`)
    at += 1
  }
  /** Returns the next string if it is short, which is faster than its steps. */
  const short = (): string | undefined => {
    if (next() !== '"') throw new SyntaxError(`Expected a string at character ${at}.`)
    const end = text.indexOf('"', at + 1)
    if (end < 0 || end - at > stepCharacters || text[end - 1] === "\\") return undefined
    const string = text.slice(at, end + 1)
    at = end + 1
    return JSON.parse(string)
  }
  /** Index of the next backslash, or the end of the text. */
  let slash = -1
  function* long(): Steps<string> {
    if (slash < at) {
      slash = text.indexOf("\\", at)
      if (slash < 0) slash = text.length
    }
    const quote = text.indexOf('"', at + 1)
    const isPlain = quote >= 0 && quote < slash
    const [value, end] = isPlain ? [yield* plainString(text, at + 1, quote), quote + 1] : yield* longString(text, at)
    at = end
    return value
  }

  for (let count = 1; ; count++) {
    if (count % stepValues === 0) yield
    const parent = parents.at(-1)!
    const first = next()
    if (first === '"') {
      const value = short() ?? (yield* long())
      set(parent, key, texts.get(value) ?? value)
    } else if (first === "{" || first === "[") {
      const container = first === "[" ? [] : {}
      set(parent, key, container)
      parents.push(container)
      at += 1
      if (next() !== (first === "[" ? "]" : "}")) {
        if (first === "{") {
          key = short() ?? (yield* long())
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
      const inside = parents.at(-1)!
      const after = next()
      if (inside === whole) {
        if (after === undefined) return whole[0]
        throw new SyntaxError(`Expected the end at character ${at}.`)
      }
      if (after !== (Array.isArray(inside) ? "]" : "}")) break
      at += 1
      parents.pop()
    }
    take(",")
    if (!Array.isArray(parents.at(-1))) {
      key = short() ?? (yield* long())
      take(":")
    }
  }
}

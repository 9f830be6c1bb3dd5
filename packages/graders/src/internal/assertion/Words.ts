/**
 * Finds any of many words, matching only at word starts. Alternatives are indexed by their first letters, and most of
 * them are compared as strings, because a regular expression with hundreds of alternatives would try all of them at
 * every position.
 */

/** Splits a pattern at its top-level alternatives. */
const split = (pattern: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let depth = 0
  let from = 0
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at]
    if (character === "\\") at++
    else if (character === "(" || character === "[") depth++
    else if (character === ")" || character === "]") depth--
    else if (character === "|" && depth === 0) {
      parts.push(pattern.slice(from, at))
      from = at + 1
    }
  }
  return [...parts, pattern.slice(from)]
}

/** The position of a match. */
export interface Found {
  readonly index: number
  readonly end: number
}

/** A searchable list of words. */
export interface Words {
  readonly find: (text: string) => ReadonlyArray<Found>
  readonly test: (text: string) => boolean
}

const begin = /(?<!\p{L})[^\s□]/gu

interface Searched {
  readonly text: string
  /** The text in lower case, with the same offsets. */
  readonly lower: string
  /** The positions at which words and symbols start. */
  readonly begins: ReadonlyArray<number>
}

let last: Searched = { text: "", lower: "", begins: [] }

/** Prepares a text for searches. The last result is cached, because many lists search the same text. */
const searched = (text: string): Searched => {
  if (last.text !== text) {
    // No other letter has a lower case of another length.
    const lower = text.replaceAll("İ", "I").toLowerCase()
    last = { text, lower, begins: Array.from(text.matchAll(begin), ({ index }) => index) }
  }
  return last
}

/** Creates a list whose words match anywhere, even within other words. */
export const joined = (pattern: string, before = ""): Words => {
  const all = new RegExp(`${before}(?:${pattern})`, "giu")
  const one = new RegExp(all.source, "iu")
  return {
    find: (text) => Array.from(text.matchAll(all), ({ 0: { length }, index }) => ({ index, end: index + length })),
    test: (text) => one.test(text)
  }
}

/** Letters, spaces and apostrophes at the start of an alternative that are not optional or repeated. */
const literalStart = /^(?:[\p{L}\p{M} '’](?![?*+{]))*/u

const letters = /\p{L}*/uy

/** Returns the end of a match of a sticky pattern at a position. */
const endAt = (pattern: RegExp, text: string, index: number): number | undefined => {
  pattern.lastIndex = index
  return pattern.test(text) ? pattern.lastIndex : undefined
}

interface Alternative {
  /** The start of every match, in lower case. */
  readonly literal: string
  /** Returns the end of the match, given the end of the literal. */
  readonly endFrom: (text: string, index: number) => number | undefined
}

const alternativeOf = (pattern: string, end: string): Alternative => {
  const literal = literalStart.exec(pattern)![0]
  const rest = pattern.slice(literal.length)
  const isStem = rest === "\\p{L}*"
  let compiled: RegExp | undefined
  return {
    literal: literal.toLowerCase(),
    endFrom: (text, index) => {
      compiled ??= new RegExp(isStem ? end : `(?:${rest})${end}`, "iuy")
      return endAt(compiled, text, isStem ? endAt(letters, text, index)! : index)
    }
  }
}

/** Number of letters by which alternatives are indexed. */
const indexed = 2

/**
 * Creates a list from alternatives that match only where no letter precedes them. `end` is the pattern that must
 * follow.
 */
export const make = (pattern: string, end = "(?![\\p{L}])"): Words => {
  const alternatives = split(pattern).map((one) => alternativeOf(one, end))
  const short = alternatives.filter(({ literal }) => literal.length < indexed)
  const starts = new Set(alternatives.map(({ literal }) => literal.slice(0, indexed)))
  const byStart = new Map(
    Array.from(starts, (start) => [
      start,
      alternatives.filter(({ literal }) => start.startsWith(literal.slice(0, indexed)))
    ])
  )
  const search = (given: string, isOne: boolean): ReadonlyArray<Found> => {
    const { begins, lower, text } = searched(given)
    const found: Array<Found> = []
    let from = 0
    for (const index of begins) {
      if (index < from) continue
      for (const { endFrom, literal } of byStart.get(lower.slice(index, index + indexed)) ?? short) {
        const after = lower.startsWith(literal, index) ? endFrom(text, index + literal.length) : undefined
        if (after === undefined) continue
        from = after
        found.push({ index, end: after })
        break
      }
      if (isOne && found.length > 0) break
    }
    return found
  }
  return { find: (text) => search(text, false), test: (text) => search(text, true).length > 0 }
}

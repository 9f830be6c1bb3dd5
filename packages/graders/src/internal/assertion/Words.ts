/**
 * Finds any of many words, matching only at word starts. Alternatives are indexed by first letter, because a regular
 * expression with hundreds of alternatives would try all of them at every position.
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

interface Begin {
  readonly index: number
  readonly letter: string
}

let last: { readonly text: string; readonly begins: ReadonlyArray<Begin> } = { text: "", begins: [] }

/**
 * Returns the positions at which words and symbols start. The last result is cached, because many lists search the same
 * text.
 */
const beginsIn = (text: string): ReadonlyArray<Begin> => {
  if (last.text !== text) {
    const begins = Array.from(text.matchAll(begin), ({ 0: first, index }) => ({ index, letter: first.toLowerCase() }))
    last = { text, begins }
  }
  return last.begins
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

/**
 * Creates a list from alternatives that match only where no letter precedes them. `end` is the pattern that must
 * follow.
 */
export const make = (pattern: string, end = "(?![\\p{L}])"): Words => {
  const lists = new Map<string, Array<string>>()
  const everywhere: Array<string> = []
  for (const one of split(pattern)) {
    const isPlain = /^\p{L}(?![?*+])/u.test(one)
    if (isPlain) {
      const letter = one[0]!.toLowerCase()
      lists.set(letter, [...(lists.get(letter) ?? []), one])
    } else everywhere.push(one)
  }
  const compile = (list: ReadonlyArray<string>) => new RegExp(`(?:${list.join("|")})${end}`, "iuy")
  const byLetter = new Map([...lists].map(([letter, list]) => [letter, compile([...list, ...everywhere])]))
  const other = everywhere.length === 0 ? undefined : compile(everywhere)
  const search = (text: string, isOne: boolean): ReadonlyArray<Found> => {
    const found: Array<Found> = []
    let from = 0
    for (const { index, letter } of beginsIn(text)) {
      if (index < from) continue
      const matcher = byLetter.get(letter) ?? other
      if (matcher === undefined) continue
      matcher.lastIndex = index
      if (!matcher.test(text)) continue
      from = matcher.lastIndex
      found.push({ index, end: from })
      if (isOne) break
    }
    return found
  }
  return { find: (text) => search(text, false), test: (text) => search(text, true).length > 0 }
}

/**
 * Finds any of many words, matching only at word starts. Alternatives are indexed by their first letters, and most of
 * them are compared as strings, because a regular expression with hundreds of alternatives would try all of them at
 * every position.
 */
import { matches } from "../matches.ts"
import { remembered } from "../remembered.ts"

/** Splits a pattern at its top-level alternatives. Stops at a bracket that is not opened. */
const split = (pattern: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let depth = 0
  let isInClass = false
  let from = 0
  let at = 0
  for (; at < pattern.length && depth >= 0; at++) {
    const character = pattern[at]
    if (character === "\\") at++
    else if (isInClass) isInClass = character !== "]"
    else if (character === "[") isInClass = true
    else if (character === "(") depth++
    else if (character === ")") depth--
    else if (character === "|" && depth === 0) {
      parts.push(pattern.slice(from, at))
      from = at + 1
    }
  }
  return [...parts, pattern.slice(from, depth < 0 ? at - 1 : at)]
}

/** Matches the start of a condition on the text around a position. */
const conditional = /^\(\?<?[=!]/

const optionalLetter = /^([\p{L}\p{M} '’])\?(?!\?)/u

interface Start {
  /** Conditions on the text around the start. */
  readonly condition: string
  readonly pattern: string
}

/** Distributes the group or the optional letter at the start of a pattern, so that most results start with letters. */
const distributed = (pattern: string, condition = ""): ReadonlyArray<Start> => {
  const letter = optionalLetter.exec(pattern)?.[1]
  if (letter !== undefined) {
    const rest = pattern.slice(letter.length + 1)
    return [{ condition, pattern: letter + rest }, ...distributed(rest, condition)]
  }
  const open = conditional.exec(pattern)?.[0] ?? "(?:"
  if (!pattern.startsWith(open)) return [{ condition, pattern }]
  const inner = split(pattern.slice(open.length))
  const end = open.length + inner.join("|").length + 1
  if (open !== "(?:") return distributed(pattern.slice(end), condition + pattern.slice(0, end))
  if (/^(?:[*+{]|\?\?)/.test(pattern.slice(end))) return [{ condition, pattern }]
  const isOptional = pattern[end] === "?"
  const rest = pattern.slice(isOptional ? end + 1 : end)
  const all = inner.flatMap((one) => distributed(one + rest, condition))
  return isOptional ? [...all, ...distributed(rest, condition)] : all
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
  /** The text in lower case, with the same offsets. */
  readonly lower: string
  /** The positions at which words and symbols start. */
  readonly begins: ReadonlyArray<number>
}

/** Prepares a text for searches, because many lists search the same text. */
const searched = remembered((text): Searched => {
  // No other letter has a lower case of another length.
  const lower = text.replaceAll("İ", "I").toLowerCase()
  return { lower, begins: matches(text, begin).map(({ index }) => index) }
}, 16)

/** Creates a list whose words match anywhere, even within other words. */
export const joined = (pattern: string, before = ""): Words => {
  const all = new RegExp(`${before}(?:${pattern})`, "giu")
  const one = new RegExp(all.source, "iu")
  return {
    find: (text) => matches(text, all).map(({ 0: { length }, index }) => ({ index, end: index + length })),
    test: (text) => one.test(text)
  }
}

/** Letters, spaces, commas and apostrophes at the start of an alternative that are not optional or repeated. */
const literalStart = /^(?:[\p{L}\p{M} ,'’](?![?*+{]))*/u

const letters = /\p{L}*/uy

/** Returns the end of a match of a sticky pattern at a position. */
const endAt = (pattern: RegExp, text: string, index: number): number | undefined => {
  pattern.lastIndex = index
  return pattern.test(text) ? pattern.lastIndex : undefined
}

interface Alternative {
  /** The start of every match, in lower case. */
  readonly literal: string
  /** Returns the end of the match, given its start. */
  readonly endFrom: (text: string, index: number) => number | undefined
}

const alternativeOf = ({ condition, pattern }: Start, end: string): Alternative => {
  const literal = literalStart.exec(pattern)![0]
  const from = condition === "" ? literal.length : 0
  const rest = pattern.slice(from)
  const isStem = rest === "\\p{L}*"
  let compiled: RegExp | undefined
  return {
    literal: literal.toLowerCase(),
    endFrom: (text, start) => {
      compiled ??= new RegExp(isStem ? end : `${condition}(?:${rest})${end}`, "iuy")
      const index = start + from
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
  const alternatives = split(pattern)
    .flatMap((one) => distributed(one))
    .map((one) => alternativeOf(one, end))
  const short = alternatives.filter(({ literal }) => literal.length < indexed)
  const starts = new Set(alternatives.map(({ literal }) => literal.slice(0, indexed)))
  const byStart = new Map(
    Array.from(starts, (start) => [
      start,
      alternatives.filter(({ literal }) => start.startsWith(literal.slice(0, indexed)))
    ])
  )
  const search = (text: string, isOne: boolean): ReadonlyArray<Found> => {
    const { begins, lower } = searched(text)
    const found: Array<Found> = []
    let from = 0
    for (const index of begins) {
      if (index < from) continue
      for (const { endFrom, literal } of byStart.get(lower.slice(index, index + indexed)) ?? short) {
        const after = lower.startsWith(literal, index) ? endFrom(text, index) : undefined
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

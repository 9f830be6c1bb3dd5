/** Suggestions for misspelt words. */

/**
 * Returns the question that ends an error message if a name was probably meant, with a space before it. Without such a
 * name, returns `otherwise`, also with a space.
 *
 * **Example**
 *
 * ```ts
 * import { Nearest } from "@divisi/core"
 *
 * const known = ["exact", "numeric"]
 * const problem = (name: string) =>
 *   `Unknown grader "${name}".${Nearest.didYouMean(Nearest.nearest(name, known), "See --help.")}`
 * problem("numerc") // => 'Unknown grader "numerc". Did you mean numeric?'
 * problem("judge") // => 'Unknown grader "judge". See --help.'
 * Nearest.didYouMean(undefined) // => ""
 * ```
 */
export const didYouMean = (meant: string | undefined, otherwise = ""): string => {
  const text = meant === undefined ? otherwise : `Did you mean ${meant}?`
  return text === "" ? "" : ` ${text}`
}

/**
 * Returns the edit distance between two words, counting insertions, deletions, substitutions and swaps of adjacent
 * letters.
 */
const distance = (from: string, to: string): number => {
  let beforeLast: ReadonlyArray<number> = []
  let last: ReadonlyArray<number> = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    const next = [row]
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      next[column] = Math.min(
        last[column]! + 1,
        next[column - 1]! + 1,
        last[column - 1]! + (isSame ? 0 : 1),
        isSwapped ? beforeLast[column - 2]! + 1 : Infinity
      )
    }
    beforeLast = last
    last = next
  }
  return last[to.length]!
}

const bare = (word: string): string => word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "")

/**
 * Looks a name up in a table of names used by other libraries, regardless of case and separators. Without an equal name,
 * a known word that is close decides, and then the longest name that it begins with, or ends with.
 *
 * @internal
 */
export const aliasOf = (
  name: string,
  called: Readonly<Record<string, string>>,
  meant: string | undefined
): string | undefined => {
  const word = bare(name.slice(0, 64))
  const singular = word.replace(/s$/, "")
  const known = Object.keys(called).sort((one, other) => other.length - one.length)
  // Short names end too many words: `id`, `fn`.
  const alias =
    known.find((one) => word.startsWith(bare(one))) ??
    known.find((one) => one.length > 4 && singular.endsWith(bare(one))) ??
    ""
  return meant !== undefined && bare(alias) !== word ? undefined : called[alias]
}

/** Maximum edit distance for a suggestion: a third of the word's length, but at most 3. */
const allowed = (word: string): number => Math.min(3, Math.floor(word.length / 3))

/** Whether one word is a prefix of the other, e.g. an incomplete word, or a word with its unit appended. */
const isBeginning = (one: string, other: string): boolean =>
  Math.min(one.length, other.length) >= 3 && (one.startsWith(other) || other.startsWith(one))

/** Whether a word without vowels abbreviates another one, e.g. `cmd` for `command`. */
const isAbbreviation = (short: string, long: string): boolean => {
  if (short.length < 3 || /[aeiou]/.test(short) || short[0] !== long[0]) return false
  let found = 0
  for (const letter of long) if (letter === short[found]) found++
  return found === short.length
}

/**
 * Returns the known word closest to a misspelled one, or `undefined` if none is close enough. Ignores case, hyphens and
 * underscores.
 *
 * **Example**
 *
 * ```ts
 * import { Nearest } from "@divisi/core"
 *
 * const settings = ["costUsd", "tokens", "calls"]
 * Nearest.nearest("costUSD", settings) // => "costUsd"
 * Nearest.nearest("cost", settings) // => "costUsd"
 * Nearest.nearest("tokns", settings) // => "tokens"
 * Nearest.nearest("colour", settings) // => undefined
 * ```
 */
export const nearest = (word: string, known: ReadonlyArray<string>): string | undefined => {
  const given = bare(word).slice(0, 64)
  const scored = known.map((one) => ({ one, far: distance(given, bare(one)) })).sort((a, b) => a.far - b.far)
  const [first] = scored
  const abbreviated = first?.far === 0 ? undefined : scored.find(({ one }) => isAbbreviation(given, bare(one)))
  if (abbreviated !== undefined) return abbreviated.one
  if (first !== undefined && first.far <= allowed(given)) return first.one
  return scored.find(({ one }) => isBeginning(given, bare(one)))?.one
}

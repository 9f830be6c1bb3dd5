/** Learns byte-pair merges by repeatedly merging the most frequent pair of adjacent tokens. */
import * as ByteLevel from "./byteLevel.ts"

interface Word {
  readonly count: number
  tokens: ReadonlyArray<number>
}

/** A token pair, the number of its occurrences, and the words that contain it. */
interface Pair {
  readonly left: number
  readonly right: number
  count: number
  readonly words: Set<Word>
}

const utf8 = new TextEncoder()

const wordsOf = (texts: Iterable<string>): ReadonlyArray<Word> => {
  const counts = new Map<string, number>()
  for (const text of texts) {
    for (const word of ByteLevel.split(text)) counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return Array.from(counts, ([word, count]) => ({ count, tokens: Array.from(utf8.encode(word)) }))
}

/** Adds the pairs of a word, or subtracts them if `sign` is -1. */
const tally = (pairs: Map<string, Pair>, word: Word, sign: 1 | -1) => {
  for (let at = 0; at + 1 < word.tokens.length; at++) {
    const left = word.tokens[at]!
    const right = word.tokens[at + 1]!
    const key = `${left} ${right}`
    const pair = pairs.get(key) ?? { left, right, count: 0, words: new Set() }
    pair.count += sign * word.count
    if (sign === 1) pair.words.add(word)
    pairs.set(key, pair)
  }
}

const isBetter = (pair: Pair, best: Pair | undefined): boolean => {
  if (best === undefined || pair.count !== best.count) return pair.count > (best?.count ?? 1)
  return pair.left < best.left || (pair.left === best.left && pair.right < best.right)
}

const mostFrequent = (pairs: Map<string, Pair>): Pair | undefined => {
  let best: Pair | undefined
  for (const pair of pairs.values()) if (isBetter(pair, best)) best = pair
  return best
}

const replace = (tokens: ReadonlyArray<number>, { left, right }: Pair, id: number): ReadonlyArray<number> => {
  const replaced: Array<number> = []
  for (let at = 0; at < tokens.length; at++) {
    const isPair = tokens[at] === left && tokens[at + 1] === right
    replaced.push(isPair ? id : tokens[at]!)
    if (isPair) at += 1
  }
  return replaced
}

/** Learns up to `count` merges, most frequent first. Stops early if no pair occurs twice. */
export const trainMerges = (texts: Iterable<string>, count: number): ReadonlyArray<string> => {
  const names = [...ByteLevel.characters]
  const ids = new Map(names.map((name, id) => [name, id]))
  const merges: Array<string> = []
  const pairs = new Map<string, Pair>()
  for (const word of wordsOf(texts)) tally(pairs, word, 1)
  while (merges.length < count) {
    const best = mostFrequent(pairs)
    if (best === undefined) break
    const name = names[best.left]! + names[best.right]!
    const id = ids.get(name) ?? names.push(name) - 1
    ids.set(name, id)
    merges.push(`${names[best.left]} ${names[best.right]}`)
    for (const word of best.words) {
      tally(pairs, word, -1)
      word.tokens = replace(word.tokens, best, id)
      tally(pairs, word, 1)
    }
    pairs.delete(`${best.left} ${best.right}`)
  }
  return merges
}

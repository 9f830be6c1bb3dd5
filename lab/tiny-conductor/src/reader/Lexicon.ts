/**
 * The vocabulary of a reader, with word vectors. Vectors learned from usage place opposites close together, because
 * words such as `strong` and `weak` occur in the same contexts. They are therefore fitted to a dictionary: synonyms
 * move together (Faruqui et al. 2015, https://aclanthology.org/N15-1184) and opposites apart (Mrkšić et al. 2016,
 * https://aclanthology.org/N16-1018). Two additional numbers indicate whether and how strongly a word is positive or
 * negative.
 */
import { Reader } from "@divisi/gguf"
import type { Dictionary } from "./WordNet.ts"

// -------------------------------------------------------------------------------------------------------------------
// Which words
// -------------------------------------------------------------------------------------------------------------------

/**
 * The numbers of words of each kind that are taken from the list of all words by frequency: any words, nouns, and
 * judging words. Names are common in the texts that vectors are learned from, and are not useful here.
 */
export interface Reach {
  readonly any: number
  readonly nouns: number
  readonly others: number
}

const reach: Reach = { any: 6000, nouns: 100_000, others: 200_000 }

/** The words of the vocabulary, chosen from all words by frequency. Inflected words are derived from others. */
export const chosen = (
  words: ReadonlyArray<string>,
  { partsOf }: Pick<Dictionary, "partsOf">,
  { any, nouns, others }: Reach = reach
): ReadonlyArray<string> => {
  const has = new Set(words)
  const fromAdjective = (word: string) =>
    Reader.stemsOf(word).some((stem) => has.has(stem) && partsOf.get(stem)?.has("adj") === true)
  const keys = new Set<number>()
  return words.filter((word, rank) => {
    const parts = partsOf.get(word)
    const isWanted =
      rank < any ||
      (parts !== undefined &&
        !(parts.size === 1 && parts.has("adv") && fromAdjective(word)) &&
        rank < (parts.size > 1 || !parts.has("noun") ? others : nouns))
    // Of two words with the same key, the more frequent one.
    const key = Reader.keyOf(word)
    if (!isWanted || keys.has(key)) return false
    keys.add(key)
    return true
  })
}

// -------------------------------------------------------------------------------------------------------------------
// Relations
// -------------------------------------------------------------------------------------------------------------------

interface Relations {
  /** By the index of a word: the indices of related words, with their similarity. */
  readonly near: ReadonlyArray<ReadonlyMap<number, number>>
  readonly opposite: ReadonlyArray<ReadonlySet<number>>
}

/** The relations between words, in both directions. */
const relationsOf = (words: ReadonlyArray<string>, dictionary: Dictionary): Relations => {
  const placeOf = new Map(words.map((word, place) => [word, place]))
  const near = words.map(() => new Map<number, number>())
  const opposite = words.map(() => new Set<number>())
  const join = (place: number, word: string, nearness: number) => {
    const other = placeOf.get(word)
    if (other === undefined || other === place) return
    for (const [one, two] of [
      [place, other],
      [other, place]
    ] as const) {
      near[one]!.set(two, Math.max(nearness, near[one]!.get(two) ?? 0))
    }
  }
  for (const [place, word] of words.entries()) {
    if (!dictionary.partsOf.has(word)) {
      const stem = Reader.stemsOf(word).find((one) => placeOf.has(one) && dictionary.partsOf.has(one))
      if (stem !== undefined) join(place, stem, 1)
    }
    for (const relative of dictionary.relativesOf(word)) join(place, relative.word, relative.nearness)
    for (const other of dictionary.oppositesOf(word)) {
      const at = placeOf.get(other)
      if (at === undefined) continue
      opposite[place]!.add(at)
      opposite[at]!.add(place)
    }
  }
  return { near, opposite }
}

// -------------------------------------------------------------------------------------------------------------------
// Vectors
// -------------------------------------------------------------------------------------------------------------------

const rounds = 10

/** How far a word moves away from its opposites, relative to their distance. */
const push = 0.25

/** Vectors close to their old values and to those of related words, and away from those of opposites. */
const fitted = (vectors: ReadonlyArray<ReadonlyArray<number>>, { near, opposite }: Relations) => {
  const found = vectors.map((vector) => Float64Array.from(vector))
  const meanOf = (places: Iterable<readonly [place: number, share: number]>, size: number) => {
    const sum = new Float64Array(size)
    let total = 0
    for (const [place, share] of places) {
      total += share
      for (const [at, value] of found[place]!.entries()) sum[at]! += share * value
    }
    return sum.map((value) => value / total)
  }
  for (let round = 0; round < rounds; round++) {
    for (const [place, vector] of found.entries()) {
      const first = vectors[place]!
      if (near[place]!.size > 0) {
        const mean = meanOf(near[place]!, vector.length)
        for (const [at, value] of first.entries()) vector[at] = (value + mean[at]!) / 2
      }
      if (opposite[place]!.size > 0) {
        if (near[place]!.size === 0) vector.set(first)
        const mean = meanOf(
          Array.from(opposite[place]!, (other) => [other, 1] as const),
          vector.length
        )
        for (const [at, value] of vector.entries()) vector[at] = value + push * (value - mean[at]!)
      }
    }
  }
  return found
}

const valenceRounds = 3

/**
 * The uncertainty of a value derived from related words: it counts as that much of a word that is neither positive nor
 * negative.
 */
const doubt = 0.5

/**
 * The sentiment of each word, if it is known for the word or for related words. Opposites have the opposite sentiment.
 */
const valencesOf = (
  words: ReadonlyArray<string>,
  known: ReadonlyMap<string, number>,
  { near, opposite }: Relations
): ReadonlyArray<number> => {
  let found = words.map((word) => known.get(word) ?? 0)
  for (let round = 0; round < valenceRounds; round++) {
    found = words.map((word, place) => {
      const own = known.get(word)
      if (own !== undefined) return own
      let [sum, total] = [0, doubt]
      for (const [other, nearness] of near[place]!) {
        sum += nearness * found[other]!
        total += nearness
      }
      for (const other of opposite[place]!) {
        sum -= found[other]!
        total += 1
      }
      return sum / total
    })
  }
  return found
}

/** The number of fitted numbers of a vector: all except the two for the sentiment of its word. */
export const fittedNumbers = Reader.sizes.vector - 2

/** The inputs of the vectors. */
export interface Sources {
  readonly words: ReadonlyArray<string>
  /** The vector of a word: {@link fittedNumbers}. */
  readonly vectorOf: (word: string) => ReadonlyArray<number>
  readonly dictionary: Dictionary
  /** The sentiment of words, from about -2 to 2. */
  readonly valences: ReadonlyMap<string, number>
}

/**
 * The vectors of words, with the length that a reader needs: fitted numbers, the sentiment of the word, and its
 * strength.
 */
export const make = ({ dictionary, valences, vectorOf, words }: Sources): Reader.Vectors => {
  const relations = relationsOf(words, dictionary)
  const numbers = fitted(words.map(vectorOf), relations)
  const kindness = valencesOf(words, valences, relations)
  const size = Reader.sizes.vector
  const vector = new Float32Array(words.length * size)
  for (const place of words.keys()) {
    const own = [...numbers[place]!, kindness[place]!, Math.abs(kindness[place]!)]
    vector.set(own, place * size)
  }
  return { "vector.key": Float32Array.from(words, Reader.keyOf), vector }
}

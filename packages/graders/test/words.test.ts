import { assert, describe, it } from "@effect/vitest"
import * as Words from "../src/internal/assertion/Words.ts"
import { matches } from "../src/internal/matches.ts"
import { remembered } from "../src/internal/remembered.ts"
import { lastSentence } from "../src/math/Prose.ts"

const patterns = [
  "(?:one|some|many) (?:can|will)|says?|(?:the )?answers?",
  "(?:lower|upper)? ?bounds?|a?round|d['’]oh",
  "(?<!\\b(?:i|we) )(?:claim|guess)(?:s|ed)?|(?=to )to (?:be|do)",
  "(?:a|the|this)? ?(?:(?:wrong|false) )?(?:result|value)s?|\\p{L}*buch|, like",
  "(?:[ab(]|\\(x)\\)?|(?:no|yes){2}|(?:so)*far|λέ\\p{L}*"
]

const texts = [
  "Some will say that the answers round the lower bound, like a wrong result.",
  "I claim nothing, they guessed a value (x) to be far, sosofar yesno nono: Lesebuch λένε D’oh!",
  "bounds  bound, likely Bounds; this false values the wrong resultat to do □ result"
]

describe("lists of words", () => {
  it("find the same as a regular expression with all their alternatives", () => {
    for (const pattern of patterns) {
      const all = new RegExp(`(?<!\\p{L})(?=[^\\s□])(?:${pattern})(?![\\p{L}])`, "giu")
      for (const text of texts) {
        const expected = [...text.matchAll(all)].map(({ 0: word, index }) => ({ index, end: index + word.length }))
        assert.deepStrictEqual(Words.make(pattern).find(text), expected)
        assert.strictEqual(Words.make(pattern).test(text), expected.length > 0)
      }
    }
  })
})

describe("matches", () => {
  it("are those of matchAll, with empty ones and after a search that stopped early", () => {
    for (const pattern of [/a*/g, /\p{L}*/gu, /(?=b)/g, /b/g]) {
      pattern.lastIndex = 2
      const all = [..."ab😀b".matchAll(new RegExp(pattern.source, pattern.flags))].map(({ index }) => index)
      assert.deepStrictEqual(
        matches("ab😀b", pattern).map(({ index }) => index),
        all
      )
    }
  })
})

describe("remembered results", () => {
  it("are calculated once for each text, until there are too many", () => {
    const asked: Array<string> = []
    const find = remembered((text) => {
      asked.push(text)
      return text === "" ? undefined : text.length
    }, 2)
    assert.deepStrictEqual(["a", "", "a", "", "bb", "bb", "a"].map(find), [1, undefined, 1, undefined, 2, 2, 1])
    assert.deepStrictEqual(asked, ["a", "", "bb", "a"])
  })
})

describe("the last sentence", () => {
  it("is that of the whole text, although only the last lines are read", () => {
    for (const [text, last] of [
      ["One. Two.\n\n Three. Four? \n\n", "Four?"],
      ["One.\nTwo. \n Three", "Three"],
      ["One. \n-5", "-5"],
      ["\n", undefined],
      ["是。否。", "否。"]
    ] as const) {
      assert.strictEqual(lastSentence(text), last)
    }
  })
})

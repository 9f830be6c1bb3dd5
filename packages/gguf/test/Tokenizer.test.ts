/** Tokens: those of llama.cpp, for any text, and back to the same text. */

import fs from "node:fs"
import path from "node:path"
import { Model, TinyModel } from "@divisi/gguf"
import { Tokenizer } from "@divisi/gguf/browser"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus"
import { temporaryFile } from "./files.ts"
import { loadModel } from "./llama.ts"

const page = fs.readFileSync(path.join(import.meta.dirname, "../README.md"), "utf8")

const texts: ReadonlyArray<string> = [
  "",
  " ",
  "Hello, world! It's I'LL you'll they've   three  spaces\n\n\ttabs\r\n and 12345 numbers3mixed4in",
  'model_id = [1, 0]\nsubtasks = ["Plan.", \'Do it.\']\naccess_list = [[], "all"]\n',
  "žluťoučký kůň, Ελληνικά, русский, 日本語のテキスト, العربية, हिन्दी, ไทย, 한국어",
  "🐎👩‍👩‍👧‍👦🏳️‍🌈 ½ ² Ⅷ ٣ e\u0301 \u00a0nbsp\u2003em \u0085 \ufeffbom \u200bzero",
  "trailing spaces   ",
  "   leading",
  "\n\n\n",
  " \t \n x",
  "<|endoftext|> is plain here <|im_end|>",
  "a".repeat(3000),
  `${"ab".repeat(1000)} ${"the".repeat(500)}`,
  "\0\u0001\u001f\u007f",
  "\ud800 half"
]

/** Texts of any characters, many of them of kinds that the rules of words tell apart. */
const randomTexts = (count: number): ReadonlyArray<string> => {
  const generator = xoroshiro128plus(11)
  const below = (limit: number) => (generator.next() >>> 0) % limit
  const kinds = [
    () => " ",
    () => "\n\t\r  "[below(5)]!,
    () => "'",
    () => "strevmld"[below(8)]!,
    () => String.fromCodePoint(33 + below(94)),
    () => String.fromCodePoint(0xa0 + below(0x250)),
    () => String.fromCodePoint(0x370 + below(0x3000)),
    () => String.fromCodePoint(0x1f300 + below(0x400)),
    () => "the and of "[below(11)]!
  ]
  return Array.from({ length: count }, () =>
    Array.from({ length: below(60) }, () => kinds[below(kinds.length)]!()).join("")
  )
}

const trained = Tokenizer.train([page, ...texts.slice(2, 5)], { merges: 700, chatTemplate: Tokenizer.chatMl })

const loaded = Effect.gen(function* () {
  const model = TinyModel.random({ architecture: "llama", seed: 1, layers: 1, hiddenSize: 8, tokenizer: trained })
  const { path } = yield* Model.write(model, yield* temporaryFile("a.gguf"))
  return yield* loadModel(path)
})

describe("tokens", () => {
  it.effect("are those of llama.cpp", () =>
    Effect.gen(function* () {
      const model = yield* loaded
      for (const text of [page, ...page.split("\n"), ...texts, ...randomTexts(1500)]) {
        const found = Tokenizer.encode(trained, text)
        assert.deepStrictEqual(found, [...model.tokenize(text, false)].map(Number), JSON.stringify(text.slice(0, 200)))
      }
    })
  )

  it.effect("of control are those of llama.cpp, too", () =>
    Effect.gen(function* () {
      const model = yield* loaded
      const text = "<|im_start|>user\nHi<|im_end|>\n<|im_start|><|endoftext|> <|im_sta"
      const tokens = Tokenizer.encode(trained, text, { controlTokens: true })
      assert.deepStrictEqual(tokens, [...model.tokenize(text, true)].map(Number))
      assert.strictEqual(Tokenizer.decode(trained, tokens, { controlTokens: true }), text)
      assert.strictEqual(Tokenizer.decode(trained, tokens), "user\nHi\n <|im_sta")
      assert.strictEqual(model.detokenize(tokens as never, false), Tokenizer.decode(trained, tokens))
      assert.strictEqual(Number(model.tokens.eos), trained.endOfText)
      assert.isTrue(model.isEogToken(trained.endOfText as never))
      assert.isFalse(model.tokens.shouldPrependBosToken)
    })
  )

  it("gives a word of a million characters back", () => {
    const text = "中".repeat(1_000_000)
    const tokenizer = Tokenizer.makeUnsafe()
    assert.isTrue(Tokenizer.decode(tokenizer, Tokenizer.encode(tokenizer, text)) === text)
  })

  it("give their text back", () => {
    for (const text of [page, ...texts.slice(0, -1), ...randomTexts(300)]) {
      assert.strictEqual(Tokenizer.decode(trained, Tokenizer.encode(trained, text)), text)
    }
  })

  it("of bytes alone are the bytes", () => {
    const bytes = Tokenizer.makeUnsafe()
    assert.deepStrictEqual(Tokenizer.encode(bytes, "hé"), [104, 195, 169])
    assert.strictEqual(bytes.endOfText, 256)
    assert.strictEqual(Tokenizer.decode(bytes, [195]), "\ufffd")
  })
})

describe("training", () => {
  it("finds the same merges in the same texts, the most frequent first", () => {
    const again = Tokenizer.train([page, ...texts.slice(2, 5)], { merges: 700 })
    assert.deepStrictEqual(again.merges, trained.merges)
    assert.deepStrictEqual(Tokenizer.train(["aab aab", "xyz"], { merges: 9 }).merges, ["a a", "aa b"])
    assert.isBelow(Tokenizer.encode(trained, page).length, page.length / 2)
  })

  it("keeps every token once, however it came to be", () => {
    assert.strictEqual(new Set(trained.tokens).size, trained.tokens.length)
    const twoWays = Tokenizer.makeUnsafe({ merges: ["a b", "ab c", "b c", "a bc"] })
    assert.strictEqual(twoWays.tokens.length, 256 + 3 + 3)
  })
})

describe("a tokenizer that cannot work", () => {
  it.each([
    ["a merge of what is not there", { merges: ["a b", "abc d"] }, /Merge 1, "abc d"/],
    ["a merge of three", { merges: ["a b c"] }, /Merge 0/],
    ["no control token", { controlTokens: [] }, /no control token/],
    ["a control token that is a byte", { controlTokens: ["a"] }, /"a" is empty or a duplicate/],
    ["a control token twice", { controlTokens: ["<x>", "<x>"] }, /"<x>"/]
  ])("is refused: %s", (_, options, words) => {
    assert.match(Result.getOrThrow(Result.flip(Tokenizer.make(options))).message, words)
  })
})

/**
 * Parity with the reference: `expected.json` was made by the Python packages tokenizers and jinja2 from the tokenizer
 * beside it, which was trained with the pattern and the normaliser of the kind that Qwen's and Llama 3's models have.
 */
import fs from "node:fs"
import path from "node:path"
import type { Message } from "@divisi/core/Task"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HuggingFaceTokenizer from "../src/HuggingFaceTokenizer.ts"

const folder = path.join(import.meta.dirname, "fixtures", "tokenizer")

interface Expected {
  readonly cases: ReadonlyArray<{
    readonly text: string
    readonly tokens: ReadonlyArray<number>
    readonly decoded: string
  }>
  readonly chats: ReadonlyArray<{
    readonly messages: ReadonlyArray<Message>
    readonly variables: Readonly<Record<string, unknown>>
    readonly tokens: ReadonlyArray<number>
  }>
}

const expected: Expected = JSON.parse(fs.readFileSync(path.join(folder, "expected.json"), "utf8"))

describe("HuggingFaceTokenizer", () => {
  it.effect("finds the tokens that the reference finds", () =>
    Effect.gen(function* () {
      const tokenizer = yield* HuggingFaceTokenizer.load({ folder })
      for (const { text, tokens } of expected.cases) {
        assert.deepStrictEqual(tokenizer.encode(text), tokens, JSON.stringify(text))
      }
    })
  )

  it.effect("gives the texts back that the reference gives", () =>
    Effect.gen(function* () {
      const tokenizer = yield* HuggingFaceTokenizer.load({ folder })
      for (const { decoded, tokens } of expected.cases) assert.strictEqual(tokenizer.decode(tokens), decoded)
    })
  )

  it.effect("renders chats as the reference does, with the template's own variables", () =>
    Effect.gen(function* () {
      for (const { messages, tokens, variables } of expected.chats) {
        const tokenizer = yield* HuggingFaceTokenizer.load({ folder }, { variables })
        assert.deepStrictEqual(tokenizer.render(messages), tokens)
      }
    })
  )

  it.effect("knows the token that ends a turn, or is told", () =>
    Effect.gen(function* () {
      const own = yield* HuggingFaceTokenizer.load({ folder })
      assert.strictEqual(own.endToken, own.tokenId("<|im_end|>"))
      const told = yield* HuggingFaceTokenizer.load({ folder }, { endToken: "<|endoftext|>" })
      assert.strictEqual(told.endToken, 0)
      const error = yield* Effect.flip(HuggingFaceTokenizer.load({ folder }, { endToken: "<end>" }))
      assert.include(error.message, "name the token that ends a turn as endToken")
    })
  )

  it.effect("says what is missing, and where", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(HuggingFaceTokenizer.load({ folder: "nowhere" }))
      assert.include(error.message, path.join("nowhere", "tokenizer.json"))
    })
  )
})

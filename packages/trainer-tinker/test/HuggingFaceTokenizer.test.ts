/**
 * Parity with the reference. `expected.json` was created with the Python packages tokenizers and jinja2 from the
 * tokenizer in the same folder. Its pattern and normaliser are of the kind that the models of Qwen and Llama 3 have.
 */
import fs from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import os from "node:os"
import path from "node:path"
import type { Message } from "@divisi/core/Message"
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
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

/** A hub that has a tokenizer without a template of its own file. */
const hub = Effect.gen(function* () {
  const asked: Array<string> = []
  const server = http.createServer((request, response) => {
    const name = path.basename(request.url!)
    asked.push(`${request.headers.authorization} ${request.url}`)
    if (name.endsWith(".json")) response.end(fs.readFileSync(path.join(folder, name)))
    else response.writeHead(404).end()
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resume) => server.listen(0, "127.0.0.1", resume))),
    () => Effect.promise(() => new Promise((resume) => server.close(resume).closeAllConnections()))
  )
  return { asked, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
})

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "divisi-tokenizer-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true }))
)

describe("HuggingFaceTokenizer", () => {
  it.live("fetches a model's files once, with the key of the environment", () =>
    Effect.gen(function* () {
      const { asked, endpoint } = yield* hub
      const cache = yield* temporaryFolder
      const environment = { HF_ENDPOINT: endpoint, HF_TOKEN: "secret", XDG_CACHE_HOME: cache }
      const load = (model: string) =>
        Effect.provide(
          HuggingFaceTokenizer.load({ model }),
          ConfigProvider.layer(ConfigProvider.fromUnknown(environment))
        )
      const { text, tokens } = expected.cases[0]!
      assert.deepStrictEqual((yield* load("owner/name")).encode(text), tokens)
      assert.deepStrictEqual((yield* load("owner/name")).encode(text), tokens)
      assert.deepStrictEqual(
        asked,
        ["tokenizer.json", "tokenizer_config.json", "chat_template.jinja"].map(
          (name) => `Bearer secret /owner/name/resolve/main/${name}`
        )
      )
      assert.include((yield* Effect.flip(load("name"))).message, "has the form owner/name")
    })
  )

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

  it.effect("knows the token that ends a turn, or takes it from an option", () =>
    Effect.gen(function* () {
      const own = yield* HuggingFaceTokenizer.load({ folder })
      assert.strictEqual(own.endToken, own.tokenId("<|im_end|>"))
      const told = yield* HuggingFaceTokenizer.load({ folder }, { endToken: "<|endoftext|>" })
      assert.strictEqual(told.endToken, 0)
      const error = yield* Effect.flip(HuggingFaceTokenizer.load({ folder }, { endToken: "<end>" }))
      assert.include(error.message, "set endToken to the token that ends a turn")
    })
  )

  it.effect("refuses a chat template that cannot be read or does not run", () =>
    Effect.gen(function* () {
      for (const chatTemplate of ["{% if", "{{ messages[0].content * 2 }}", "{{ nothing.role + 'a' }}"]) {
        const error = yield* Effect.flip(HuggingFaceTokenizer.load({ folder }, { chatTemplate }))
        assert.include(error.message, "its chat template cannot be used")
      }
    })
  )

  it.effect("refuses a chat template that is too long, before it is read", () =>
    Effect.gen(function* () {
      const chatTemplate = "a".repeat(2 ** 20)
      const error = yield* Effect.flip(HuggingFaceTokenizer.load({ folder }, { chatTemplate }))
      assert.include(error.message, "its chat template is longer than 65536 characters")
    })
  )

  it.effect("leaves out what the vocabulary lacks, whether or not the file says that nothing stands for it", () =>
    Effect.gen(function* () {
      const whole = JSON.parse(fs.readFileSync(path.join(folder, "tokenizer.json"), "utf8"))
      const { "!": missing, ...vocab } = whole.model.vocab
      assert.isNumber(missing)
      for (const unk_token of [null, undefined]) {
        const other = yield* temporaryFolder
        const spoilt = { ...whole, model: { ...whole.model, vocab, unk_token } }
        fs.writeFileSync(path.join(other, "tokenizer.json"), JSON.stringify(spoilt))
        fs.copyFileSync(path.join(folder, "tokenizer_config.json"), path.join(other, "tokenizer_config.json"))
        const tokenizer = yield* HuggingFaceTokenizer.load({ folder: other })
        assert.deepStrictEqual(tokenizer.encode("7!"), tokenizer.encode("7"))
      }
    })
  )

  it.effect("says what is missing, and where", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(HuggingFaceTokenizer.load({ folder: "nowhere" }))
      assert.include(error.message, path.join("nowhere", "tokenizer.json"))
    })
  )
})

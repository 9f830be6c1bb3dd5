/** Prompts: what is trained on is what llama.cpp sees when the model is served. */
import path from "node:path"
import type { Message } from "@divisi/core/Message"
import { Tokenizer } from "@divisi/gguf/browser"
import * as LlamaCppModel from "@divisi/policy-llamacpp/LlamaCppModel"
import * as JaxEngine from "@divisi/trainer-jax/JaxEngine"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { make, temporaryFolder, tokenizer } from "./model.ts"

const conversations: ReadonlyArray<readonly [string, ReadonlyArray<Message>]> = [
  [
    "two messages",
    [
      { role: "system", content: "0 alpha solves sums\n1 beta" },
      { role: "user", content: "What is 2 + 2?" }
    ]
  ],
  ["one message", [{ role: "user", content: "Hello" }]],
  [
    "blanks and lines at the ends",
    [
      { role: "system", content: " \n 0 alpha \n\n" },
      { role: "user", content: "\tWhy? \n" }
    ]
  ],
  [
    "turns",
    [
      { role: "user", content: "Why?" },
      { role: "assistant", content: "So." },
      { role: "user", content: "So?" }
    ]
  ],
  [
    "other scripts",
    [
      { role: "system", content: "Größe 大小 🎻" },
      { role: "user", content: "Straße, naïve café" }
    ]
  ],
  [
    "templates and names of control tokens",
    [{ role: "user", content: "{{ x }} {% if %} <|answer|> <|endoftext|> \\n" }]
  ]
]

const templates = [
  ["lines", tokenizer],
  ["ChatML", Tokenizer.makeUnsafe({ chatTemplate: Tokenizer.chatMl })]
] as const

describe.each(templates)("prompts by the template %s", (_, tokenizer) => {
  it.effect.each(conversations)("%s: have the tokens that llama.cpp finds", ([, messages]) =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const model = make({ vocabularySize: 320 })
      const engine = yield* JaxEngine.make({ ...model.options, tokenizer })
      const file = path.join(folder, "model.gguf")
      yield* engine.export("gguf", file)
      const loaded = yield* LlamaCppModel.load({ source: file, gpu: "none", threads: 1, contextTokens: 256 })
      const { prompt } = yield* LlamaCppModel.sample(loaded, { prompt: messages, maxOutputTokens: 1, seed: 1 })
      assert.deepStrictEqual([...prompt], [...engine.tokenizer.render(messages)])
    })
  )
})

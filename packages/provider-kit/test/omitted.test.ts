/** Contents of answers that are no text reach the caller as a notice each, on every protocol. */

import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { assert, describe, it } from "vitest"
import { Dialects, VendorError, VendorStream } from "../src/index.ts"

const read = async <State>(protocol: VendorStream.Protocol<unknown, State>, events: ReadonlyArray<object>) => {
  const sent = async function* () {
    yield* events
  }
  const stream = VendorStream.make({
    worker: "acme:tiny",
    messages: [{ role: "user", content: "Draw a cat." }],
    protocol,
    open: async () => ({ events: sent() }),
    reason: (error) => VendorError.fromException(error, {}),
    timeoutMillis: 5_000
  })
  const parts = await Effect.runPromise(Stream.runCollect(stream))
  return {
    text: parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
    notices: parts.flatMap((part) => (part.type === "notice" ? [part.notice] : []))
  }
}

const notices = (...kinds: ReadonlyArray<string>) =>
  kinds.map((kind) => `The model's answer contained ${kind}. Answers are text, so it was left out.`)

const chat = Dialects.Chat.protocol()
const delta = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason }],
  ...more
})

const sources = { citations: ["https://example.com/cats"], search_results: [{ url: "https://example.com/cats" }] }

describe("an answer with more than text", () => {
  it.each([
    [
      "pictures (OpenRouter)",
      [delta({ content: "A cat." }), delta({ images: [{ type: "image_url" }] }), delta({}, "stop")],
      ["pictures"]
    ],
    [
      "sources in each chunk (Perplexity)",
      [delta({ content: "A cat." }, null, sources), delta({}, "stop", sources)],
      ["citations"]
    ],
    [
      "annotations in a whole answer (OpenAI)",
      [
        {
          object: "chat.completion",
          choices: [
            {
              message: { content: "A cat.", annotations: [{ type: "url_citation" }] },
              finish_reason: "stop"
            }
          ]
        }
      ],
      ["citations"]
    ],
    [
      "a part of its content",
      [
        delta({
          content: [
            { type: "text", text: "A cat." },
            { type: "output_audio", data: "AA" }
          ]
        }),
        delta({}, "stop")
      ],
      ["audio"]
    ],
    [
      "empty lists",
      [delta({ content: "A cat.", images: [], annotations: [] }, null, { citations: [] }), delta({}, "stop")],
      []
    ]
  ])("of Chat Completions: %s", async (_, events, kinds) => {
    assert.deepStrictEqual(await read(chat, events), { text: "A cat.", notices: notices(...kinds) })
  })

  it("of Messages", async () => {
    const events = [
      { type: "message_start", message: { role: "assistant", content: [] } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "", citations: [] } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "A cat." } },
      { type: "content_block_delta", index: 0, delta: { type: "citations_delta", citation: { cited_text: "cat" } } },
      { type: "content_block_delta", index: 0, delta: { type: "citations_delta", citation: { cited_text: "a" } } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
      { type: "message_stop" }
    ]
    assert.deepStrictEqual(await read(Dialects.Messages.protocolOf("claude"), events), {
      text: "A cat.",
      notices: notices("citations")
    })
  })

  it("of Responses", async () => {
    const content = [{ type: "output_text", text: "A cat.", annotations: [{ type: "url_citation" }] }]
    const output = [
      { type: "image_generation_call", id: "ig_1", status: "completed", result: "AA" },
      { type: "message", id: "msg_1", role: "assistant", content }
    ]
    const events = [{ type: "response.completed", response: { object: "response", status: "completed", output } }]
    assert.deepStrictEqual(await read(Dialects.Responses.protocol("gpt"), events), {
      text: "A cat.",
      notices: notices("pictures", "citations")
    })
  })

  it("of generateContent", async () => {
    const parts = [{ text: "A cat." }, { inlineData: { mimeType: "image/png", data: "AA" } }]
    const candidate = { content: { parts }, finishReason: "STOP", groundingMetadata: { groundingChunks: [{}] } }
    const asked = { messages: [], model: "gemini" }
    assert.deepStrictEqual(await read(Dialects.GenerateContent.protocolOf(asked), [{ candidates: [candidate] }]), {
      text: "A cat.",
      notices: notices("citations", "pictures")
    })
  })
})

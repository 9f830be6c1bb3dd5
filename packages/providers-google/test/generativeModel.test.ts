import { WorkerStream } from "@divisi/core/streams"
import {
  GeminiContract,
  GoogleGenerateContent,
  type ProviderContract,
  Script,
  WireServer
} from "@divisi/testkit/providers"
import { assert, describe, it } from "@effect/vitest"
import { GoogleGenerativeAI } from "@google/generative-ai"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { generativeModel } from "../src/index.ts"

const modelOf = (name: string, baseUrl: string, more: object = {}, key = "key") =>
  new GoogleGenerativeAI(key).getGenerativeModel({ model: name, ...more }, { baseUrl })

const lineSeparators = "the SDK reads no event with U+2028 or U+2029 in it"
const noHeaders = "the SDK does not pass on the headers of a refusal"
const redirects = "the SDK calls the global fetch, which follows redirects, and takes no other"

/** The SDK gives no access to its `fetch`; a fault of its reader cannot be worked around from outside. */
const gaps: ProviderContract.Gaps = {
  "answer/text": lineSeparators,
  "tool-call/characters": lineSeparators,
  "retry-after/seconds": noHeaders,
  "retry-after/date": noHeaders,
  "retry-after/milliseconds": noHeaders,
  "fault/malformed": "the SDK drops the events that came in one packet with one that is not JSON",
  ...Object.fromEntries(["301", "302", "303", "307", "308", "host"].map((id) => [`vendor/redirect/${id}`, redirects]))
}

GeminiContract.contract({
  name: "generativeModel",
  make: (model, { apiKey, baseURL, defaults, tools, ...settings }) =>
    generativeModel(modelOf(model, baseURL, { tools }, String(apiKey)), { ...settings, ...defaults }),
  pathOf: (model) => `/v1beta/models/${model}:streamGenerateContent`,
  connects: false,
  gaps,
  skips: {
    "answer/10-megabytes-at-once": "the SDK searches all that has come again with each packet, which takes seconds"
  },
  describe,
  it: (name, body) => it(name, body)
})

describe("a model of the former SDK", () => {
  it("keeps its own settings in addition to those of a request", async () => {
    await using server = await WireServer.start(GoogleGenerateContent.dialect, [Script.answer("ok")])
    const safetySettings = [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }]
    const own = {
      systemInstruction: "Be terse.",
      generationConfig: { topK: 3, temperature: 1 },
      safetySettings
    }
    const worker = generativeModel(modelOf("gemini-2.5-flash", server.url, own), { temperature: 0.2 })
    const messages = [
      { role: "system", content: "Be kind." },
      { role: "user", content: "Hi" }
    ] as const
    await Effect.runPromise(Stream.runDrain(WorkerStream.generate(worker, { messages, seed: 7 })))
    assert.deepInclude(server.exchanges[0]?.body, {
      safetySettings,
      generationConfig: { topK: 3, temperature: 0.2, seed: 7 },
      systemInstruction: { role: "system", parts: [{ text: "Be terse." }, { text: "Be kind." }] }
    })
  })

  it("says what Google says, without the SDK's own words", async () => {
    await using server = await WireServer.start(GoogleGenerateContent.dialect, [
      Script.refusal("context-too-long"),
      { type: "raw", status: 502, contentType: "text/html", body: "<h1>Bad Gateway</h1>" }
    ])
    const worker = generativeModel(modelOf("gemini-2.5-flash", server.url))
    const fail = () =>
      Effect.runPromise(
        Effect.flip(Stream.runDrain(WorkerStream.generate(worker, { messages: [{ role: "user", content: "Hi" }] })))
      )
    const [tooLong, page] = [await fail(), await fail()]
    assert.strictEqual(tooLong.reason._tag, "ContextTooLong")
    assert.notInclude(tooLong.message, "Error fetching")
    assert.deepEqual(page.reason, { _tag: "Overloaded", detail: "502 Bad Gateway" })
  })
})

describe("options", () => {
  it("that are misspelt are reported when the worker is made", () => {
    const model = modelOf("gemini-2.5-flash", "http://127.0.0.1:9")
    assert.throws(() => generativeModel(model, { temprature: 1 } as never), 'Did you mean "temperature"?')
  })
})

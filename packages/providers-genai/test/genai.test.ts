import * as WorkerStream from "@divisi/core/WorkerStream"
import { GoogleGenerateContent, ProviderContract, Script, WireServer } from "@divisi/testkit/providers"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { genai } from "../src/index.ts"

const contract = (model: string, settings: ProviderContract.Expectations, gaps: ProviderContract.Gaps = {}) =>
  ProviderContract.contract({
    name: `genai: ${model}`,
    dialect: GoogleGenerateContent.dialect,
    make: ({ apiKey, baseURL, defaults, timeoutMillis }) =>
      genai(model, { apiKey, baseURL, ...defaults, timeoutMillis }),
    settings,
    gaps,
    describe,
    it: (name, body) => it(name, body)
  })

const gaps = { "usage/cache-write": "Gemini charges nothing for writing to its cache, and does not count it" }

const parallelToolCalls = { type: "rejected", reason: "Gemini may always call several functions at once" } as const
const reasoningOff = { type: "rejected", reason: "Gemini 3 always thinks" } as const

contract(
  "gemini-2.5-flash",
  { parallelToolCalls },
  { ...gaps, "output/json-schema-with-tools": "before Gemini 3 a request has tools or a shape" }
)
contract("gemini-3.1-pro-preview", { parallelToolCalls, reasoningOff }, gaps)

describe("genai", () => {
  const failureOf = (options: Parameters<typeof genai>[1]) => {
    const worker = genai("gemini-2.5-flash", options)
    const answer = WorkerStream.generate(worker, { messages: [{ role: "user", content: "Hi" }] })
    return Effect.runPromise(Effect.flip(Stream.runDrain(answer)))
  }

  it("says when to come back where Google says it in the body", async () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "7s" }]
    const body = JSON.stringify({ error: { code: 429, message: "Slow down", status: "RESOURCE_EXHAUSTED", details } })
    await using server = await WireServer.start(GoogleGenerateContent.dialect, [
      { type: "raw", status: 429, contentType: "application/json", body }
    ])
    const { reason } = await failureOf({ apiKey: "key", baseURL: server.url })
    assert.deepEqual(reason, { _tag: "RateLimited", retryAfterMillis: 7000, detail: "429 Slow down" })
  })

  it("is called with the token of its base URL, and shows it nowhere", async () => {
    await using server = await WireServer.start(GoogleGenerateContent.dialect, ({ path }) => ({
      type: "raw",
      status: 404,
      contentType: "text/plain",
      body: path
    }))
    const baseURL = `${server.url}/gateway?token=hunter2-token`
    const error = await failureOf({ apiKey: "key", baseURL })
    // The SDK calls the stable version where the base URL is another.
    const path = "/gateway/v1/models/gemini-2.5-flash:streamGenerateContent"
    assert.strictEqual(server.exchanges[0]?.path, `${path}?alt=sse&token=hunter2-token`)
    assert.include(error.message, path)
    const worker = genai("gemini-2.5-flash", { apiKey: "key", baseURL })
    assert.notInclude(JSON.stringify([error, error.message, worker]), "hunter2")
    assert.throws(
      () => genai("gemini-2.5-flash", { baseURL: "http://me:hunter2@127.0.0.1" }),
      /has a user name or password/
    )
  })

  it("names the variable that holds no key", async () => {
    const error = await failureOf({ apiKey: { env: "A_VARIABLE_THAT_IS_NOT_SET" } })
    assert.include(error.message, "A_VARIABLE_THAT_IS_NOT_SET")
  })
})

describe("options", () => {
  it("that are misspelt are told when the worker is made", () => {
    assert.throws(() => genai("gemini-2.5-flash", { apikey: "k" } as never), 'Did you mean "apiKey"?')
  })
})

describe("tools of a worker's own settings", () => {
  it("are sent beside those of the request", async () => {
    await using server = await WireServer.start(GoogleGenerateContent.dialect, [Script.answer("ok")])
    const config = { tools: [{ googleSearch: {} }] }
    const worker = genai("gemini-2.5-flash", { apiKey: "key", baseURL: server.url, config })
    const tools = [{ name: "now", input: { type: "object" } }]
    await Effect.runPromise(
      Stream.runDrain(WorkerStream.generate(worker, { messages: [{ role: "user", content: "Hi" }], tools }))
    )
    assert.deepInclude(server.exchanges[0]?.body, {
      tools: [
        { functionDeclarations: [{ name: "now", parametersJsonSchema: { type: "object" } }] },
        { googleSearch: {} }
      ]
    })
  })
})

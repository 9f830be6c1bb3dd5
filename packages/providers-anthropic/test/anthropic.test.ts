import { WorkerStream } from "@divisi/core/streams"
import { cost } from "@divisi/core/Usage"
import { AnthropicMessages, ProviderContract, Script, WireServer } from "@divisi/testkit/providers"
import { assert, describe, expect, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type AnthropicOptions, anthropic } from "../src/index.ts"

const contract = (model: string, settings: ProviderContract.Expectations, gaps: ProviderContract.Gaps = {}) =>
  ProviderContract.contract({
    name: model,
    dialect: AnthropicMessages.dialect,
    make: ({ apiKey, baseURL, defaults, timeoutMillis }) =>
      anthropic(model, {
        apiKey,
        baseURL,
        ...defaults,
        ...(timeoutMillis === undefined ? {} : { timeoutMillis })
      }),
    settings: {
      seed: { type: "rejected", reason: "the Messages API has no seed" },
      jsonOutput: { type: "rejected", reason: "the Messages API has JSON of a schema only" },
      ...settings
    },
    gaps,
    describe,
    it: (name, body) => it(name, body)
  })

contract("claude-sonnet-4-6", {})
contract(
  "claude-opus-5-5",
  {
    temperature: { type: "rejected", reason: "the model takes only its default" },
    reasoningBudget: { type: "rejected", reason: "the model decides itself how much it thinks" },
    reasoningOff: { type: "rejected", reason: "the model always thinks" }
  },
  {
    "tool/choice-required": "a model that always thinks cannot be made to call a tool",
    "tool/choice-name": "a model that always thinks cannot be made to call a tool"
  }
)

const request = { messages: [{ role: "user" as const, content: "Hi" }] }
const parts = (options: AnthropicOptions) =>
  Effect.runPromise(Stream.runCollect(WorkerStream.generate(anthropic("claude-opus-5-5", options), request)))

describe("anthropic", () => {
  it("reports the remaining rate limits before the answer", async () => {
    const headers = {
      date: "Fri, 20 Nov 2026 10:00:00 GMT",
      "anthropic-ratelimit-requests-limit": "50",
      "anthropic-ratelimit-requests-remaining": "49",
      "anthropic-ratelimit-requests-reset": "2026-11-20T10:00:02Z"
    }
    await using server = await WireServer.start(AnthropicMessages.dialect, [Script.answer("ok", { headers })])
    assert.deepEqual((await parts({ apiKey: "sk", baseURL: server.url }))[0], {
      type: "allowance",
      requests: { limit: 50, remaining: 49, resetMillis: 2000 }
    })
  })

  it("says what a call had used when it broke", async () => {
    const answer = Script.answer(["half", " an answer"], { usage: { inputTokens: 1000, outputTokens: 9 } })
    const script: Script.Script = { type: "cut", answer, after: 1, how: "end" }
    await using server = await WireServer.start(AnthropicMessages.dialect, [script])
    const failed = await parts({ apiKey: "sk", baseURL: server.url }).catch((error: unknown) => error)
    assert.include((failed as { usage?: object | undefined }).usage, { inputTokens: 1000 })
  })

  it("says nothing on standard error of a model that the vendor will shut down", async () => {
    await using server = await WireServer.start(AnthropicMessages.dialect, [Script.answer("ok")])
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined)
    const worker = anthropic("claude-sonnet-4-5", { apiKey: "sk", baseURL: server.url })
    await Effect.runPromise(Stream.runDrain(WorkerStream.generate(worker, request)))
    expect(warn).not.toHaveBeenCalled()
    warn.mockRestore()
  })

  it("is called with the token of its base URL, and shows it nowhere", async () => {
    const echoing = (path: string): Script.Script => ({
      type: "raw",
      status: 404,
      contentType: "text/plain",
      body: path
    })
    await using server = await WireServer.start(AnthropicMessages.dialect, ({ path }) => echoing(path))
    vi.stubEnv("ANTHROPIC_BASE_URL", `${server.url}?token=hunter2-token`)
    const worker = anthropic("claude-opus-5-5", { apiKey: "sk" })
    vi.stubEnv("ANTHROPIC_BASE_URL", "http://me:hunter2@127.0.0.1")
    assert.throws(
      () => anthropic("claude-opus-5-5", { apiKey: "sk" }),
      /ANTHROPIC_BASE_URL.*contains a user name or password/
    )
    vi.unstubAllEnvs()
    const error = await Effect.runPromise(Effect.flip(Stream.runDrain(WorkerStream.generate(worker, request))))
    assert.strictEqual(server.exchanges[0]?.path, "/v1/messages?token=hunter2-token")
    assert.include(error.message, "/v1/messages")
    assert.notInclude(JSON.stringify([error, error.message, worker]), "hunter2")
  })

  it("names the variable that holds no key", async () => {
    const failed = await parts({ apiKey: { env: "A_VARIABLE_THAT_IS_NOT_SET" } }).catch((error: unknown) => error)
    assert.include(String(failed), "A_VARIABLE_THAT_IS_NOT_SET")
  })

  it("knows prices by dated names, for either life of the cache, and no others", () => {
    const used = { inputTokens: 2_000_000, cacheWriteTokens: 1_000_000, outputTokens: 0 }
    const worker = (promptCacheFor: "5m" | "1h") => anthropic("claude-haiku-4-5-20251001", { promptCacheFor })
    assert.strictEqual(cost(worker("5m").pricing, used), 2.25)
    assert.strictEqual(cost(worker("1h").pricing, used), 3)
    assert.isUndefined(anthropic("claude-of-tomorrow").pricing)
  })

  it("never writes more than its own default says", () => {
    assert.strictEqual(anthropic("claude-opus-5-5").limits?.maxOutputTokens, 128_000)
    assert.strictEqual(anthropic("claude-opus-5-5", { maxOutputTokens: 1000 }).maxOutputTokens, 1000)
  })
})

describe("options", () => {
  it("that are misspelt are reported when the worker is created", () => {
    assert.throws(() => anthropic("claude-opus-5-5", { apikey: "k" } as never), 'Did you mean "apiKey"?')
  })
})

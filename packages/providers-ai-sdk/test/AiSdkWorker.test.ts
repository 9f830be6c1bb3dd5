import { createAnthropic } from "@ai-sdk/anthropic"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { WorkerStream } from "@divisi/core/streams"
import type { Worker, WorkerError, WorkerPart, WorkerRequest } from "@divisi/core/Worker"
import { type AiSdkWorker, aiSdk } from "@divisi/providers-ai-sdk"
import { AnthropicMessages, OpenAiChat, Script, WireServer } from "@divisi/testkit/providers"
import { assert, describe, it } from "@effect/vitest"
import { defaultSettingsMiddleware, wrapLanguageModel } from "ai"
import { MockLanguageModelV4, simulateReadableStream } from "ai/test"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { reasonOf } from "../src/internal/errors.ts"

const question: WorkerRequest = { messages: [{ role: "user", content: "Say hello." }] }

const generate = (worker: Worker, request: Partial<WorkerRequest> = {}): Promise<ReadonlyArray<WorkerPart>> =>
  Effect.runPromise(Stream.runCollect(WorkerStream.generate(worker, { ...question, ...request })))

const failure = (worker: Worker, request: Partial<WorkerRequest> = {}): Promise<WorkerError> =>
  Effect.runPromise(Effect.flip(Stream.runDrain(WorkerStream.generate(worker, { ...question, ...request }))))

const lab = (baseURL: string) => createOpenAICompatible({ name: "lab.chat", baseURL })("model-1")

const claude = (baseURL: string) => createAnthropic({ baseURL: `${baseURL}/v1`, apiKey: "key" })("claude-sonnet-4-5")

const serveClaude = () => WireServer.start(AnthropicMessages.dialect, [Script.answer("ok")])

describe("aiSdk", () => {
  it("is named like its model, and has an unknown price unless it is set", () => {
    const worker = aiSdk(lab("http://localhost"))
    assert.strictEqual(worker.id, "lab:model-1")
    assert.strictEqual(worker.pricing, undefined)
    const own = {
      id: "mine",
      description: "d",
      provider: "p",
      takesSeed: false,
      pricing: { inputPerMillion: 1, outputPerMillion: 2 }
    }
    const { generate: _, ...about } = aiSdk(lab("http://localhost"), own)
    assert.deepInclude(about, own)
  })

  it("refuses names and models of a specification that it cannot read", () => {
    const old = { ...lab("http://localhost"), specificationVersion: "v2" }
    for (const model of [old, "openai/gpt-5"]) {
      assert.throws(() => aiSdk(model as unknown as AiSdkWorker.Model), /AI SDK 6 or 7/)
    }
  })

  it("takes models as middleware has changed them", async () => {
    await using server = await WireServer.start(OpenAiChat.dialect, [Script.answer("ok")])
    const middleware = defaultSettingsMiddleware({ settings: { temperature: 0.9 } })
    const worker = aiSdk(wrapLanguageModel({ model: lab(server.url), middleware }))
    await generate(worker)
    assert.strictEqual(server.exchanges[0]?.sent.temperature, 0.9)
  })

  it("sends a vendor's own options, and a reasoning budget in the vendor's own words", async () => {
    await using server = await serveClaude()
    const worker = aiSdk(claude(server.url), {
      providerOptions: { anthropic: { metadata: { userId: "u" } } },
      reasoningOptions: (reasoning) =>
        reasoning.type === "budget"
          ? { anthropic: { thinking: { type: "enabled", budgetTokens: reasoning.tokens } } }
          : undefined
    })
    await generate(worker, { reasoning: { type: "budget", tokens: 2000 } })
    const [exchange] = server.exchanges
    assert.deepInclude(exchange?.body, { metadata: { user_id: "u" } })
    assert.deepStrictEqual(exchange?.sent.reasoning, { type: "budget", tokens: 2000 })
  })

  it("fails with the setting that the model has dropped, or continues without it if allowed", async () => {
    await using server = await serveClaude()
    const { message, reason } = await failure(aiSdk(claude(server.url)), { seed: 1 })
    assert.strictEqual(reason._tag, "InvalidRequest")
    assert.match(message, /does not support seed/)
    const notice = { type: "notice", notice: "seed: the model does not support it; it was left out" } as const
    assert.deepStrictEqual(await generate(aiSdk(claude(server.url), { unsupported: "ignore" }), { seed: 1 }), [
      notice,
      { type: "text", text: "ok" },
      ...(await generate(aiSdk(claude(server.url)), {})).slice(1)
    ])
    assert.deepEqual((await generate(aiSdk(claude(server.url)), { seed: 1, preferences: "omit" }))[0], notice)
  })

  it("maps or leaves out reasoning only where it is a preference", async () => {
    await using server = await serveClaude()
    const budget = { reasoning: { type: "budget", tokens: 2000 } } as const
    assert.match((await failure(aiSdk(claude(server.url)), budget)).message, /"reasoningOptions"/)
    const parts = await generate(aiSdk(claude(server.url)), { ...budget, preferences: "omit" })
    assert.strictEqual(parts[0]?.type === "notice" && parts[0].notice.includes('replaced by "'), true)
  })

  it("never leaves out a demand", async () => {
    const stream = (feature: string) =>
      new MockLanguageModelV4({
        doStream: async () => ({
          stream: simulateReadableStream({
            chunks: [
              { type: "stream-start", warnings: [{ type: "unsupported", feature }] },
              { type: "text-delta", id: "1", delta: "Hi" },
              {
                type: "finish",
                finishReason: { unified: "stop", raw: "stop" },
                usage: { inputTokens: {}, outputTokens: {} }
              }
            ] as never
          })
        })
      })
    for (const feature of ["responseFormat", "toolChoice", "stopSequences", "tool weather"]) {
      const { message, reason } = await failure(aiSdk(stream(feature), { unsupported: "ignore" }), {
        preferences: "omit"
      })
      assert.strictEqual(reason._tag, "InvalidRequest")
      assert.include(message, feature)
    }
  })

  it("shows no secret from its options", async () => {
    const scripts = [Script.refusal("invalid-request", { echo: "open sesame" })]
    await using server = await WireServer.start(OpenAiChat.dialect, scripts)
    for (const secret of ["open sesame", Redacted.make("open sesame")]) {
      const { message } = await failure(aiSdk(lab(server.url), { secrets: [secret] }))
      assert.match(message, /<hidden>/)
      assert.notMatch(message, /sesame/)
    }
  })
})

const weather = { name: "weather", input: { type: "object", properties: { city: { type: "string" } } } } as const

describe("what a model can do", () => {
  it("is assumed unless overridden: by its options, or by a server without schemas", () => {
    const able = { tools: true, images: true, files: true, jsonSchema: true }
    assert.deepStrictEqual(aiSdk(claude("http://localhost")).capabilities, able)
    // A compatible server's package declares no schema support by default.
    assert.deepStrictEqual(aiSdk(lab("http://localhost")).capabilities, { ...able, jsonSchema: false })
    const { capabilities } = aiSdk(lab("http://localhost"), { capabilities: { images: false, jsonSchema: true } })
    assert.deepStrictEqual(capabilities, { ...able, images: false })
  })

  it("does not apply to one tool at a time, which the AI SDK cannot express for all vendors", async () => {
    await using server = await serveClaude()
    const asked = { tools: [weather], parallelToolCalls: false }
    const { message, reason } = await failure(aiSdk(claude(server.url)), asked)
    assert.strictEqual(reason._tag, "InvalidRequest")
    assert.match(message, /parallelToolCalls: .* "parallelOptions"/)
    assert.strictEqual(server.exchanges.length, 0)
    await generate(aiSdk(claude(server.url), { unsupported: "ignore" }), asked)
    await generate(aiSdk(claude(server.url)), { ...asked, parallelToolCalls: true })
    assert.strictEqual(server.exchanges.length, 2)
  })
})

describe("tools that a vendor runs itself", () => {
  it("are not the caller's: they are not returned, and their answer is an ordinary one", async () => {
    const call = { toolCallId: "1", toolName: "web_search", providerExecuted: true } as const
    const usage = { inputTokens: { total: 3 }, outputTokens: { total: 1 } }
    const model = new MockLanguageModelV4({
      doStream: async () => ({
        stream: simulateReadableStream({
          chunks: [
            { type: "tool-input-start", id: "1", toolName: "web_search", providerExecuted: true },
            { type: "tool-input-delta", id: "1", delta: "{}" },
            { type: "tool-call", input: "{}", ...call },
            { type: "tool-result", result: { pages: [] }, ...call },
            { type: "text-delta", id: "2", delta: "Nothing found." },
            { type: "finish", finishReason: { unified: "stop", raw: "end_turn" }, usage }
          ] as never
        })
      })
    })
    assert.deepStrictEqual(await generate(aiSdk(model)), [
      { type: "text", text: "Nothing found." },
      { type: "finish", reason: "stop", usage: { inputTokens: 3, outputTokens: 1 } }
    ])
  })
})

describe("errors inside of a stream", () => {
  const tagOf = (error: unknown) => reasonOf(error, { secrets: [], nowMillis: 0 })._tag

  it("are told apart by codes and words, in whatever shape a vendor gives them", () => {
    assert.strictEqual(tagOf("Rate limit reached for requests"), "RateLimited")
    assert.strictEqual(tagOf({ type: "overloaded_error", message: "Overloaded" }), "Overloaded")
    assert.strictEqual(tagOf({ code: "insufficient_quota", message: "Add credits." }), "Quota")
    assert.strictEqual(tagOf({ status: "DEADLINE_EXCEEDED", message: "Deadline expired." }), "Timeout")
    assert.strictEqual(tagOf({ code: "server_error", message: "Sorry." }), "Overloaded")
    assert.strictEqual(tagOf({}), "Malformed")
  })

  it("say how long a context is in the words of several vendors", () => {
    const sizes = [
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
      "prompt is too long: 210000 tokens > 200000 maximum",
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    ].map((message) => reasonOf({ message }, { secrets: [], nowMillis: 0 }))
    assert.deepStrictEqual(
      sizes.map((reason) => (reason._tag === "ContextTooLong" ? reason.contextTokens : reason._tag)),
      [8192, 200_000, 1_048_576]
    )
  })

  it("that a model throws over its vendor's events are the vendor's fault, in no words about code", () => {
    const reason = reasonOf(new RangeError("Invalid array length"), { secrets: [], nowMillis: 0 })
    assert.strictEqual(reason._tag, "Malformed")
    assert.notMatch(reason.detail ?? "", /array length/)
    assert.strictEqual(tagOf(new Error("Expected a normalized stream error")), "Malformed")
  })
})

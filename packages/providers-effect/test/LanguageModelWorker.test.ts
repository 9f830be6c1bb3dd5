import { WorkerStream } from "@divisi/core/streams"
import type { WorkerRequest } from "@divisi/core/Worker"
import type { VendorError } from "@divisi/provider-kit"
import { LanguageModelWorker } from "@divisi/providers-effect"
import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { reasonOf } from "../src/internal/errors.ts"

const question: WorkerRequest = { messages: [{ role: "user", content: "Say hello." }] }

const usage = { inputTokens: { total: 3 }, outputTokens: { total: 1 } }

const model = (...parts: ReadonlyArray<Response.StreamPartEncoded>) =>
  Layer.effect(
    LanguageModel.LanguageModel,
    LanguageModel.make({ generateText: () => Effect.succeed([]), streamText: () => Stream.fromArray(parts) })
  )

describe("LanguageModelWorker", () => {
  it.effect("is a worker of the LanguageModel in the context", () =>
    Effect.gen(function* () {
      const worker = yield* LanguageModelWorker.make({ id: "hello", description: "Says hello." })
      const parts = yield* Stream.runCollect(WorkerStream.generate(worker, question))
      assert.strictEqual(worker.description, "Says hello.")
      assert.deepStrictEqual(parts, [
        { type: "reasoning", text: "Hm." },
        { type: "text", text: "Hello" },
        { type: "finish", reason: "other", usage: { inputTokens: 3, outputTokens: 1 } }
      ])
    }).pipe(
      Effect.provide(
        model(
          { type: "reasoning-delta", id: "1", delta: "Hm." },
          { type: "text-delta", id: "0", delta: "Hello" },
          { type: "finish", reason: "pause", usage }
        )
      )
    )
  )

  it.effect("fails on a setting without a mapping", () =>
    Effect.gen(function* () {
      const worker = yield* LanguageModelWorker.make({ id: "hello", temperature: 0.5 })
      const error = yield* Effect.flip(Stream.runDrain(WorkerStream.generate(worker, question)))
      assert.match(error.message, /temperature: there is no mapping/)
    }).pipe(Effect.provide(model({ type: "finish", reason: "stop", usage })))
  )
})

const weather = { name: "weather", input: { type: "object", properties: { city: { type: "string" } } } } as const

describe("a LanguageModel with tools", () => {
  it.effect("gets what it signed back with the turn that called them, and runs none of them", () =>
    Effect.gen(function* () {
      const asked: Array<LanguageModel.ProviderOptions> = []
      const thinking: ReadonlyArray<Response.StreamPartEncoded> = [
        { type: "reasoning-start", id: "1" },
        { type: "reasoning-delta", id: "1", delta: "I must look." },
        { type: "reasoning-end", id: "1", metadata: { lab: { signature: "s1" } } },
        { type: "tool-call", id: "a", name: "weather", params: { city: "Ulm" } },
        { type: "tool-call", id: "b", name: "web_search", params: {}, providerExecuted: true },
        { type: "finish", reason: "tool-calls", usage }
      ]
      const layer = Layer.effect(
        LanguageModel.LanguageModel,
        LanguageModel.make({
          generateText: () => Effect.succeed([]),
          streamText: (options) => {
            asked.push(options)
            return Stream.fromArray(thinking)
          }
        })
      )
      const worker = yield* Effect.provide(LanguageModelWorker.make({ id: "lab" }), layer)
      const first = yield* Stream.runCollect(WorkerStream.generate(worker, { ...question, tools: [weather] }))
      assert.deepStrictEqual(
        first.map(({ type }) => type),
        ["reasoning", "tool-call", "finish"]
      )
      const finish = first.at(-1)
      const echo: unknown = finish?.type === "finish" ? JSON.parse(JSON.stringify(finish.echo)) : undefined
      const call = { id: "a", name: "weather", arguments: '{"city":"Ulm"}' }
      const map = { type: "image", data: "iVBORw0KGgo=", mediaType: "image/png" } as const
      const messages: WorkerRequest["messages"] = [
        ...question.messages,
        { role: "assistant", content: "", toolCalls: [call], echo },
        { role: "tool", callId: "a", name: "weather", content: [{ type: "text", text: "sunny" }, map] }
      ]
      yield* Stream.runDrain(WorkerStream.generate(worker, { messages }))
      const [, said, results, seen] = asked[1]?.prompt.content ?? []
      assert.deepInclude(said?.content[0], {
        type: "reasoning",
        text: "I must look.",
        options: { lab: { signature: "s1" } }
      })
      assert.deepInclude(said?.content[1], { type: "tool-call", id: "a", params: { city: "Ulm" } })
      assert.deepInclude(results?.content[0], { type: "tool-result", id: "a", result: "sunny", isFailure: false })
      assert.deepInclude(seen?.content[0], { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" })
    })
  )

  it.effect("leaves out preferences that it is not given if it may, and never a demand", () =>
    Effect.gen(function* () {
      const worker = yield* LanguageModelWorker.make({ id: "lab" })
      const ask = (request: Partial<WorkerRequest>) =>
        Stream.runCollect(WorkerStream.generate(worker, { ...question, preferences: "omit", ...request }))
      assert.strictEqual((yield* ask({})).length, 1)
      const left = { temperature: 0.5, seed: 1, reasoning: { type: "off" } } as const
      const notices = (yield* ask({ ...left, tools: [weather], parallelToolCalls: false })).filter(
        ({ type }) => type === "notice"
      )
      assert.strictEqual(notices.length, 4)
      for (const demand of [{ output: { type: "json" } }, { stopSequences: ["."] }, { maxOutputTokens: 9 }] as const) {
        const { message } = yield* Effect.flip(ask(demand))
        assert.include(message, `${Object.keys(demand)[0]}: there is no mapping`)
      }
    }).pipe(Effect.provide(model({ type: "finish", reason: "stop", usage })))
  )

  it.effect("fails on one tool at a time, and on a shape, without a mapping", () =>
    Effect.gen(function* () {
      const worker = yield* LanguageModelWorker.make({ id: "lab", capabilities: { files: false } })
      assert.deepStrictEqual(worker.capabilities, { tools: true, images: true, files: false, jsonSchema: false })
      const failure = (request: Partial<WorkerRequest>) =>
        Effect.flip(Stream.runDrain(WorkerStream.generate(worker, { ...question, ...request })))
      const alone = yield* failure({ tools: [weather], parallelToolCalls: false })
      assert.match(alone.message, /parallelToolCalls: there is no mapping/)
      const shaped = yield* failure({ output: { type: "json" } })
      assert.match(shaped.message, /output: there is no mapping/)
      const nowhere = yield* failure({
        messages: [{ role: "user", content: [{ type: "image", url: "cat.png" }] }]
      })
      assert.strictEqual(nowhere.reason._tag, "InvalidRequest")
      // Defaults of models need no mapping.
      const text = { output: { type: "text" }, tools: [weather], parallelToolCalls: true } as const
      yield* Stream.runDrain(WorkerStream.generate(worker, { ...question, ...text }))
    }).pipe(Effect.provide(model({ type: "finish", reason: "stop", usage })))
  )
})

describe("reasons", () => {
  const at: VendorError.Surroundings = { nowMillis: 0 }
  const wrapped = (reason: AiError.AiErrorReason) => AiError.make({ module: "m", method: "n", reason })

  it("are those of the AiError, with the vendor's own words", () => {
    const http = {
      response: { status: 400, headers: {} },
      body: '{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}'
    }
    assert.deepStrictEqual(reasonOf(wrapped(new AiError.InvalidRequestError({ http })), at), {
      _tag: "ContextTooLong",
      contextTokens: 200_000,
      neededTokens: 210_000,
      detail: "prompt is too long: 210000 tokens > 200000 maximum"
    })
  })

  it("are those of the AiError if no vendor response is stored", () => {
    const tagOf = (reason: AiError.AiErrorReason) => reasonOf(wrapped(reason), at)._tag
    assert.strictEqual(tagOf(new AiError.QuotaExhaustedError({})), "Quota")
    assert.strictEqual(tagOf(new AiError.ContentPolicyError({ description: "no" })), "ContentFiltered")
    assert.strictEqual(tagOf(new AiError.InternalProviderError({ description: "bug" })), "Overloaded")
    assert.strictEqual(tagOf(new AiError.InvalidOutputError({ description: "?" })), "Malformed")
    assert.strictEqual(tagOf(new AiError.UnknownError({ description: "?" })), "InvalidRequest")
  })

  it("keep the wait that a provider has read", () => {
    const reason = new AiError.RateLimitError({ retryAfter: Duration.seconds(17) })
    assert.deepInclude(reasonOf(wrapped(reason), at), { _tag: "RateLimited", retryAfterMillis: 17_000 })
  })
})

import type { WorkerRequest } from "@divisi/core/Worker"
import * as WorkerStream from "@divisi/core/WorkerStream"
import type * as VendorError from "@divisi/provider-kit/VendorError"
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

  it.effect("fails on a setting that nobody said how to pass on", () =>
    Effect.gen(function* () {
      const worker = yield* LanguageModelWorker.make({ id: "hello", temperature: 0.5 })
      const error = yield* Effect.flip(Stream.runDrain(WorkerStream.generate(worker, question)))
      assert.match(error.message, /temperature: nobody said how/)
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

  it("are those of the AiError where no answer of a vendor is kept", () => {
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

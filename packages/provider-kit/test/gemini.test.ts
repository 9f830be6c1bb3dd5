import type { WorkerRequest } from "@divisi/core/Worker"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { reasonOf } from "../src/dialects/generate-content/errors.ts"
import { toBody } from "../src/dialects/generate-content/request.ts"
import { protocolOf, type State } from "../src/dialects/generate-content/stream.ts"
import { capabilitiesOf } from "../src/gemini/capabilities.ts"
import { priceOf } from "../src/gemini/prices.ts"

const protocol = protocolOf({ model: "gemini-3.5-flash", messages: [] })

const convert = (model: string, request: Partial<WorkerRequest>, omitUnsupported = false) =>
  toBody(
    { messages: [{ role: "user", content: "Hi" }], ...request },
    { model, capabilities: capabilitiesOf(model), omitUnsupported }
  )

const config = (model: string, request: Partial<WorkerRequest>) =>
  Result.getOrThrow(convert(model, request)).generationConfig

describe("a request to Google", () => {
  it.each([
    ["gemini-3.8-flash", { type: "effort", effort: "low" }, { thinkingLevel: "LOW", includeThoughts: true }],
    ["gemini-2.5-pro", { type: "effort", effort: "medium" }, { thinkingBudget: 8192, includeThoughts: true }],
    ["gemini-2.5-pro", { type: "budget", tokens: 128 }, { thinkingBudget: 128, includeThoughts: true }],
    ["models/gemini-2.5-flash", { type: "off" }, { thinkingBudget: 0 }],
    ["gemini-2.0-flash", { type: "off" }, undefined],
    ["gemini-of-tomorrow", { type: "effort", effort: "high" }, { thinkingLevel: "HIGH", includeThoughts: true }]
  ] as Array<[string, NonNullable<WorkerRequest["reasoning"]>, object | undefined]>)(
    "tells %s how to think: %o",
    (model, reasoning, expected) => {
      assert.deepEqual(config(model, { reasoning }).thinkingConfig, expected)
    }
  )

  it.each([
    ["gemini-3.8-flash", { type: "effort", effort: "minimal" }, "minimal"],
    ["gemini-3.1-pro-preview", { type: "off" }, "reasoning off"],
    ["gemini-2.5-pro", { type: "off" }, "reasoning off"],
    ["gemini-2.5-flash-lite", { type: "budget", tokens: 100 }, "reasoning budget"],
    ["gemini-2.0-flash", { type: "effort", effort: "low" }, "does not reason"]
  ] as Array<[string, NonNullable<WorkerRequest["reasoning"]>, string]>)(
    "refuses what %s does not have: %o",
    (model, reasoning, word) => {
      const refused = convert(model, { reasoning })
      assert.include(Result.isFailure(refused) ? refused.failure.detail : "", word)
    }
  )

  it.each([
    ["gemini-2.5-pro", { type: "off" }, { thinkingBudget: 128 }],
    ["gemini-3.1-pro-preview", { type: "off" }, { thinkingLevel: "LOW" }],
    ["gemini-3.8-flash", { type: "effort", effort: "minimal" }, { thinkingLevel: "LOW", includeThoughts: true }],
    ["gemini-2.5-flash-lite", { type: "budget", tokens: 100 }, { thinkingBudget: 512, includeThoughts: true }],
    ["gemini-2.5-flash", { type: "budget", tokens: 99_999 }, { thinkingBudget: 24_576, includeThoughts: true }],
    ["gemini-2.0-flash", { type: "effort", effort: "low" }, undefined]
  ] as Array<[string, NonNullable<WorkerRequest["reasoning"]>, object | undefined]>)(
    "replaces what %s does not have by what is nearest where it may: %o",
    (model, reasoning, expected) => {
      const sent = Result.getOrThrow(convert(model, { reasoning }, true))
      assert.deepEqual(sent.generationConfig, expected === undefined ? {} : { thinkingConfig: expected })
    }
  )
})

describe("an answer of Google", () => {
  const fold = (...chunks: ReadonlyArray<object>) =>
    chunks.reduce<State>((state, chunk) => protocol.next(state, chunk).state, protocol.initial)

  it("counts thoughts as output, and prompts of tools as input", () => {
    const state = fold({
      candidates: [{ content: { parts: [{ text: "Hm", thought: true }, { text: "42" }] }, finishReason: "STOP" }],
      usageMetadata: {
        promptTokenCount: 10,
        toolUsePromptTokenCount: 5,
        cachedContentTokenCount: 4,
        candidatesTokenCount: 2,
        thoughtsTokenCount: 30
      }
    })
    assert.strictEqual(protocol.finishReason(state), "stop")
    assert.deepEqual(protocol.usage(state), {
      inputTokens: 15,
      cachedInputTokens: 4,
      outputTokens: 32,
      reasoningTokens: 30
    })
  })

  it("gives every part of a piece, in order", () => {
    const chunk = {
      candidates: [{ content: { parts: [{ text: "Hm", thought: true }, { text: "" }, { text: "42" }] } }]
    }
    assert.deepEqual(protocol.next(protocol.initial, chunk).parts, [
      { type: "reasoning", text: "Hm" },
      { type: "text", text: "42" }
    ])
  })

  it("is truncated if it has no ending", () => {
    const state = fold({ candidates: [{ content: { parts: [{ text: "4" }] } }] })
    assert.isUndefined(protocol.finishReason(state))
    assert.include(protocol.incomplete?.(state), { _tag: "Network" })
  })
})

describe("a refusal of Google", () => {
  it("says when to come back in its body as well", () => {
    const body = { code: 429, message: "Slow down", details: [{ retryDelay: "34.5s" }] }
    assert.include(reasonOf({ status: 429, body }), { _tag: "RateLimited", retryAfterMillis: 34_500 })
  })

  it("is of the quota where the limit is that of a day", () => {
    const violations = [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }]
    assert.include(reasonOf({ status: 429, body: { details: [{ violations }] } }), { _tag: "Quota" })
  })
})

describe("a price of Google", () => {
  it("is that of the day", () => {
    assert.strictEqual(priceOf("gemini-3.8-flash", { on: "2026-12-31" })?.inputPerMillion, 0.75)
    assert.strictEqual(priceOf("gemini-3.8-flash", { on: "2027-01-01" })?.inputPerMillion, 1.5)
  })

  it("is unknown where it is not in the table", () => {
    assert.isUndefined(priceOf("gemini-of-tomorrow"))
  })
})

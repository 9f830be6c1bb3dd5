import type { WorkerRequest } from "@divisi/core/Worker"
import { Dialects } from "@divisi/provider-kit"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { type Target, toBody } from "../src/internal/request.ts"
import { conversation as messages, target } from "./target.ts"

const body = (request: Partial<WorkerRequest>, to: Target) => Result.getOrThrow(toBody({ messages, ...request }, to))

const refusal = (request: Partial<WorkerRequest>, to: Target) => {
  const result = toBody({ messages, ...request }, to)
  return Result.isFailure(result) ? result.failure.detail : undefined
}

describe("a request to Anthropic", () => {
  it.each([
    ["claude-opus-5-5", { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "low" } }],
    ["claude-sonnet-4-6", { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "low" } }],
    ["claude-opus-4-5-20251101", { output_config: { effort: "low" } }]
  ])("asks %s for an effort in its own words", (model, expected) => {
    const { output_config, thinking } = body({ reasoning: { type: "effort", effort: "low" } }, target(model))
    assert.deepEqual(JSON.parse(JSON.stringify({ output_config, thinking })), expected)
  })

  it.each([
    ["claude-haiku-5-5", { type: "disabled" }],
    ["claude-sonnet-5-5", { type: "between_tools" }],
    ["claude-sonnet-4-5", { type: "disabled" }]
  ])("turns the thinking of %s off", (model, expected) => {
    assert.deepEqual(body({ reasoning: { type: "off" } }, target(model)).thinking, expected as never)
  })

  it.each([
    ["claude-opus-5-5", { reasoning: { type: "off" } }, "reasoning off"],
    ["claude-opus-5-5", { reasoning: { type: "budget", tokens: 2048 } }, "reasoning budget"],
    ["claude-opus-5-5", { reasoning: { type: "effort", effort: "minimal" } }, "minimal"],
    ["claude-opus-5-5", { temperature: 0 }, "temperature"],
    ["claude-haiku-4-5", { reasoning: { type: "effort", effort: "low" } }, "reasoning effort"],
    ["claude-haiku-4-5", { reasoning: { type: "budget", tokens: 100 } }, "1024"],
    ["claude-haiku-4-5", { reasoning: { type: "budget", tokens: 4096 }, maxOutputTokens: 4096 }, "maxOutputTokens"],
    ["claude-haiku-4-5", { reasoning: { type: "budget", tokens: 2048 }, temperature: 0 }, "temperature"],
    ["claude-haiku-4-5", { seed: 1 }, "seed"]
  ] as Array<[string, Partial<WorkerRequest>, string]>)("refuses what %s does not have: %o", (model, request, word) => {
    assert.include(refusal(request, target(model)), word)
  })

  it("leaves out what a model does not have where it may, and reports it", () => {
    const notices: Array<string> = []
    const lenient = target("claude-opus-5-5", { omitUnsupported: true, onNotice: (notice) => notices.push(notice) })
    const sent = body({ temperature: 0, seed: 1 }, lenient)
    assert.doesNotHaveAnyKeys(sent, ["temperature", "seed", "thinking"])
    assert.lengthOf(notices, 2)
    assert.include(notices.join(), "temperature")
  })

  it.each([
    [
      "claude-opus-5-5",
      { type: "budget", tokens: 2048 },
      { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "medium" } }
    ],
    ["claude-opus-5-5", { type: "off" }, { output_config: { effort: "low" } }],
    [
      "claude-sonnet-4-6",
      { type: "effort", effort: "minimal" },
      { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "low" } }
    ],
    ["claude-haiku-4-5", { type: "effort", effort: "low" }, { thinking: { type: "enabled", budget_tokens: 1024 } }],
    ["claude-haiku-4-5", { type: "effort", effort: "high" }, { thinking: { type: "enabled", budget_tokens: 3999 } }],
    ["claude-haiku-4-5", { type: "budget", tokens: 100 }, { thinking: { type: "enabled", budget_tokens: 1024 } }],
    ["claude-haiku-4-5", { type: "budget", tokens: 9000 }, { thinking: { type: "enabled", budget_tokens: 3999 } }]
  ] as Array<[string, NonNullable<WorkerRequest["reasoning"]>, object]>)(
    "replaces what %s does not have by what is nearest where it may: %o",
    (model, reasoning, expected) => {
      const { output_config, thinking } = body(
        { reasoning, maxOutputTokens: 4000 },
        target(model, { omitUnsupported: true })
      )
      assert.deepEqual(JSON.parse(JSON.stringify({ output_config, thinking })), expected)
    }
  )

  it("does not think where the output limit leaves no room for the least budget", () => {
    const lenient = target("claude-haiku-4-5", { omitUnsupported: true })
    assert.isUndefined(body({ reasoning: { type: "effort", effort: "low" }, maxOutputTokens: 1000 }, lenient).thinking)
  })

  it("takes the temperature that every model has anyway", () => {
    assert.doesNotHaveAnyKeys(body({ temperature: 1 }, target("claude-opus-5-5")), ["temperature"])
  })

  it("marks the end of the system text for the cache, and of the turns before the last if requested", () => {
    const marks = (prefix: "system" | "conversation" | "none") => {
      const sent = body({}, target("claude-opus-5-5", { promptCache: { prefix, keepFor: "1h" } }))
      const blocks = [...(sent.system as Array<object>), ...sent.messages.flatMap(({ content }) => content as object[])]
      return blocks.map((block) => ("cache_control" in block ? block.cache_control : undefined))
    }
    const mark = { type: "ephemeral", ttl: "1h" }
    assert.deepEqual(marks("none"), [undefined, undefined, undefined, undefined])
    assert.deepEqual(marks("system"), [mark, undefined, undefined, undefined])
    assert.deepEqual(marks("conversation"), [mark, undefined, mark, undefined])
  })
})

describe("an answer of Anthropic", () => {
  it("counts the usage of the last events, and is complete only if the vendor marks it so", () => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 100, cache_creation_input_tokens: 1000 }
    const events = [
      { type: "message_start", message: { usage: { ...usage, output_tokens: 1 } } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "42" } },
      {
        type: "message_delta",
        delta: { stop_reason: "max_tokens" },
        usage: { output_tokens: 7, output_tokens_details: { thinking_tokens: 3 } }
      }
    ]
    const { finishReason, initial, next, usage: usageOf } = Dialects.Messages.protocolOf("claude-opus-5-5")
    const fold = (events: ReadonlyArray<object>) =>
      events.reduce<Dialects.Messages.State>((state, event) => next(state, event).state, initial)
    assert.isUndefined(finishReason(fold(events.slice(0, -1))))
    const complete = fold(events)
    assert.strictEqual(finishReason(complete), "length")
    assert.deepEqual(usageOf(complete), {
      inputTokens: 1110,
      cachedInputTokens: 100,
      cacheWriteTokens: 1000,
      outputTokens: 7,
      reasoningTokens: 3
    })
  })
})

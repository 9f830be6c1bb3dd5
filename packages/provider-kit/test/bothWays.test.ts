/**
 * Round trip: endings, usage and errors that a server writes with a dialect are read by a provider with the same
 * dialect.
 */
import type { Usage } from "@divisi/core/Usage"
import { Dialects } from "@divisi/provider-kit"
import { assert, describe, it } from "@effect/vitest"

const meant = {
  stop: "stop",
  "stop-sequence": "stop",
  length: "length",
  "tool-calls": "tool-calls",
  refusal: "refusal"
}

describe("an ending", () => {
  it.each(["chat", "messages"] as const)("is read as it was written on %s", (protocol) => {
    for (const [ended, word] of Object.entries(Dialects.Endings.wordOf[protocol])) {
      const { reason } = Dialects.Endings.ending(word, "reason") as { readonly reason: string }
      assert.strictEqual(reason, meant[ended as keyof typeof meant], word)
    }
  })

  it("is read where a response is incomplete, and of a legacy call", () => {
    for (const [reason, word] of [
      ...Object.entries(Dialects.Endings.incompleteWord),
      ["tool-calls", Dialects.Endings.legacyCall]
    ]) {
      assert.deepStrictEqual(Dialects.Endings.ending(word!, "reason") as unknown, { type: "ended", reason })
    }
  })
})

describe("a usage", () => {
  const usage: Usage = {
    inputTokens: 100,
    outputTokens: 20,
    cachedInputTokens: 30,
    cacheWriteTokens: 10,
    reasoningTokens: 5
  }

  it("is read as it was written on each protocol", () => {
    const { cacheWriteTokens: _, ...ofChat } = usage
    assert.deepStrictEqual(Dialects.UsageFields.usageOf(Dialects.UsageFields.chatUsage(usage)), ofChat)
    assert.deepStrictEqual(Dialects.UsageFields.usageOf(Dialects.UsageFields.responsesUsage(usage)), usage)
    assert.deepStrictEqual(
      Dialects.Messages.usageOf(Dialects.Messages.counted({}, Dialects.Messages.reported(usage))),
      usage
    )
  })
})

/** The kind of error that a client reads for each kind that a server writes. */
const read: { readonly [K in Dialects.Failures.Kind]: string } = {
  "invalid-request": "InvalidRequest",
  "context-too-long": "ContextTooLong",
  authentication: "Authentication",
  permission: "Authentication",
  "not-found": "InvalidRequest",
  "too-large": "ContextTooLong",
  "method-not-allowed": "InvalidRequest",
  "unsupported-encoding": "InvalidRequest",
  "rate-limit": "RateLimited",
  quota: "Quota",
  server: "Overloaded",
  upstream: "Overloaded",
  "upstream-account": "Overloaded",
  "content-filtered": "ContentFiltered",
  overloaded: "Overloaded",
  timeout: "Timeout"
}

describe("an error", () => {
  it.each(Object.entries(read))("of the kind %s is read as %s", (kind, tag) => {
    const { openai, status } = Dialects.Failures.forms[kind as Dialects.Failures.Kind]
    const [type, code] = openai
    const body = { error: { message: "It did not work.", type, code, param: null } }
    const reason = Dialects.Errors.reasonOfRefused({ status, headers: new Headers(), text: "", body }, { nowMillis: 0 })
    assert.strictEqual(reason._tag, tag)
    assert.include(reason.detail ?? "", "It did not work.")
  })
})

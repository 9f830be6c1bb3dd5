import { assert, describe, it } from "vitest"
import * as Usage from "../src/task/Usage.ts"
import * as Worker from "../src/task/Worker.ts"

describe("Usage.cost", () => {
  const pricing = { inputPerMillion: 3, outputPerMillion: 15, cachedInputPerMillion: 0.3, cacheWritePerMillion: 3.75 }

  it("counts fresh, cached and written input, output and calls", () => {
    const usage = {
      inputTokens: 1_000_000,
      cachedInputTokens: 600_000,
      cacheWriteTokens: 100_000,
      outputTokens: 20_000
    }
    assert.closeTo(Usage.cost(pricing, usage)!, 0.3 * 3 + 0.6 * 0.3 + 0.1 * 3.75 + 0.02 * 15, 1e-12)
    assert.closeTo(Usage.cost({ ...pricing, perCall: 0.5 }, Usage.noUsage)!, 0.5, 1e-12)
  })

  it("charges all tokens of a long prompt at the prices for long prompts", () => {
    const longPrompts = { aboveTokens: 200_000, inputPerMillion: 6, outputPerMillion: 22.5, cachedInputPerMillion: 0.6 }
    const tiered = { ...pricing, longPrompts, perCall: 0.5 }
    const cost = (inputTokens: number) =>
      Usage.cost(tiered, { inputTokens, cachedInputTokens: 100_000, cacheWriteTokens: 50_000, outputTokens: 10_000 })
    assert.closeTo(cost(200_000)!, 0.05 * 3 + 0.1 * 0.3 + 0.05 * 3.75 + 0.01 * 15 + 0.5, 1e-12)
    // The price of a cache write defaults to that of the input.
    assert.closeTo(cost(200_001)!, 0.050001 * 6 + 0.1 * 0.6 + 0.05 * 6 + 0.01 * 22.5 + 0.5, 1e-12)
    assert.isUndefined(
      Usage.cost(
        { ...tiered, longPrompts: { ...longPrompts, outputPerMillion: -1 } },
        {
          inputTokens: 200_001,
          outputTokens: 0
        }
      )
    )
  })

  it("bills cached input in full where no price for it is known", () => {
    const usage = { inputTokens: 1_000_000, cachedInputTokens: 1_000_000, outputTokens: 0 }
    assert.strictEqual(Usage.cost({ inputPerMillion: 2, outputPerMillion: 0 }, usage), 2)
  })

  it("leaves unknown values undefined", () => {
    assert.isUndefined(Usage.cost(undefined, Usage.noUsage))
    assert.strictEqual(Usage.cost(Usage.free, { inputTokens: 5, outputTokens: 5 }), 0)
  })
})

describe("Usage.addUsage", () => {
  it("keeps what is unknown unknown, and an estimate an estimate", () => {
    const plain = Usage.addUsage({ inputTokens: 1, outputTokens: 2 }, { inputTokens: 3, outputTokens: 4 })
    assert.deepStrictEqual(plain, { inputTokens: 4, outputTokens: 6 })
    const mixed = Usage.addUsage(plain, { inputTokens: 1, outputTokens: 1, reasoningTokens: 1, estimated: true })
    assert.deepStrictEqual(mixed, { inputTokens: 5, outputTokens: 7, reasoningTokens: 1, estimated: true })
  })

  it("keeps what was reported wrongly first", () => {
    const wrong = { inputTokens: 1, outputTokens: 1, estimated: true, misreported: "outputTokens: -90" }
    const [plain, other] = [Usage.noUsage, { ...wrong, misreported: "inputTokens: -1" }]
    assert.strictEqual([plain, wrong, other].reduce(Usage.addUsage).misreported, "outputTokens: -90")
  })
})

describe("WorkerError", () => {
  const tags = ["RateLimited", "Overloaded", "Timeout", "Network", "Malformed"] as const
  const final = ["InvalidRequest", "Authentication", "Quota", "ContentFiltered", "ContextTooLong"] as const

  it("knows which failures a retry can help", () => {
    for (const _tag of tags) assert.isTrue(Worker.isRetryable({ _tag }), _tag)
    for (const _tag of final) assert.isFalse(Worker.isRetryable({ _tag }), _tag)
  })

  it("says who, what and what to do", () => {
    const error = new Worker.WorkerError({ worker: "openai:gpt-5", reason: { _tag: "Authentication", detail: "401" } })
    assert.strictEqual(error.message, "openai:gpt-5 refused the credentials: 401. Check its API key.")
  })
})

describe("the message of an error", () => {
  const messageOf = (reason: Worker.WorkerErrorReason) =>
    new Worker.WorkerError({ worker: "acme:large", reason }).message

  it("says how long a vendor wants to be left alone", () => {
    assert.strictEqual(
      messageOf({ _tag: "RateLimited", retryAfterMillis: 3_600_000 }),
      "acme:large is rate limited. Wait 1 h, or use another worker."
    )
    assert.strictEqual(
      messageOf({ _tag: "Overloaded", retryAfterMillis: 90_000 }),
      "acme:large is overloaded. Wait 1.5 min, or use another worker."
    )
    assert.include(messageOf({ _tag: "RateLimited", retryAfterMillis: 200 }), "Wait, or lower the concurrency")
  })

  it("puts one full stop after the vendor's words, and names the worker once", () => {
    assert.strictEqual(
      messageOf({ _tag: "Authentication", detail: "acme:large: 401 Incorrect API key." }),
      "acme:large refused the credentials: 401 Incorrect API key. Check its API key."
    )
  })
})

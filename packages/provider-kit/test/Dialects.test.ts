import { Dialects } from "@divisi/provider-kit"
import { assert, describe, it } from "@effect/vitest"

const refused = (status: number, body: string, headers: Record<string, string> = {}) => {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    value = undefined
  }
  return Dialects.Errors.reasonOfRefused(
    { status, text: body, body: value, headers: new Headers(headers) },
    { nowMillis: 0 }
  )
}

describe("Errors", () => {
  it("reads the innermost error of a wrapper", () => {
    const raw = JSON.stringify({ error: { message: "context of 4096 exceeded", code: "context_length_exceeded" } })
    const reason = refused(
      400,
      JSON.stringify({ error: { message: "Provider returned error", code: 400, metadata: { raw } } })
    )
    assert.strictEqual(reason._tag, "ContextTooLong")
    assert.strictEqual(reason.detail, "context of 4096 exceeded")
  })

  it("reads FastAPI's details with their places", () => {
    const body = JSON.stringify({
      detail: [{ type: "missing", loc: ["body", "messages", 0, "role"], msg: "Field required" }]
    })
    assert.strictEqual(refused(422, body).detail, "messages.0.role: Field required")
    assert.strictEqual(Dialects.Errors.read(JSON.parse(body)).param, "messages.0.role")
  })

  it("reads JSON within words, pages of proxies and empty bodies", () => {
    const wrapped = JSON.stringify({ detail: 'Exception: AcmeException - {"message":"prompt is too long","code":400}' })
    assert.strictEqual(refused(500, wrapped)._tag, "ContextTooLong")
    const page = "<!DOCTYPE html><html><head><title>503 Service Unavailable</title></head><body><p>x</p></body></html>"
    assert.deepStrictEqual(refused(503, page), { _tag: "Overloaded", detail: "503 Service Unavailable" })
    assert.deepStrictEqual(refused(500, ""), { _tag: "Overloaded", detail: "status 500" })
  })

  it("takes bounded time for errors that are deep, long or many", () => {
    let deep: unknown = "end"
    for (let level = 0; level < 10_000; level++) deep = { error: deep }
    assert.deepStrictEqual(Dialects.Errors.read(deep).words, [])
    assert.isBelow(Dialects.Errors.read({ errors: Array(100_000).fill({ message: "no" }) }).words.length, 2)
    assert.isBelow(Dialects.Errors.reasonOfEvent("{".repeat(10_000_000)).detail!.length, 700)
  })
})

describe("Endings", () => {
  it("knows synonyms however they are written, and takes every other word for a failure", () => {
    const words = ["stop", "end_turn", "MAX_TOKENS", "tool-calls", "function_call", "content_filter", "eos"]
    const reasons = words.map((word) => Dialects.Endings.ending(word, "finish_reason"))
    assert.deepStrictEqual(
      reasons.map((one) => (one.type === "ended" ? one.reason : one.failure._tag)),
      ["stop", "stop", "length", "tool-calls", "tool-calls", "refusal", "stop"]
    )
    for (const word of ["error", "network_error", "error_finish", "constructor", "__proto__", "abort"]) {
      const ending = Dialects.Endings.ending(word, "finish_reason")
      assert.strictEqual(ending.type, "failed")
      assert.include(ending.type === "failed" ? ending.failure.detail : "", word)
    }
  })
})

describe("Text", () => {
  it("reads a text, a list of parts, and nothing", () => {
    const parts = [
      { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
      { type: "text", text: "a" },
      "b",
      null
    ]
    assert.deepStrictEqual(Dialects.Text.content(parts, "content"), { text: "ab", reasoning: "hm", skipped: [] })
    assert.strictEqual(Dialects.Text.content(null, "content").text, "")
    assert.deepStrictEqual(Dialects.Text.content([{ type: "image_url" }], "content").skipped, ["image_url"])
    assert.throws(() => Dialects.Text.content(7, "content"))
  })
})

describe("UsageFields", () => {
  it("finds usage in every place", () => {
    const usage = { prompt_tokens: 7, completion_tokens: 3 }
    const chunks = [
      { usage },
      { choices: [{ usage }] },
      { usage: null, x_groq: { usage } },
      { choices: [], timings: { prompt_n: 3, cache_n: 4, predicted_n: 3 } }
    ]
    for (const chunk of chunks) {
      assert.deepInclude(Dialects.UsageFields.usageOf(Dialects.UsageFields.reportedIn(chunk)), {
        inputTokens: 7,
        outputTokens: 3
      })
    }
  })
})

import { assert, describe, it } from "@effect/vitest"
import * as FailedCall from "../src/task/FailedCall.ts"
import { isRetryable } from "../src/task/Worker.ts"

const tagOf = (error: unknown) => FailedCall.fromThrown(error, 0)?._tag

const failed = (message: string, fields: object = {}) => Object.assign(new Error(message), fields)

class ApiConnectionTimeoutError extends Error {
  override readonly name = "APIConnectionTimeoutError"
}

/** Status and message of rejected requests, in wordings of many servers, by the reason that they indicate. */
const worded: Readonly<Record<string, ReadonlyArray<readonly [status: number, message: string]>>> = {
  ContextTooLong: [
    [
      400,
      "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (132000 in the messages, 8000 in the completion)."
    ],
    [
      400,
      "input length and `max_tokens` exceed context limit: 199000 + 32000 > 200000, decrease input length or `max_tokens` and try again"
    ],
    [400, "The input token count (1200345) exceeds the maximum number of tokens allowed (1048576)."],
    [400, "Requested token count exceeds the model's maximum context length of 32768 tokens."],
    [400, "the request exceeds the available context size, try increasing it"],
    [
      400,
      "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 200 `max_new_tokens`"
    ],
    [422, "Input validation error: `inputs` must have less than 8191 tokens. Given: 12000"],
    [400, "Prompt contains 40001 tokens, too large for model with 32768 maximum context length"],
    [400, "too many tokens: size limit exceeded by 1234 tokens. Try using shorter or fewer inputs."],
    [400, "Please reduce the length of the messages or completion."],
    [400, "Range of input length should be [1, 30720]"],
    [400, "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)"],
    [400, "This model's maximum prompt length is 131072 but the request contains 150000 tokens."],
    [400, "Input is too long for requested model."],
    [400, "The total number of tokens in the prompt plus max_tokens must not exceed 8192"],
    [400, "prompt is too long: 215432 tokens > 200000 maximum"],
    [500, "Sorry, the model's context window was exceeded"],
    [400, "context window exceeds limit (2013)"],
    [400, "tokens in request more than max tokens allowed"],
    [
      400,
      "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"
    ],
    [400, "Your input exceeds the context window of this model. Please adjust your input and try again."],
    [400, "Total tokens of image and text exceed max message tokens"],
    [400, "at most 4096 tokens are supported in a single request; yours has 9000"],
    [400, "Number of input tokens (9001) exceeds model's limit (8192)"],
    [424, "Failed Dependency: context length exceeded"],
    [400, "messages: total length of text too long for this model's context"],
    [400, "conversation too long for this model, start a new one"],
    [400, "Token count of messages must not exceed 65536"],
    [400, "input tokens should not exceed 128000"],
    [400, "Total prompt tokens 9000 > model max 8192"],
    [400, "Conversation exceeds 200k tokens"],
    [400, "Prompt has 5,120 tokens but the limit is 4,096."],
    [400, "ValueError: Token indices sequence length is longer than the specified maximum sequence length"],
    [400, "This endpoint's maximum context length is 64000 tokens"],
    [413, "payload too large: 20MB limit"],
    [400, "Please shorten your prompt."],
    [500, "prompt too long; exceeded max context length by 12 tokens"],
    [400, "prompt_tokens 140000 greater than limit 128000"],
    [400, "context overflow"],
    [400, "Input exceeds model capacity of 16k tokens"]
  ],
  RateLimited: [
    [
      413,
      "Request too large for model `llama-3.3-70b-versatile` in organization `org` on tokens per minute (TPM): Limit 6000, Requested 9000"
    ],
    [
      429,
      "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 45000. The input or output tokens must be reduced in order to run successfully."
    ],
    [400, "Too many tokens per day, please wait before trying again."],
    [429, "Too many tokens, please wait before trying again."],
    [429, "Resource has been exhausted (e.g. check quota)."],
    [
      429,
      "Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 20, Please retry in 37.5s."
    ],
    [403, "Rate limit reached: requests per minute"],
    [429, "Account has reached its concurrency limit of 4"],
    [429, "Daily request limit reached"],
    [429, "Slow down"],
    [400, "Exceeded rate: 20 requests / 60 s"],
    [400, "usage limit reached for this 5 hour window"],
    [429, "You've hit your session limit, resets at 3pm"],
    [400, "Too many requests in flight for this deployment"],
    [429, "模型当前访问量过大，请稍后再试"]
  ],
  InvalidRequest: [
    [400, "max_tokens is too large: 100000. This model supports at most 16384 completion tokens"],
    [400, "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for claude"],
    [400, "temperature must not exceed 2"],
    [400, "The number of stop sequences must not exceed 4"],
    [400, "`top_logprobs` must not exceed 20"],
    [400, "max_completion_tokens must not exceed 32768"],
    [400, "max output tokens cannot exceed 8192"],
    [400, "thinking.budget_tokens must be less than max_tokens"],
    [400, "image is too large for this model"],
    [400, "The tool description is too long"],
    [400, "messages.3.content.0.text: string too long"],
    [400, "tools[0].function.name too long. Expected a string with maximum length 64"]
  ],
  Quota: [
    [402, "Insufficient Balance"],
    [429, "You exceeded your current quota, please check your plan and billing details."],
    [403, "Your credit balance is too low to access the API. Please go to Plans & Billing"],
    [400, "Your credit balance is too low to access the Anthropic API."],
    [403, "Key limit exceeded (total limit)"],
    [400, "You have reached your monthly spending limit"],
    [403, "Access denied: your key limit exceeded"],
    [400, "您的账户已欠费"],
    [402, "余额不足"],
    [400, "余额不足或无可用资源包,请充值"]
  ],
  Overloaded: [
    [503, "The model is overloaded. Please try again later."],
    [529, "Overloaded"],
    [503, "Server busy, please retry"]
  ],
  Authentication: [
    [401, "Invalid API key"],
    [400, "API key not valid. Please pass a valid API key."],
    [403, "You don't have access to this model"]
  ],
  ContentFiltered: [
    [400, "Your request was rejected as a result of our safety system."],
    [400, "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."],
    [400, "Data may contain inappropriate content"],
    [400, "The prompt violates our usage policies."],
    [400, "Request blocked by content safety guardrails"],
    [400, "输入内容包含敏感信息"],
    [400, "Output data may contain harmful content."]
  ]
}

describe("the message of a rejected request", () => {
  it.each(Object.entries(worded))("%s", (tag, cases) => {
    for (const [status, message] of cases) {
      const reason = FailedCall.reasonOf({ status, message, header: () => undefined }, 0, message)
      assert.strictEqual(reason._tag, tag, `${status} ${message}`)
    }
  })
})

describe("what is thrown", () => {
  it.each([
    ["a status on the error, as SDKs put it", failed("No.", { status: 503 }), "Overloaded"],
    ["a statusCode", failed("No.", { statusCode: 429 }), "RateLimited"],
    [
      "the status of a response, as axios puts it",
      failed("No.", { code: "ERR_BAD_RESPONSE", response: { status: 500 } }),
      "Overloaded"
    ],
    ["the statusCode of a response", failed("No.", { response: { statusCode: 502 } }), "Overloaded"],
    ["the metadata of a cloud", failed("No.", { $metadata: { httpStatusCode: 503 } }), "Overloaded"],
    ["a numeric code", failed("No.", { code: 503 }), "Overloaded"],
    ["a quota behind a 429", failed("Pay first.", { status: 429, code: "insufficient_quota" }), "Quota"],
    ["a refused key", failed("No.", { status: 401 }), "Authentication"],
    ["a refused request", failed("No.", { status: 400 }), "InvalidRequest"],
    ["an answer of fetch", new Response("", { status: 529, statusText: "Overloaded" }), "Overloaded"],
    ["a status of a cause", new Error("The worker failed.", { cause: failed("No.", { status: 503 }) }), "Overloaded"],
    ["a connection that was reset", failed("socket hang up", { code: "ECONNRESET" }), "Network"],
    [
      "a cause of fetch's error",
      new TypeError("fetch failed", { cause: failed("x", { code: "ENOTFOUND" }) }),
      "Network"
    ],
    ["a browser's fetch", new TypeError("Failed to fetch"), "Network"],
    ["a time limit of undici", failed("Headers Timeout Error", { code: "UND_ERR_HEADERS_TIMEOUT" }), "Timeout"],
    ["a time limit of Node", failed("connect", { code: "ETIMEDOUT" }), "Timeout"],
    ["a time limit of axios", failed("timeout of 1000ms exceeded", { code: "ECONNABORTED" }), "Timeout"],
    ["AbortSignal.timeout", new DOMException("The operation was aborted due to timeout", "TimeoutError"), "Timeout"],
    ["the name of an SDK's error", new ApiConnectionTimeoutError("Request failed."), "Timeout"],
    ["a number alone", new Error("503"), "Overloaded"],
    ["a text", "429 Too Many Requests", "RateLimited"],
    ["a status in words", new Error("Request failed with status code 500"), "Overloaded"],
    ["a status of HTTP in words", new Error("HTTP 502: upstream"), "Overloaded"],
    ["a code in words", new Error("read ECONNRESET"), "Network"],
    ["a time limit in words", new Error("Request timed out"), "Timeout"],
    ["an answer that is no JSON", new SyntaxError("Unexpected token < in JSON"), "Malformed"]
  ] as const)("%s says why", (_, error, tag) => {
    const reason = FailedCall.fromThrown(error, 0)
    assert.strictEqual(reason?._tag, tag)
    assert.strictEqual(isRetryable(reason!), !["Quota", "Authentication", "InvalidRequest"].includes(tag))
  })

  it("says nothing where it is a mistake in the code, whatever its words", () => {
    assert.isUndefined(tagOf(new TypeError("Cannot read properties of undefined (reading 'timeout')")))
    assert.isUndefined(tagOf(new ReferenceError("rateLimit is not defined")))
    assert.isUndefined(tagOf(new RangeError("503")))
    assert.isUndefined(tagOf(failed("no such file", { code: "ENOENT" })))
    for (const nothing of [undefined, null, {}, "", "page 1503 of 40", new Error("model v5031 is unknown")]) {
      assert.isUndefined(tagOf(nothing))
    }
  })

  it("says when to come back, wherever the headers are", () => {
    const headers = { "retry-after": "2" }
    for (const error of [
      failed("No.", { status: 429, headers }),
      failed("No.", { status: 429, headers: new Headers(headers) }),
      failed("No.", { statusCode: 429, responseHeaders: headers }),
      failed("No.", { response: { status: 503, headers } })
    ]) {
      const reason = FailedCall.fromThrown(error, 0)
      assert.strictEqual(reason !== undefined && "retryAfterMillis" in reason && reason.retryAfterMillis, 2000)
    }
  })

  it.each([
    ["30", 30_000],
    ["0.5", 500],
    ["30, 30", 30_000],
    ["120, 60", 120_000],
    ["30 seconds", 30_000],
    ["7 sec", 7_000],
    ["1m30s", 90_000],
    ["500ms", 500],
    ["Thu, 01 Jan 2026 00:00:10 GMT", 10_000],
    ["Thursday, 01-Jan-26 00:00:10 GMT", 10_000],
    ["2026-01-01T00:00:10Z", 10_000],
    ["1767225610", 10_000],
    ["1767225610000", 10_000],
    ["0", 0],
    ["-5", undefined],
    ["+5", undefined],
    ["5, soon", 5_000],
    ["Wed, 31 Dec 2025 23:59:59 GMT", undefined],
    ["1767225599", undefined],
    ["after 2050", undefined],
    ["soon", undefined],
    ["", undefined],
    ["NaN", undefined],
    ["1e999", undefined],
    ["9".repeat(30), undefined]
  ])("reads retry-after %s", (text, millis) => {
    const header = (name: string) => (name === "retry-after" ? text : undefined)
    assert.strictEqual(FailedCall.retryAfterMillis(header, Date.parse("2026-01-01T00:00:00Z")), millis)
  })

  it("reads when an exhausted limit resets, and not when one does that is not exhausted", () => {
    const waitOf = (headers: Readonly<Record<string, string>>) =>
      FailedCall.retryAfterMillis((name) => headers[name], Date.parse("2026-01-01T00:00:00Z"))
    const reset = { "x-ratelimit-reset": "1767225610000" }
    assert.strictEqual(waitOf({ ...reset, "x-ratelimit-remaining": "0" }), 10_000)
    assert.strictEqual(waitOf({ ...reset, "x-ratelimit-remaining": "0", "retry-after": "3" }), 3_000)
    assert.isUndefined(waitOf({ ...reset, "x-ratelimit-remaining": "7" }))
    assert.isUndefined(waitOf(reset))
  })

  it("shows the innermost cause next to the words of the outer error, and not megabytes of a page", () => {
    const cause = failed("getaddrinfo ENOTFOUND api.example", { code: "ENOTFOUND" })
    assert.strictEqual(
      FailedCall.fromThrown(new TypeError("fetch failed", { cause }))?.detail,
      "fetch failed: getaddrinfo ENOTFOUND api.example"
    )
    assert.isBelow(FailedCall.fromThrown(failed("x".repeat(1_000_000), { status: 500 }))!.detail!.length, 1000)
  })

  it("does not throw at hostile errors", () => {
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error("no")
        },
        has: () => true
      }
    )
    assert.isUndefined(tagOf(hostile))
    const cycle = failed("around")
    cycle.cause = cycle
    assert.isUndefined(tagOf(cycle))
  })
})

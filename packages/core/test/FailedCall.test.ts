import { assert, describe, it } from "@effect/vitest"
import * as FailedCall from "../src/task/FailedCall.ts"
import { isRetryable } from "../src/task/Worker.ts"

const tagOf = (error: unknown) => FailedCall.fromThrown(error, 0)?._tag

const failed = (message: string, fields: object = {}) => Object.assign(new Error(message), fields)

class ApiConnectionTimeoutError extends Error {
  override readonly name = "APIConnectionTimeoutError"
}

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

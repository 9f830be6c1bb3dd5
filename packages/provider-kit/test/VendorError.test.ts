import { FailedCall } from "@divisi/core"
import { VendorError } from "@divisi/provider-kit"
import { assert, describe, it } from "@effect/vitest"

const nowMillis = Date.parse("2026-11-20T12:00:00Z")

const header = (headers: Readonly<Record<string, string>>) => (name: string) => headers[name]

const reason = (message: string, status?: number, codes?: string) =>
  VendorError.fromRefusal({ status, message, codes }, { nowMillis })

describe("fromRefusal", () => {
  it("goes by the status before it goes by words", () => {
    const tags = [401, 402, 403, 404, 408, 409, 413, 429, 500, 503, 504, 529].map((status) => reason("?", status)._tag)
    assert.deepStrictEqual(tags, [
      "Authentication",
      "Quota",
      "Authentication",
      "InvalidRequest",
      "Timeout",
      "Overloaded",
      "ContextTooLong",
      "RateLimited",
      "Overloaded",
      "Overloaded",
      "Timeout",
      "Overloaded"
    ])
    assert.strictEqual(reason("rate limit", 500)._tag, "Overloaded")
    assert.strictEqual(reason("overloaded", 400)._tag, "InvalidRequest")
  })

  it("tells apart by words what shares a status", () => {
    assert.strictEqual(reason("You exceeded your current quota", 429)._tag, "Quota")
    assert.strictEqual(reason("no", 400, "content_policy_violation")._tag, "ContentFiltered")
    assert.strictEqual(reason("no", 400, "context_length_exceeded")._tag, "ContextTooLong")
  })

  it("goes by words inside of a stream, and takes what it does not know for the vendor's fault", () => {
    assert.strictEqual(reason("Rate limit reached for requests")._tag, "RateLimited")
    assert.strictEqual(reason("Deadline expired.", undefined, "DEADLINE_EXCEEDED")._tag, "Timeout")
    assert.strictEqual(reason("Add credits.", undefined, "insufficient_quota")._tag, "Quota")
    assert.strictEqual(reason("")._tag, "Overloaded")
  })

  it("reads how long a context is in the words of several vendors", () => {
    const said = [
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
      "prompt is too long: 210000 tokens > 200000 maximum",
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    ].map((message) => reason(message, 400))
    assert.deepStrictEqual(
      said.map((reason) =>
        reason._tag === "ContextTooLong" ? [reason.contextTokens, reason.neededTokens] : reason._tag
      ),
      [
        [8192, 9001],
        [200_000, 210_000],
        [1_048_576, undefined]
      ]
    )
  })
})

describe("retryAfterMillis", () => {
  it("reads milliseconds, seconds and dates, and makes nothing up", () => {
    const after = (headers: Record<string, string>) => FailedCall.retryAfterMillis(header(headers), nowMillis)
    assert.strictEqual(after({ "retry-after-ms": "1234", "retry-after": "2" }), 1234)
    assert.strictEqual(after({ "retry-after": "1.5" }), 1500)
    assert.strictEqual(after({ "retry-after": "Fri, 20 Nov 2026 12:00:30 GMT" }), 30_000)
    for (const nonsense of ["soon", "-5", "", "Fri, 20 Nov 2020 12:00:30 GMT"]) {
      assert.strictEqual(after({ "retry-after": nonsense }), undefined)
    }
    assert.strictEqual(after({}), undefined)
  })
})

describe("fromConnection", () => {
  const refused = (address: string, port: number) =>
    Object.assign(new Error(`connect ECONNREFUSED ${address}:${port}`), { code: "ECONNREFUSED", address, port })
  const reasonOf = (cause: unknown, host?: string) =>
    VendorError.fromConnection(new TypeError("fetch failed", { cause }), { host })

  it("says how a server of this machine is started, where none listens", () => {
    const started = {
      _tag: "Network",
      detail: "no server is listening on 127.0.0.1:11434",
      remedy: 'start it with "ollama serve"'
    }
    assert.deepStrictEqual<unknown>(reasonOf(refused("127.0.0.1", 11_434)), started)
    const both = new AggregateError([refused("::1", 11_434), refused("127.0.0.1", 11_434)])
    assert.deepStrictEqual<unknown>(reasonOf(Object.assign(both, { code: "ECONNREFUSED" })), started)
    assert.deepStrictEqual<unknown>(reasonOf(refused("::1", 1_234)), {
      _tag: "Network",
      detail: "no server is listening on [::1]:1234",
      remedy: 'start it with "lms server start"'
    })
    assert.deepInclude(reasonOf(refused("127.0.0.1", 9_999)), { remedy: "start the server" })
    assert.deepStrictEqual<unknown>(reasonOf(refused("10.0.0.7", 11_434)), {
      _tag: "Network",
      detail: "no server is listening on 10.0.0.7:11434"
    })
  })

  it.each<[code: string, tag: "Network" | "Timeout", detail: string, remedy: RegExp]>([
    ["ENOTFOUND", "Network", "the host api.acme.com is unknown", /online/],
    ["EAI_AGAIN", "Network", "the DNS server did not resolve api.acme.com", /online/],
    ["ENETUNREACH", "Network", "api.acme.com cannot be reached over this machine's network", /online/],
    ["UND_ERR_CONNECT_TIMEOUT", "Timeout", "api.acme.com did not accept the connection in time", /HTTPS_PROXY/],
    ["SELF_SIGNED_CERT_IN_CHAIN", "Network", "the certificate of api.acme.com is not trusted", /NODE_EXTRA_CA_CERTS/],
    ["UNABLE_TO_GET_ISSUER_CERT", "Network", "the certificate of api.acme.com is not trusted", /NODE_EXTRA_CA_CERTS/]
  ])("explains %s by the host, and says what to do", (code, tag, detail, remedy) => {
    const reason = reasonOf(Object.assign(new Error("it failed"), { code }), "api.acme.com")
    assert.deepInclude(reason, { _tag: tag, detail })
    assert.match("remedy" in reason ? (reason.remedy ?? "") : "", remedy)
  })

  it("names the host of any other failure once", () => {
    assert.deepStrictEqual<unknown>(reasonOf(new Error("other side closed"), "api.acme.com"), {
      _tag: "Network",
      detail: "api.acme.com: other side closed"
    })
    const named = new Error("getaddrinfo failed for api.acme.com")
    assert.deepInclude(reasonOf(named, "api.acme.com"), { detail: "getaddrinfo failed for api.acme.com" })
    const unknown = Object.assign(new Error("getaddrinfo ENOTFOUND gpu-1"), { code: "ENOTFOUND", hostname: "gpu-1" })
    assert.deepInclude(reasonOf(unknown), { detail: "the host gpu-1 is unknown" })
  })
})

describe("detail", () => {
  it("hides secrets, also where they are long past what is shown", () => {
    const secret = "hunter2-hunter2"
    assert.notInclude(VendorError.detail(`${"x".repeat(3_990)}${secret}`, [secret]), "hunter")
    assert.notInclude(VendorError.detail("authorization: Bearer abcdefghijkl"), "abcdefghijkl")
    assert.notInclude(VendorError.detail("key sk-proj-0123456789abcdef was wrong"), "0123456789")
    assert.strictEqual(VendorError.detail("as it is", [""]), "as it is")
  })

  it("is short, whatever it is of", () => {
    assert.isBelow(VendorError.detail("x".repeat(10_000_000)).length, 700)
  })
})

describe("fromException", () => {
  const tagOf = (error: unknown) => VendorError.fromException(error, {})._tag

  it("tells the network, time limits and unreadable texts from mistakes", () => {
    const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" })
    assert.strictEqual(tagOf(new TypeError("fetch failed", { cause: refused })), "Network")
    assert.strictEqual(tagOf(new TypeError("terminated")), "Network")
    assert.strictEqual(tagOf(new DOMException("too slow", "TimeoutError")), "Timeout")
    assert.strictEqual(tagOf(new SyntaxError("Unexpected token")), "Malformed")
  })

  it("tells mistakes of a program and its bundle from requests that cannot be made", () => {
    for (const error of [
      new ReferenceError("Buffer is not defined"),
      new Error('Dynamic require of "node:buffer" is not supported'),
      new Error("Cannot find module 'undici'"),
      Object.assign(new Error("Cannot find package 'openai'"), { code: "ERR_MODULE_NOT_FOUND" })
    ]) {
      assert.strictEqual(tagOf(error), "Defect", error.message)
    }
    for (const error of [
      new TypeError("Invalid header value"),
      new TypeError("Cannot read properties of undefined (reading 'b')"),
      Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL" }),
      new Error("The model takes no images.")
    ]) {
      assert.strictEqual(tagOf(error), "InvalidRequest", error.message)
    }
  })
})

describe("detail", () => {
  const key = "sk-live/51Hq+Zm9yYmlkZGVu"

  it("hides a secret that is split by tags, by invisible marks, or by spaces", () => {
    const half = key.length / 2
    for (const cut of ["<b>", "<i class='x'></i>", "\u200b", "\u00ad", "\u202e", "\u0000", " ", "\n"]) {
      const said = VendorError.detail(`You sent ${key.slice(0, half)}${cut}${key.slice(half)}.`, [key])
      assert.strictEqual(said, "You sent <hidden>.")
    }
    assert.strictEqual(VendorError.detail([...key].join(" "), [key]), "<hidden>")
  })

  it("hides a secret in base64, at any place of it, and in a URL", () => {
    for (const before of ["", "u:", "me:", "Bearer ", "Authorization: Bearer "]) {
      const text = Buffer.from(`${before}${key}`)
      for (const encoding of ["base64", "base64url"] as const) {
        const encoded = text.toString(encoding)
        const said = VendorError.detail(`You sent "${encoded}".`, [key])
        assert.include(said, "<hidden>")
        const kept = said.replaceAll(/You sent |"|\.|<hidden>/g, "")
        assert.isBelow(Buffer.from(kept, encoding).toString("latin1").replace(before, "").length, 6)
      }
    }
    assert.strictEqual(VendorError.detail(`/v1/${encodeURIComponent(key)}`, [key]), "/v1/<hidden>")
  })

  it("shows no query and no user of an address, even an unknown one", () => {
    const said = VendorError.detail("no route: POST http://me:pw@host/v1/chat?token=hunter2&a=1 (404)")
    assert.strictEqual(said, "no route: POST http://<hidden>@host/v1/chat?<hidden> (404)")
  })

  it("shows no character that acts on a terminal or turns the text around", () => {
    const said = VendorError.detail("a\u001b]52;c;eA==\u0007b \u009b2Jc\u202ed\u2066e\ufefff \ud800g\u2028h")
    assert.strictEqual(said, "a]52;c;eA==b 2Jcde f g h")
  })

  it("hides a secret at the end of what is looked at of a long text", () => {
    for (let at = 15_000; at < 16_100; at += 7) {
      const said = VendorError.detail(`${"<p>x</p>".repeat(2100)}`.slice(0, at) + key, [key])
      assert.notInclude(said, key.slice(0, 12))
    }
  })

  it("takes time that grows with the text alone", () => {
    const hostile = ["<", "?a", "//", "sk", "\u200b", "s k "]
    for (const part of hostile) assert.isAtMost(VendorError.detail(part.repeat(1_000_000), [key]).length, 601)
  })
})

describe("fromThrown", () => {
  const map = () => ({ _tag: "Network" }) as const

  it("finds the failure whose reason is known among the causes", () => {
    const failure = VendorError.unreadable("no list")
    const outer = new Error("outer", { cause: new Error("inner", { cause: failure }) })
    assert.deepStrictEqual(VendorError.fromThrown(outer, map), { _tag: "Malformed", detail: "no list" })
    assert.deepStrictEqual(VendorError.fromThrown(new Error("other"), map), { _tag: "Network" })
  })

  it("takes what a reader of a body throws for the vendor's fault, in no words of JavaScript", () => {
    const nonsense = (() => {
      try {
        return (null as unknown as { a: string }).a
      } catch (error) {
        return error
      }
    })()
    assert.strictEqual(VendorError.fromThrown(nonsense, map)._tag, "Network")
    const reason = VendorError.fromThrown(nonsense, map, true)
    assert.deepStrictEqual(reason, { _tag: "Malformed", detail: "the response does not match this API" })
    assert.strictEqual(VendorError.fromThrown(new TypeError("terminated"), map, true)._tag, "Network")
    const mistaken = () => {
      throw new TypeError("details.some is not a function")
    }
    assert.deepStrictEqual(VendorError.fromThrown(new Error("any"), mistaken), reason)
  })
})

describe("retryAfterMillis", () => {
  it("is ignored if its number is implausible", () => {
    const digits = "9".repeat(400)
    for (const headers of [{ "retry-after": digits }, { "retry-after-ms": digits }, { "retry-after": "1e9" }]) {
      assert.isUndefined(FailedCall.retryAfterMillis((name) => (headers as Record<string, string>)[name], nowMillis))
    }
  })
})

/** Cases for refusals and the resulting failures. */
import assert from "node:assert/strict"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import type { Case } from "../../ProviderContract.ts"
import * as Script from "../../Script.ts"
import { assertFails } from "../subject.ts"

const reasonOf: ReadonlyArray<readonly [Script.RefusalKind, WorkerErrorReason["_tag"]]> = [
  ["rate-limited", "RateLimited"],
  ["overloaded", "Overloaded"],
  ["unavailable", "Overloaded"],
  ["server-error", "Overloaded"],
  ["timeout", "Timeout"],
  ["authentication", "Authentication"],
  ["permission", "Authentication"],
  ["quota", "Quota"],
  ["invalid-request", "InvalidRequest"],
  ["unknown-model", "InvalidRequest"],
  ["context-too-long", "ContextTooLong"],
  ["content-filtered", "ContentFiltered"]
]

/** Maximum length of an error message. Longer ones would flood a log. */
const longest = 2000

const retryAfter = (
  id: string,
  name: string,
  headers: () => Record<string, string>,
  millis: [number, number]
): Case => ({
  id: `retry-after/${id}`,
  name,
  run: async ({ ask }) => {
    for (const kind of ["rate-limited", "unavailable"] as const) {
      const { reason } = assertFails(
        await ask([Script.refusal(kind, { headers: headers() })]),
        "RateLimited",
        "Overloaded"
      )
      const asked = "retryAfterMillis" in reason ? reason.retryAfterMillis : undefined
      assert.ok(asked !== undefined, `${kind}: nothing says when to come back.`)
      assert.ok(asked >= millis[0] && asked <= millis[1], `${kind}: ${asked} ms is not within ${millis.join(" and ")}.`)
    }
  }
})

export const failures: ReadonlyArray<Case> = [
  ...reasonOf.map(
    ([kind, tag]): Case => ({
      id: `failure/${kind}`,
      name: `fails with ${tag} when the vendor says ${kind}, and repeats what it said`,
      run: async ({ ask, options }) => {
        // Vendors quote the request in their messages. The marker simulates such a quote.
        const { error, ...outcome } = await ask([Script.refusal(kind, { echo: "marker-4711" })])
        const failed = assertFails({ ...outcome, error }, tag)
        const isBlocked = options.dialect.refuse(Script.refusal(kind), true)?.status === 200
        if (!isBlocked) assert.match(failed.message, /marker-4711/, "The vendor's own words are lost.")
        assert.equal(outcome.server.exchanges.length, 1, "A refused request was sent again.")
      }
    })
  ),
  {
    id: "failure/529",
    name: "fails with Overloaded on status 529, whoever answers",
    run: async ({ ask }) => {
      const outcome = await ask([{ type: "raw", status: 529, contentType: "text/plain", body: "overloaded" }])
      assertFails(outcome, "Overloaded")
      assert.equal(outcome.server.exchanges.length, 1)
    }
  },
  {
    id: "failure/context-size",
    name: "says how long the context is where the vendor does",
    run: async ({ ask }) => {
      const { reason } = assertFails(await ask([Script.refusal("context-too-long")]), "ContextTooLong")
      assert.ok(reason._tag === "ContextTooLong" && (reason.contextTokens ?? 0) > 1000)
    }
  },
  {
    id: "failure/html",
    name: "fails with Overloaded on the error page of a gateway, without quoting all of it",
    run: async ({ ask }) => {
      const body = `<html><head><title>502 Bad Gateway</title></head><body>${"<p>padding</p>".repeat(1000)}</body></html>`
      const error = assertFails(await ask([{ type: "raw", status: 502, contentType: "text/html", body }]), "Overloaded")
      assert.ok(error.message.length < longest, `The message has ${error.message.length} characters.`)
    }
  },
  {
    id: "failure/10-megabytes",
    name: "keeps an error of 10 MB short",
    run: async ({ ask }) => {
      const echo = "x".repeat(10 * 1024 * 1024)
      const error = assertFails(await ask([Script.refusal("invalid-request", { echo })]), "InvalidRequest")
      assert.ok(error.message.length < longest, `The message has ${error.message.length} characters.`)
      assert.ok(JSON.stringify(error).length < longest, "Something of it is kept beside the message.")
    }
  },
  ...(["overloaded", "rate-limited"] as const).map(
    (kind): Case => ({
      id: `failure/in-stream/${kind}`,
      name: `fails when the vendor says ${kind} in the middle of a stream; what came before stands`,
      needsStream: true,
      run: async ({ ask }) => {
        const outcome = await ask([Script.refusal(kind, { after: [{ type: "text", text: "half" }] })])
        assertFails(outcome, kind === "overloaded" ? "Overloaded" : "RateLimited")
        assert.equal(outcome.text, "half")
        assert.equal(outcome.server.exchanges.length, 1)
      }
    })
  ),
  retryAfter("seconds", "reads retry-after in seconds", () => ({ "retry-after": "17" }), [17_000, 17_000]),
  retryAfter(
    "date",
    "reads retry-after as a date",
    () => ({ "retry-after": new Date(Date.now() + 90_000).toUTCString() }),
    [30_000, 90_000]
  ),
  retryAfter(
    "milliseconds",
    "reads retry-after-ms before retry-after",
    () => ({ "retry-after-ms": "1234", "retry-after": "2" }),
    [1234, 1234]
  ),
  {
    id: "retry-after/none",
    name: "makes nothing up where the vendor does not say when to come back, or says nonsense",
    run: async ({ ask }) => {
      for (const headers of [{}, { "retry-after": "soon" }, { "retry-after-ms": "-5" }] as Array<
        Record<string, string>
      >) {
        const { reason } = assertFails(await ask([Script.refusal("rate-limited", { headers })]), "RateLimited")
        assert.equal(reason._tag === "RateLimited" && reason.retryAfterMillis, undefined)
      }
    }
  }
]

/**
 * Cases for broken answers. Each must fail with the correct reason, after one request, and must never look complete.
 */
import assert from "node:assert/strict"
import type { Case } from "../../ProviderContract.ts"
import * as Script from "../../Script.ts"
import { assertFails, isStreaming } from "../subject.ts"

const answer = Script.answer(["This is ", "half of ", "an ", "answer."])

const fault = (id: string, name: string, script: Script.Script, text: string, ...tags: Array<string>): Case => ({
  id: `fault/${id}`,
  name,
  run: async ({ ask, options }) => {
    const outcome = await ask([script])
    assertFails(outcome, ...tags)
    assert.equal(outcome.text, isStreaming(options) ? text : "", "What came before the fault must stand.")
    assert.equal(outcome.server.exchanges.length, 1, "A broken answer was asked for again.")
  }
})

const cut = (id: string, name: string, after: number, how: "end" | "half-event" | "reset", text: string): Case =>
  fault(`cut/${id}`, name, { type: "cut", answer, after, how }, text, "Network", "Malformed")

const raw = (status: number, contentType: string, body: string): Script.Script => ({
  type: "raw",
  status,
  contentType,
  body
})

export const faults: ReadonlyArray<Case> = [
  cut("end", "fails when the stream ends after half an answer", 2, "end", "This is half of "),
  cut("half-event", "fails when the stream ends inside of an event", 2, "half-event", "This is half of "),
  cut("last", "fails when everything came but the vendor's word that it is all", 4, "end", Script.text(answer)),
  cut("first", "fails when the stream ends before the first piece", 0, "end", ""),
  {
    id: "fault/cut/reset",
    name: "fails when the connection is reset after half an answer",
    run: async ({ ask }) => {
      const outcome = await ask([{ type: "cut", answer, after: 2, how: "reset" }])
      assertFails(outcome, "Network", "Malformed")
      assert.equal(outcome.server.exchanges.length, 1, "A broken answer was asked for again.")
    }
  },
  fault(
    "malformed",
    "fails with Malformed when an event is not JSON",
    { type: "malformed", answer, after: 1 },
    "This is ",
    "Malformed"
  ),
  fault(
    "content-type/html",
    "fails when a page comes instead of a stream",
    raw(200, "text/html", "<html><body>Please log in</body></html>"),
    "",
    "Malformed"
  ),
  fault(
    "content-type/json",
    "fails when JSON of another kind comes instead of a stream",
    raw(200, "application/json", '{"hello":"world"}'),
    "",
    "Malformed"
  ),
  fault(
    "empty",
    "fails when nothing comes instead of a stream",
    raw(200, "text/event-stream", ""),
    "",
    "Malformed",
    "Network"
  ),
  fault("status/500", "does not ask again after status 500", Script.refusal("server-error"), "", "Overloaded"),
  fault("status/503", "does not ask again after status 503", Script.refusal("unavailable"), "", "Overloaded"),
  fault("status/408", "does not ask again after status 408", raw(408, "text/plain", "slow"), "", "Timeout"),
  fault(
    "status/409",
    "does not ask again after status 409",
    raw(409, "text/plain", "lock"),
    "",
    "Overloaded",
    "InvalidRequest"
  ),
  fault("status/429", "does not ask again after status 429", raw(429, "text/plain", "slow down"), "", "RateLimited")
]

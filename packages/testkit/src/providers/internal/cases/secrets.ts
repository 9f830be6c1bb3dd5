/**
 * Cases for the key, which is sent only to the vendor. Each failed call in every other case is checked for it as well.
 */
import assert from "node:assert/strict"
import type { Case } from "../../ProviderContract.ts"
import * as Script from "../../Script.ts"
import { assertFails, assertHidden } from "../subject.ts"

const kinds = ["authentication", "invalid-request", "rate-limited", "server-error"] as const

export const secrets: ReadonlyArray<Case> = [
  {
    id: "secret/worker",
    name: "does not show its key when it is printed itself",
    run: async ({ apiKey, serve, worker }) => {
      assertHidden(worker(await serve([Script.answer("ok")])), apiKey)
    }
  },
  ...kinds.map(
    (kind): Case => ({
      id: `secret/echo/${kind}`,
      name: `hides its key where the vendor repeats it when it says ${kind}`,
      run: async ({ apiKey, ask }) => {
        const outcome = await ask([Script.refusal(kind, { echo: `You sent "${apiKey}".` })])
        assertHidden(assertFails(outcome, "Authentication", "InvalidRequest", "RateLimited", "Overloaded"), apiKey)
      }
    })
  ),
  {
    id: "secret/echo/stream",
    name: "hides its key where the vendor repeats it in a stream",
    run: async ({ apiKey, ask }) => {
      const after = [{ type: "text" as const, text: "half" }]
      const outcome = await ask([Script.refusal("overloaded", { after, echo: `Key ${apiKey}` })])
      assertHidden(assertFails(outcome, "Overloaded"), apiKey)
    }
  },
  {
    id: "secret/echo/page",
    name: "hides its key where a page repeats it",
    run: async ({ apiKey, ask }) => {
      const page = (status: number): Script.Script => ({
        type: "raw",
        status,
        contentType: "text/html",
        body: `<html>authorization: Bearer ${apiKey}</html>`
      })
      for (const status of [200, 400, 502]) {
        assertHidden(assertFails(await ask([page(status)]), "Malformed", "InvalidRequest", "Overloaded"), apiKey)
      }
    }
  },
  {
    id: "secret/query",
    name: "sends its key in no address, which proxies and servers log",
    run: async ({ apiKey, ask }) => {
      const { server } = await ask([Script.answer("ok")])
      for (const { path } of server.exchanges) assert.ok(!path.includes(apiKey), "The key is in the address.")
    }
  },
  {
    id: "secret/connection",
    name: "does not show its key when nobody answers",
    run: async ({ apiKey, call, worker }) => {
      assertHidden(assertFails(await call(worker("http://nowhere.invalid")), "Network"), apiKey)
    }
  }
]

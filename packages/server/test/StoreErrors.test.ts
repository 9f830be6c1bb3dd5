import { Budget, Journal } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { assert, describe, it } from "vitest"
import * as NodeServer from "../src/NodeServer.ts"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

const place = "/var/secret/place.sqlite"

const damaged = Effect.suspend(() => {
  const reason = { _tag: "Damaged", detail: `a page of ${place}` } as const
  return Effect.fail(new Journal.JournalError({ journal: place, reason }))
})

class AccountsError extends Error {
  readonly _tag = "AccountsError"
}

const fails = Effect.die(new AccountsError(`The accounts file ${place} is damaged.`))

const requests = [
  ["GET", "/v1/runs"],
  ["GET", "/v1/runs/r"],
  ["GET", "/v1/runs/r/items"],
  ["GET", "/v1/runs/r/events"],
  ["POST", "/v1/runs/r/resume"],
  ["POST", "/v1/runs/r/fork"],
  ["POST", "/v1/runs/r/cancel"],
  ["POST", "/v1/runs/r/rating"]
] as const

const chat = { model: "divisi", messages: [{ role: "user", content: "Q" }] }

describe("a store that cannot be used", () => {
  const send = async (url: string, method: string, path: string, body: unknown) => {
    const headers = { "content-type": "application/json", "idempotency-key": "k" }
    const init = method === "GET" ? { method, headers } : { method, headers, body: JSON.stringify(body) }
    const response = await fetch(url.replace("/v1", path), init)
    return { status: response.status, text: await response.text() }
  }

  it("is not located for clients, whatever they ask, and is located in the log", () => {
    const logged: Array<string> = []
    const logger = Logger.layer([Logger.make(({ message }) => void logged.push([message].flat().join(" ")))])
    const memory = Journal.makeMemory()
    const journal = { ...memory, read: () => damaged, list: () => damaged, find: () => damaged, claim: () => damaged }
    const made = NodeServer.make({ ...alone(worker("a", said("Fine."))), journal, port: 0 })
    return Effect.gen(function* () {
      const { url } = yield* made
      for (const [method, path] of [...requests, ["POST", "/v1/chat/completions"] as const]) {
        const before = logged.length
        const body = path.endsWith("rating") ? { rating: 1 } : path.endsWith("completions") ? chat : {}
        const { status, text } = yield* Effect.promise(() => send(url, method, path, body))
        assert.notInclude(text, "secret", `${method} ${path}`)
        if (status >= 500) assert.include(logged.slice(before).join(), place, `${method} ${path}`)
      }
    }).pipe(Effect.scoped, Effect.provide(logger), Effect.runPromise)
  })

  it("is not located in the end of a run, nor in its record", () => {
    const ledger = { ...Budget.make({}), reserve: () => fails }
    const options = { ...alone(worker("a", said("Fine."))), ledger, journal: Journal.makeMemory() }
    return serving(options, async ({ url }) => {
      const { status, text } = await send(url, "POST", "/v1/chat/completions", chat)
      assert.strictEqual(status, 500)
      assert.notInclude(text, "secret")
      const { data } = JSON.parse((await send(url, "GET", "/v1/runs", {})).text)
      for (const path of ["", "/events"]) {
        assert.notInclude((await send(url, "GET", `/v1/runs/${data[0].id}${path}`, {})).text, "secret")
      }
    })
  })
})

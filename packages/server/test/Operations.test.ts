/** `GET /v1/operations`: the state of a server for its operators. */
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import type * as Operations from "../src/http/Operations.ts"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

const facts: Operations.Facts = {
  keys: [
    {
      id: "abcdefgh",
      name: "web",
      state: "valid",
      expires_at: null,
      rights: [],
      limits: { day_usd: 1 },
      spent: { day_usd: 0.5, month_usd: 0.5, total_usd: 2 }
    }
  ]
}

const team = () => alone(worker("one", said("1")))

describe("the state of a server", () => {
  it("is shown to a key with the right admin alone, with the facts of its stores", () =>
    serving(
      {
        ...team(),
        operations: Effect.succeed(facts),
        isKeyless: () => false,
        authenticate: ({ authorization = "" }) =>
          Effect.succeed({ owner: authorization, rights: authorization === "Bearer admin" ? ["admin"] : ["rate"] })
      },
      async ({ url }) => {
        const get = (authorization: string) => fetch(`${url}/operations`, { headers: { authorization } })
        const refused = await get("Bearer user")
        assert.strictEqual(refused.status, 403)
        assert.notInclude(await refused.text(), "abcdefgh")
        const shown = await get("Bearer admin")
        assert.strictEqual(shown.status, 200)
        assert.deepInclude(await shown.json(), {
          object: "operations",
          status: "ok",
          running: 0,
          closed: [],
          keys: facts.keys,
          machines: null
        })
      }
    ))

  it("is shown to this machine while there are no keys, and to no other web page", () =>
    serving(team(), async ({ url }) => {
      const shown = await fetch(`${url}/operations`)
      assert.deepInclude(await shown.json(), { keys: null, machines: null })
      const refused = await fetch(`${url}/operations`, { headers: { origin: "http://evil.example" } })
      assert.strictEqual(refused.status, 403)
    }))
})

import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { assert, describe, it } from "vitest"
import * as OwnSchemas from "../src/http/OwnSchemas.ts"
import * as Ratings from "../src/http/Ratings.ts"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

const request = { model: "divisi", messages: [{ role: "user" as const, content: "Who?" }] }

/** All that a value refers to. */
const refsIn = (value: unknown): ReadonlyArray<string> =>
  [...JSON.stringify(value).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref!)

describe("the description of the server's own endpoints", () => {
  it("names what is there, and says what it answers", () =>
    serving({ ...alone(worker("a", said("one"), said("two"))), keepRating: () => Effect.void }, async (server) => {
      const root = server.url.slice(0, -"/v1".length)
      const document = await (await fetch(`${root}/openapi.json`)).json()
      assert.strictEqual(document.openapi, "3.1.0")
      for (const ref of refsIn(document)) {
        assert.property(document.components.schemas, ref.slice("#/components/schemas/".length))
      }
      const { response } = await server.client.chat.completions.create(request).withResponse()
      const id = response.headers.get("x-divisi-run")!
      const statuses = await Promise.all(
        Object.entries<object>(document.paths).flatMap(([path, methods]) =>
          Object.keys(methods).map(async (method) => {
            if (path.endsWith("/resume") || path.endsWith("/items")) return ["", 200]
            const plan = 'model_id = [0]\nsubtasks = ["Answer."]\naccess_list = [[]]'
            const bodies: Readonly<Record<string, unknown>> = { fork: { at: "0.0" }, price: { plan } }
            const posted = bodies[path.split("/").at(-1)!] ?? { rating: "up" }
            const body = method === "post" ? JSON.stringify(posted) : null
            const given = await fetch(`${root}${path.replace("{id}", id)}`, { method: method.toUpperCase(), body })
            await given.text()
            return [`${method} ${path}`, given.status]
          })
        )
      )
      assert.deepStrictEqual(
        statuses.filter(([, status]) => status !== 200),
        []
      )
      const listed = await (await fetch(`${server.url}/runs`)).json()
      assert.isTrue(Schema.is(OwnSchemas.Runs)(listed))
      const shown = await (await fetch(`${server.url}/runs/${id}`)).json()
      assert.isTrue(Result.isSuccess(Schema.decodeUnknownResult(OwnSchemas.WholeRun)(shown)))
      const refused = await fetch(`${server.url}/runs?limit=-1`)
      assert.strictEqual(refused.status, 400)
      assert.isTrue(Schema.is(OwnSchemas.Failure)(await refused.json()))
    }))

  it("takes the ratings that are read, and no others", async () => {
    const isRead = (body: unknown): boolean => {
      try {
        return Ratings.read(body as Record<string, unknown>) !== undefined
      } catch {
        return false
      }
    }
    const taken = await Effect.runPromise(
      Arbitrary.sampleEffect(Arbitrary.schema(Ratings.ratingSchema), { seed: 7, count: 200 })
    )
    assert.isAbove(taken.length, 100)
    // A schema cannot say which texts no store can hold.
    const isStorable = ({ note }: { readonly note?: string | null | undefined }) =>
      (note ?? "").isWellFormed() && !(note ?? "").includes("\0")
    for (const body of taken) assert.strictEqual(isRead(body), isStorable(body), JSON.stringify(body))
    const others = [
      {},
      { rating: "up", score: 1 },
      { rating: "maybe" },
      { score: 1.5 },
      { score: 1, source: "nobody" },
      { score: 1, step: { round: 0 } },
      { score: 1, step: { round: 0, step: -1 } },
      { score: 1, note: "x".repeat(2_001) }
    ]
    for (const body of others) {
      assert.isFalse(isRead(body), JSON.stringify(body))
      assert.isFalse(Schema.is(Ratings.ratingSchema)(body), JSON.stringify(body))
    }
  })
})

import type { Transcript } from "@divisi/core/Transcript"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import type * as Ratings from "../src/http/Ratings.ts"
import { serving } from "./serving.ts"
import { alone, asks, said, team, worker } from "./teams.ts"

const request = { model: "divisi", messages: [{ role: "user" as const, content: "Who?" }] }

/** A server that keeps ratings in a list. */
const keeping = () => {
  const kept: Array<readonly [Transcript, Ratings.Rating]> = []
  const keepRating: Ratings.Keep = (transcript, rating) => Effect.sync(() => void kept.push([transcript, rating]))
  return { kept, keepRating }
}

const rate = (url: string, body: unknown, authorization = "Bearer none") =>
  fetch(url, {
    method: "POST",
    headers: { authorization },
    body: typeof body === "string" ? body : JSON.stringify(body)
  })

describe("ratings", () => {
  it("of a run and of its steps are kept with who answered", () => {
    const { kept, keepRating } = keeping()
    const workers = [worker("a", said("one")), worker("b", said("two")), worker("c", said("three"))]
    return serving({ ...team(...workers), keepRating }, async ({ client, url }) => {
      const { response } = await client.chat.completions.create(request).withResponse()
      const place = `${url}/runs/${response.headers.get("x-divisi-run")}/rating`
      const whole = await (await rate(place, { rating: "down", note: "wrong" })).json()
      assert.deepInclude(whole, { object: "run.rating", worker: "policy:a team", score: 0, source: "user" })
      const step = await (
        await rate(place, { score: 0.5, step: { round: 0, step: 1 }, source: "check", more: 1 })
      ).json()
      assert.deepInclude(step, { worker: "b", score: 0.5, source: "check", step: { round: 0, step: 1 } })
      assert.deepStrictEqual(
        kept.map(([{ answer }, { note, score }]) => [answer, score, note]),
        [
          ["three", 0, "wrong"],
          ["three", 0.5, undefined]
        ]
      )
    })
  })

  it("are refused in the form of other errors where they say nothing, and kept nowhere", () => {
    const { kept, keepRating } = keeping()
    const options = { ...alone(worker("a", said("one"), asks(["look", {}]))), keepRating }
    return serving(options, async ({ client, url }) => {
      const { response } = await client.chat.completions.create(request).withResponse()
      const place = `${url}/runs/${response.headers.get("x-divisi-run")}/rating`
      const refused: ReadonlyArray<readonly [unknown, string | null]> = [
        ["no json", null],
        ["[1]", null],
        [{}, "score"],
        [{ rating: "up", score: 1 }, "score"],
        [{ rating: "good" }, "rating"],
        [{ rating: "constructor" }, "rating"],
        [{ score: 1.5 }, "score"],
        [{ score: "1" }, "score"],
        [{ score: 1, source: "oracle" }, "source"],
        [{ score: 1, step: "0.1" }, "step"],
        [{ score: 1, step: { round: 0, step: -1 } }, "step.step"],
        [{ score: 1, step: { round: 0, step: 9 } }, "step"],
        [{ score: 1, note: "n".repeat(2_001) }, "note"]
      ]
      for (const [body, field] of refused) {
        const answer = await rate(place, body)
        const { error } = await answer.json()
        assert.deepStrictEqual([answer.status, error.param], [400, field], JSON.stringify(body).slice(0, 80))
        assert.isString(error.message)
      }
      assert.strictEqual((await rate(place, { score: 1, note: "n".repeat(70_000) })).status, 413)
      assert.strictEqual((await rate(`${url}/runs/nobody/rating`, { rating: "up" })).status, 404)
      const tools = [{ type: "function" as const, function: { name: "look" } }]
      const waiting = await client.chat.completions.create({ ...request, tools }).withResponse()
      const unanswered = `${url}/runs/${waiting.response.headers.get("x-divisi-run")}/rating`
      assert.strictEqual((await rate(unanswered, { rating: "up" })).status, 400)
      assert.isEmpty(kept)
    })
  })

  it("come from the key that the run belongs to", () => {
    const { kept, keepRating } = keeping()
    const options = {
      ...alone(worker("a", said("one"))),
      keepRating,
      authenticate: ({ authorization = "" }) => Effect.succeed({ owner: authorization })
    }
    return serving(options, async ({ client, url }) => {
      const { response } = await client.chat.completions.create(request).withResponse()
      const place = `${url}/runs/${response.headers.get("x-divisi-run")}/rating`
      assert.strictEqual((await rate(place, { rating: "up" }, "Bearer other")).status, 404)
      assert.isEmpty(kept)
      assert.strictEqual((await rate(place, { rating: "up" })).status, 200)
      assert.lengthOf(kept, 1)
    })
  })

  it("are not taken where nobody keeps them", () =>
    serving(alone(worker("a", said("one"))), async ({ client, url }) => {
      const { response } = await client.chat.completions.create(request).withResponse()
      const answer = await rate(`${url}/runs/${response.headers.get("x-divisi-run")}/rating`, { rating: "up" })
      assert.strictEqual(answer.status, 404)
      assert.include((await answer.json()).error.message, "keeps no ratings")
    }))
})

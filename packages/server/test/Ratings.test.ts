import type { Transcript } from "@divisi/core"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import * as Ratings from "../src/http/Ratings.ts"
import { serving } from "./serving.ts"
import { alone, asks, said, team, worker } from "./teams.ts"

const request = { model: "divisi", messages: [{ role: "user" as const, content: "Who?" }] }

/** A server that keeps ratings in a list. */
const keeping = () => {
  const kept: Array<readonly [Transcript.Transcript, Ratings.Rating]> = []
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
  it("of a run and of its steps are stored with the worker that answered", () => {
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

  it("of a run that an outage has cut short are taken of its answered steps alone", () => {
    const { kept, keepRating } = keeping()
    const workers = [
      worker("a", { fail: { _tag: "Overloaded" } }),
      worker("b", said("two")),
      worker("c", said("three"))
    ]
    const options = {
      ...team(...workers),
      keepRating,
      settings: { retry: { maxAttempts: 1 }, reassign: "never" as const }
    }
    return serving(options, async ({ client, url }) => {
      const { response } = await client.chat.completions.create(request).withResponse()
      const place = `${url}/runs/${response.headers.get("x-divisi-run")}/rating`
      const refused = await rate(place, { rating: "down" })
      const { error } = await refused.json()
      assert.deepStrictEqual([refused.status, error.param], [400, "step"])
      assert.match(error.message, /A worker failed in run .* only answered steps can be rated/)
      const step = await (await rate(place, { rating: "down", step: { round: 0, step: 1 } })).json()
      assert.deepInclude(step, { worker: "b", score: 0 })
      assert.lengthOf(kept, 1)
    })
  })

  it("are refused in the usual error format if they are empty, and are not stored", () => {
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

  it("need rights to count more than a user's, or to be of another key's run", () => {
    const { kept, keepRating } = keeping()
    const rights: Readonly<Record<string, ReadonlyArray<string>>> = {
      "Bearer grader": ["rate"],
      "Bearer admin": ["admin"],
      "Bearer both": ["rate", "admin"]
    }
    const options = {
      ...alone(worker("a", said("one"))),
      keepRating,
      authenticate: ({ authorization = "" }) => Effect.succeed({ owner: authorization, rights: rights[authorization] })
    }
    return serving(options, async ({ client, url }) => {
      const { response } = await client.chat.completions.create(request).withResponse()
      const place = `${url}/runs/${response.headers.get("x-divisi-run")}/rating`
      const status = async (source: string, who?: string) => (await rate(place, { score: 0, source }, who)).status
      assert.strictEqual(await status("grader"), 403)
      assert.strictEqual(await status("check"), 403)
      assert.include(
        await (await rate(place, { score: 0, source: "grader" })).text(),
        "needs an API key with the right"
      )
      assert.strictEqual(await status("grader", "Bearer grader"), 404, "another key's run")
      assert.strictEqual(await status("grader", "Bearer admin"), 403)
      assert.isEmpty(kept)
      assert.deepStrictEqual(
        await Promise.all(["user", "implicit", "judge"].map((source) => status(source))),
        [200, 200, 200]
      )
      assert.strictEqual(await status("user", "Bearer admin"), 200)
      assert.strictEqual(await status("grader", "Bearer both"), 200)
      assert.deepStrictEqual(
        kept.slice(-2).map(([, { rater }]) => rater),
        ["Bearer admin", "Bearer both"]
      )
    })
  })

  it("are taken a bounded number of times for each answer and key", () => {
    const { kept, keepRating } = keeping()
    const options = {
      ...team(worker("a", said("one")), worker("b", said("two")), worker("c", said("three"))),
      keepRating,
      authenticate: ({ authorization = "" }) => Effect.succeed({ owner: "me", rights: [authorization] })
    }
    return serving(options, async ({ client, url }) => {
      const { response } = await client.chat.completions.create(request).withResponse()
      const place = `${url}/runs/${response.headers.get("x-divisi-run")}/rating`
      const statuses: Array<number> = []
      for (let at = 0; at < 40; at += 1) statuses.push((await rate(place, { score: at / 40 })).status)
      assert.deepStrictEqual(
        statuses.filter((status) => status === 200).length,
        Ratings.mostPerAnswer,
        JSON.stringify(statuses)
      )
      assert.lengthOf(kept, Ratings.mostPerAnswer)
      assert.strictEqual(statuses.at(-1), 429)
      assert.strictEqual((await rate(place, { score: 0, step: { round: 0, step: 1 } })).status, 200)
    })
  })

  it("are not accepted if there is no store", () =>
    serving(alone(worker("a", said("one"))), async ({ client, url }) => {
      const { response } = await client.chat.completions.create(request).withResponse()
      const answer = await rate(`${url}/runs/${response.headers.get("x-divisi-run")}/rating`, { rating: "up" })
      assert.strictEqual(answer.status, 404)
      assert.include((await answer.json()).error.message, "does not store ratings")
    }))
})

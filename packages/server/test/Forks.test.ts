import { WorkflowText } from "@divisi/core"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { said, team, worker } from "./teams.ts"

const request = { model: "divisi", messages: [{ role: "user" as const, content: "Who?" }] }

const made = () => {
  const workers = [worker("a", said("one")), worker("b", said("two")), worker("c", said("three"), said("four"))]
  const calls = () => workers.map(({ calls }) => calls.length)
  const options = {
    ...team(...workers),
    authenticate: ({ authorization = "" }) =>
      Effect.succeed({ owner: authorization, ...(authorization === "Bearer admin" && { rights: ["admin"] }) })
  }
  return { calls, options, workers }
}

const post = async (place: string, body: unknown, authorization = "Bearer none") => {
  const response = await fetch(place, { method: "POST", headers: { authorization }, body: JSON.stringify(body) })
  return { status: response.status, run: response.headers.get("x-divisi-run"), body: await response.json() }
}

const get = async (place: string, authorization = "Bearer none") =>
  (await fetch(place, { headers: { authorization } })).json()

describe("POST /v1/runs/{id}/fork", () => {
  it("calls the step and what follows from it, in a new run of the key", () => {
    const { calls, options, workers } = made()
    return serving(options, async ({ client, url }) => {
      const { response } = await client.chat.completions.create(request).withResponse()
      const id = response.headers.get("x-divisi-run")
      assert.deepStrictEqual(calls(), [1, 1, 1])
      const forked = await post(`${url}/runs/${id}/fork`, { at: "0.1", answer: "second" })
      assert.strictEqual(forked.status, 200, JSON.stringify(forked.body))
      assert.strictEqual(forked.body.choices[0].message.content, "four")
      assert.strictEqual(forked.body.divisi.calls, 1)
      assert.deepStrictEqual(calls(), [1, 1, 2])
      assert.include(JSON.stringify(workers[2]!.calls[1]!.messages), "second")
      assert.notStrictEqual(forked.run, id)
      const { owner, transcript } = await get(`${url}/runs/${forked.run}`)
      assert.strictEqual(owner, "Bearer none")
      assert.deepStrictEqual(transcript.forkOf, { runId: id, round: 0, step: 1 })
      assert.strictEqual(transcript.spend.calls, 1)
      const { data } = await get(`${url}/runs`)
      assert.lengthOf(data, 2)
      const forks = Object.fromEntries(data.map((run: { id: string; fork_of?: string }) => [run.id, run.fork_of]))
      assert.deepStrictEqual(forks, { [id!]: undefined, [forked.run!]: id })
    })
  })

  it("changes the worker and the subtask of the step", () => {
    const { calls, options, workers } = made()
    return serving(options, async ({ client, url }) => {
      const { response } = await client.chat.completions.create(request).withResponse()
      const place = `${url}/runs/${response.headers.get("x-divisi-run")}/fork`
      const forked = await post(place, { at: "0.0", worker: "c", subtask: "look again" })
      assert.strictEqual(forked.status, 200, JSON.stringify(forked.body))
      assert.deepStrictEqual(calls(), [1, 1, 3])
      assert.include(JSON.stringify(workers[2]!.calls[1]!.messages), "look again")
    })
  })

  it("runs another plan", () => {
    const { calls, options } = made()
    return serving(options, async ({ client, url }) => {
      const { response } = await client.chat.completions.create(request).withResponse()
      const place = `${url}/runs/${response.headers.get("x-divisi-run")}/fork`
      const { transcript } = await get(place.slice(0, -5))
      const plan = WorkflowText.write({ steps: transcript.rounds[0].workflow.steps.slice(0, 2) })
      const shorter = await post(place, { at: "0.2", plan })
      assert.strictEqual(shorter.status, 200, JSON.stringify(shorter.body))
      assert.strictEqual(shorter.body.choices[0].message.content, "two")
      assert.deepStrictEqual(calls(), [1, 1, 1])
      const refused = await post(place, { at: "0.2", plan: plan.replace("[0", "[9"), background: true })
      assert.strictEqual(refused.status, 400)
      assert.match(refused.body.error.message, /Line 1, column 13: .*worker 9/)
    })
  })

  it("is refused for another key's run, and belongs to the key that asks", () => {
    const { calls, options } = made()
    return serving(options, async ({ client, url }) => {
      const { response } = await client.chat.completions.create(request).withResponse()
      const place = `${url}/runs/${response.headers.get("x-divisi-run")}/fork`
      const refused = await post(place, { at: "0.2" }, "Bearer other")
      assert.deepStrictEqual([refused.status, refused.body.error.param], [404, "id"])
      assert.deepStrictEqual(calls(), [1, 1, 1])
      assert.strictEqual((await post(`${url}/runs/unknown/fork`, { at: "0.2" })).status, 404)
      const forked = await post(place, { at: "0.2" }, "Bearer admin")
      assert.strictEqual(forked.status, 200, JSON.stringify(forked.body))
      const { owner } = await get(`${url}/runs/${forked.run}`, "Bearer admin")
      assert.strictEqual(owner, "Bearer admin")
      assert.lengthOf((await get(`${url}/runs`)).data, 1)
    })
  })

  it("refuses unknown fields by name, and places that do not exist", () => {
    const { calls, options } = made()
    return serving(options, async ({ client, url }) => {
      const { response } = await client.chat.completions.create(request).withResponse()
      const place = `${url}/runs/${response.headers.get("x-divisi-run")}/fork`
      const refused: ReadonlyArray<readonly [unknown, RegExp, string | null]> = [
        [{}, /at is missing/, "at"],
        [{ at: "7" }, /form round\.step/, "at"],
        [{ at: { round: 0, step: 1 } }, /at must be a string/, "at"],
        [{ at: "0.1", awnser: "x" }, /awnser is not a field of a fork. Did you mean answer\?/, "awnser"],
        [{ at: "0.1", stream: true }, /stream is not a field/, "stream"],
        [{ at: "0.1", answer: "\0" }, /without NUL/, "answer"],
        [{ at: "0.1", worker: "nope" }, /needs nope/, "worker"],
        [{ at: "0.7" }, /no step 7/, null],
        [{ at: "3.0" }, /no step 0 in round 3/, null]
      ]
      for (const [body, message, field] of refused) {
        const { body: answer, status } = await post(place, body)
        assert.deepStrictEqual([status, answer.error.param ?? null], [400, field], JSON.stringify([body, answer]))
        assert.match(answer.error.message, message)
      }
      assert.deepStrictEqual(calls(), [1, 1, 1])
    })
  })
})

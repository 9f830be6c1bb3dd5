/** Continuing and stopping runs by their ids: `/v1/runs/{id}/resume` and `/v1/runs/{id}/cancel`. */
import { Journal } from "@divisi/core"
import type { Worker, WorkerError, WorkerPart } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, asks, said, team, worker } from "./teams.ts"

const messages = [{ role: "user" as const, content: "Who?" }]

const byKey = {
  authenticate: ({ authorization = "" }: Readonly<Record<string, string | undefined>>) =>
    Effect.succeed({ owner: authorization, ...(authorization === "Bearer admin" && { rights: ["admin"] }) })
}

const post = async (place: string, body: unknown, authorization = "Bearer none") => {
  const response = await fetch(place, { method: "POST", headers: { authorization }, body: JSON.stringify(body) })
  return { status: response.status, run: response.headers.get("x-divisi-run"), body: await response.json() }
}

const get = async (place: string, authorization = "Bearer none") =>
  (await fetch(place, { headers: { authorization } })).json()

/** Reads a run until it has a state. */
const until = async (place: string, state: string, looks = 500): Promise<Awaited<ReturnType<typeof get>>> => {
  const run = await get(place)
  if (run.state === state || looks === 0) return run
  await new Promise((resolve) => setTimeout(resolve, 10))
  return until(place, state, looks - 1)
}

/** A worker that answers when the test allows it. */
const gated = (id: string) => {
  const open: Array<() => void> = []
  const begun: Array<() => void> = []
  const inner = worker(id, said("late"), said("again"))
  const gate = Effect.callback<void>((resume) => {
    open.push(() => resume(Effect.void))
    for (const one of begun.splice(0)) one()
  })
  const made: Worker = {
    ...inner,
    generate: (request) =>
      Stream.unwrap(Effect.map(gate, () => inner.generate(request) as Stream.Stream<WorkerPart, WorkerError>))
  }
  return { worker: made, inner, open, begun: new Promise<void>((resolve) => begun.push(resolve)) }
}

const plans = () => {
  const workers = [worker("a", said("one")), worker("b", said("two")), worker("c", said("three"))]
  const calls = () => workers.map(({ calls }) => calls.length)
  const options = { ...team(...workers), ...byKey, settings: { approvePlans: true } }
  return { options, calls }
}

const begin = async (url: string, more: object = {}) => {
  const { run } = await post(`${url}/chat/completions`, { model: "divisi", messages, temperature: 0.3, ...more })
  return `${url}/runs/${run}`
}

describe("POST /v1/runs/{id}/resume", () => {
  it("approves a plan, in the settings of the request that started the run", () => {
    const { calls, options } = plans()
    return serving(options, async ({ url }) => {
      const place = await begin(url)
      const waiting = await get(place)
      assert.strictEqual(waiting.state, "waiting")
      const [call] = waiting.transcript.rounds[0].waitingFor
      const resumed = await post(`${place}/resume`, { results: { [call.id]: { approved: true } } })
      assert.strictEqual(resumed.status, 200, JSON.stringify(resumed.body))
      assert.strictEqual(resumed.body.choices[0].message.content, "three")
      assert.deepStrictEqual(calls(), [1, 1, 1])
      assert.strictEqual((await get(place)).state, "answered")
      const again = await post(`${place}/resume`, {})
      assert.strictEqual(again.status, 400)
      assert.include(again.body.error.message, "has ended")
    })
  })

  it("refuses a plan with a reason, and takes the text of another one", () => {
    const { calls, options } = plans()
    return serving(options, async ({ url }) => {
      const refused = await begin(url)
      const answer = await post(`${refused}/resume`, { results: { "0.plan": { approved: false, reason: "too dear" } } })
      assert.include(answer.body.choices[0].message.refusal, "too dear")
      const edited = await begin(url, { temperature: 0.4 })
      const plan = 'model_id = [1]\nsubtasks = ["Answer."]\naccess_list = [[]]\n'
      const other = await post(`${edited}/resume`, { results: { "0.plan": plan } })
      assert.strictEqual(other.body.choices[0].message.content, "two", JSON.stringify(other.body))
      assert.deepStrictEqual(calls(), [0, 1, 0])
    })
  })

  it("gives the result of a client's tool without its definition", () => {
    const one = worker("a", asks(["refund", { order: 1 }], ["note", { text: "x" }]), said("done"))
    return serving({ ...alone(one), ...byKey }, async ({ url }) => {
      const tools = ["refund", "note"].map((name) => ({ type: "function", function: { name, parameters: {} } }))
      const place = await begin(url, { tools, max_tokens: 77 })
      const ids = (await get(place)).transcript.rounds[0].steps[0].waitingFor.map(({ id }: { id: string }) => id)
      const unknown = await post(`${place}/resume`, { results: { "9.9": "?" } })
      assert.strictEqual(unknown.status, 400)
      assert.include(unknown.body.error.message, ids[0])
      const half = await post(`${place}/resume`, { results: { [ids[0]]: "12 EUR" } })
      assert.strictEqual(half.body.choices[0].finish_reason, "tool_calls", JSON.stringify(half.body))
      const whole = await post(`${place}/resume`, { results: { [ids[1]]: { content: "no pen", is_error: true } } })
      assert.strictEqual(whole.body.choices[0].message.content, "done")
      assert.include(JSON.stringify(one.calls[1]!.messages), "12 EUR")
      assert.lengthOf(one.calls, 2)
    })
  })

  it("returns at once in the background, and the run ends without a client", () => {
    const { options } = plans()
    return serving({ ...options, graceMillis: 0 }, async ({ url }) => {
      const place = await begin(url)
      const { body } = await post(`${place}/resume`, { results: { "0.plan": { approved: true } }, background: true })
      assert.include(["run", "chat.completion"], body.object)
      assert.strictEqual((await until(place, "answered")).state, "answered")
    })
  })

  it("is for the owner, and refuses unknown fields and shapes by name", () => {
    const { calls, options } = plans()
    return serving(options, async ({ url }) => {
      const place = await begin(url)
      assert.strictEqual((await post(`${place}/resume`, {}, "Bearer other")).status, 404)
      assert.strictEqual((await post(`${place}/resume`, {}, "Bearer admin")).status, 403)
      for (const [body, words] of [
        [{ result: {} }, "Did you mean results?"],
        [{ results: { "0.plan": { approve: true } } }, "is not a field"],
        [{ results: { "0.plan": { approved: "perhaps" } } }, "true or false"],
        [{ results: { "0.plan": 4 } }, "must be an object"],
        [{ results: [] }, "must be an object"],
        [{ background: "later" }, "true or false"]
      ] as const) {
        const { body: answer, status } = await post(`${place}/resume`, body)
        assert.deepStrictEqual([status, answer.error.message.includes(words)], [400, true], answer.error.message)
      }
      assert.deepStrictEqual(calls(), [0, 0, 0])
    })
  })
})

describe("POST /v1/runs/{id}/cancel", () => {
  it("stops a run, which can be resumed without paying twice", () => {
    const first = worker("a", said("one"))
    const slow = gated("b")
    const journal = Journal.makeMemory()
    const options = { ...team(first, worker("c", said("two")), slow.worker), ...byKey, journal }
    return serving(options, async ({ url }) => {
      const asked = post(`${url}/chat/completions`, { model: "divisi", messages })
      await slow.begun
      const [{ id }] = (await get(`${url}/runs`)).data
      const place = `${url}/runs/${id}`
      assert.strictEqual((await post(`${place}/cancel`, {}, "Bearer other")).status, 404)
      const { body, status } = await post(`${place}/cancel`, {})
      assert.deepStrictEqual([status, body.state], [200, "stopped"])
      assert.strictEqual((await asked).status, 503)
      const resumed = post(`${place}/resume`, {})
      while (slow.open.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
      slow.open.at(-1)!()
      const answer = await resumed
      assert.strictEqual(answer.body.choices?.[0].message.content, "late", JSON.stringify(answer.body))
      assert.lengthOf(first.calls, 1)
    })
  })

  it("ends a suspended run, for its owner and for an admin", () => {
    const { options } = plans()
    return serving(options, async ({ url }) => {
      const one = await begin(url)
      assert.strictEqual((await post(`${one}/cancel`, {})).body.state, "interrupted")
      const other = await begin(url, { temperature: 0.5 })
      assert.strictEqual((await post(`${other}/cancel`, {}, "Bearer admin")).body.state, "interrupted")
      assert.include((await get(other)).transcript.detail, "cancelled")
      assert.strictEqual((await post(`${other}/cancel`, {})).body.state, "interrupted")
    })
  })
})

describe("POST /v1/runs/{id}/fork", () => {
  it("returns at once in the background, and reports a wrong step as before", () => {
    const workers = [worker("a", said("one")), worker("b", said("two")), worker("c", said("three"), said("four"))]
    return serving(
      { ...team(...workers), ...byKey, journal: Journal.makeMemory(), graceMillis: 0 },
      async ({ url }) => {
        const place = await begin(url)
        const wrong = await post(`${place}/fork`, { at: "0.7", background: true })
        assert.strictEqual(wrong.status, 400)
        const { run, status } = await post(`${place}/fork`, { at: "0.1", answer: "second", background: true })
        assert.strictEqual(status, 200)
        const forked = await until(`${url}/runs/${run}`, "answered")
        assert.strictEqual(forked.transcript.answer, "four")
        const unknown = await post(`${place}/fork`, { at: "0.1", policy: "none" })
        assert.strictEqual(unknown.status, 400)
        assert.include(unknown.body.error.message, "Policy")
      }
    )
  })
})

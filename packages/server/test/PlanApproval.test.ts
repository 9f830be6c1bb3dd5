import { rounded } from "@divisi/core/Usage"
import * as Effect from "effect/Effect"
import type OpenAI from "openai"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { said, team, worker } from "./teams.ts"

const model = "divisi"
const question: OpenAI.ChatCompletionMessageParam = { role: "user", content: "Who?" }

const made = () => {
  const workers = [worker("a", said("one")), worker("b", said("two")), worker("c", said("three"))]
  const options = { ...team(...workers), settings: { approvePlans: true, tools: [] } }
  return { options, calls: () => workers.map(({ calls }) => calls.length) }
}

/** Asks, and returns the plan that waits, with what sends a decision. */
const proposed = async (client: OpenAI) => {
  const { data, response } = await client.chat.completions.create({ model, messages: [question] }).withResponse()
  const { finish_reason, message } = data.choices[0]!
  assert.strictEqual(finish_reason, "tool_calls")
  const [call, ...others] = message.tool_calls ?? []
  assert.isEmpty(others)
  if (call?.type !== "function") return assert.fail("no function is called")
  const decide = (content: string) =>
    client.chat.completions
      .create({ model, messages: [question, message, { role: "tool", tool_call_id: call.id, content }] })
      .withResponse()
  return { call: call.function, run: response.headers.get("x-divisi-run"), decide }
}

describe("a plan that waits for approval, over Chat Completions", () => {
  it("is a tool call with its text and price, and its result continues the run", () => {
    const { calls, options } = made()
    return serving(options, async ({ client }) => {
      const { call, decide, run } = await proposed(client)
      assert.strictEqual(call.name, "plan")
      const { plan, price } = JSON.parse(call.arguments)
      assert.include(plan, "model_id = [0, 1, 2]")
      assert.strictEqual(price.least.calls, 3)
      assert.deepStrictEqual(calls(), [0, 0, 0])
      const { data, response } = await decide('{"approved": true}')
      assert.strictEqual(data.choices[0]?.message.content, "three")
      assert.strictEqual(response.headers.get("x-divisi-run"), run)
      assert.deepStrictEqual(calls(), [1, 1, 1])
    })
  })

  it("is replaced by the plan in the result", () => {
    const { calls, options } = made()
    return serving(options, async ({ client }) => {
      const { decide } = await proposed(client)
      const { data } = await decide('model_id = [1]\nsubtasks = ["Answer."]\naccess_list = [[]]\n')
      assert.strictEqual(data.choices[0]?.message.content, "two")
      assert.deepStrictEqual(calls(), [0, 1, 0])
    })
  })

  it("has the price of another plan, without a call", () => {
    const { calls, options } = made()
    const authenticate = ({ authorization = "" }) => Effect.succeed({ owner: authorization })
    return serving({ ...options, authenticate }, async ({ client, url }) => {
      const { call, run } = await proposed(client)
      const { plan, price } = JSON.parse(call.arguments)
      const priceOf = async (body: unknown, authorization = "Bearer none") => {
        const init = { method: "POST", headers: { authorization }, body: JSON.stringify(body) }
        const response = await fetch(`${url}/runs/${run}/price`, init)
        return { status: response.status, body: await response.json() }
      }
      const same = await priceOf({ plan })
      assert.strictEqual(same.status, 200, JSON.stringify(same.body))
      for (const name of ["least", "likely", "most"] as const) {
        const { calls, costUsd, tokens } = price[name]
        const cost_usd = costUsd === undefined ? null : rounded(costUsd)
        assert.deepStrictEqual(same.body[name], { calls, tokens, cost_usd }, name)
      }
      const single = 'model_id = [1]\nsubtasks = ["Answer."]\naccess_list = [[]]\n'
      assert.strictEqual((await priceOf({ plan: single, round: 0 })).body.least.calls, 1)
      const refused = await priceOf({ plan: single.replace("[1]", "[9]") })
      assert.strictEqual(refused.status, 400)
      assert.match(refused.body.error.message, /Line 1, column \d+: .*worker 9/)
      const many = (items: string) => `[${Array.from({ length: 201 }, () => items).join(", ")}]`
      const long = `model_id = ${many("1")}\nsubtasks = ${many('"x"')}\naccess_list = ${many("[]")}\n`
      assert.strictEqual((await priceOf({ plan: long })).status, 400)
      for (const body of [{}, { plan: 1 }, { plan: single, round: -1 }, { plan: single, rounds: 0 }])
        assert.strictEqual((await priceOf(body)).status, 400, JSON.stringify(body))
      assert.strictEqual((await priceOf({ plan: single }, "Bearer other")).status, 404)
      assert.deepStrictEqual(calls(), [0, 0, 0])
    })
  })

  it("has the price of a fork, which does not include the steps that keep their answers", () => {
    const { calls, options } = made()
    return serving(options, async ({ client, url }) => {
      const { call, decide, run } = await proposed(client)
      const { plan } = JSON.parse(call.arguments)
      await decide('{"approved": true}')
      const priceOf = async (body: unknown) => {
        const response = await fetch(`${url}/runs/${run}/price`, { method: "POST", body: JSON.stringify(body) })
        return { status: response.status, body: await response.json() }
      }
      const least = async (body: unknown) => (await priceOf(body)).body.least?.calls
      assert.deepStrictEqual(await Promise.all([{ plan }, { at: "0.0" }, { at: "0.2" }].map(least)), [3, 2, 1])
      assert.isNumber((await priceOf({ at: "0.2" })).body.most.cost_usd)
      assert.strictEqual(await least({ at: "0.2", answer: "Given." }), 0)
      assert.strictEqual(await least({ at: "0.2", worker: "b" }), 1)
      assert.strictEqual(await least({ at: "0.2", plan }), 1)
      const wrong = [{ at: "0.9" }, { at: "9.0" }, { at: "x" }, { at: "0.0", worker: "nine" }, { at: "0.0", round: 0 }]
      for (const body of [...wrong, { at: "0.0", plan: "no plan" }, { at: "0.0", subtask: 1 }])
        assert.strictEqual((await priceOf(body)).status, 400, JSON.stringify(body))
      assert.deepStrictEqual(calls(), [1, 1, 1])
    })
  })

  it("is decided once: equal decisions get one answer, others are refused", () => {
    const { calls, options } = made()
    const edited = (worker: number) => `model_id = [${worker}]\nsubtasks = ["Answer."]\naccess_list = [[]]\n`
    return serving(options, async ({ client, url }) => {
      const { run } = await proposed(client)
      const outcomeOf = async (given: unknown) => {
        const body = JSON.stringify({ results: { "0.plan": given } })
        const response = await fetch(`${url}/runs/${run}/resume`, { method: "POST", body })
        const { choices } = await response.json()
        return response.ok ? choices[0].message.content : response.status
      }
      const given = [edited(1), edited(1), edited(2), edited(1), { approved: true }, { approved: false }]
      assert.deepStrictEqual(await Promise.all(given.map(outcomeOf)), ["two", "two", 400, "two", 400, 400])
      assert.deepStrictEqual(await Promise.all([edited(2), edited(1)].map(outcomeOf)), [400, "two"])
      assert.deepStrictEqual(calls(), [0, 1, 0])
    })
  })

  it("ends the run without a call if it is refused", () => {
    const { calls, options } = made()
    return serving(options, async ({ client, url }) => {
      const { decide, run } = await proposed(client)
      const { data } = await decide('{"approved": false, "reason": "too expensive"}')
      assert.include(data.choices[0]?.message.refusal, "too expensive")
      const { state } = await (await fetch(`${url}/runs/${run}`)).json()
      assert.strictEqual(state, "refused")
      assert.deepStrictEqual(calls(), [0, 0, 0])
    })
  })
})

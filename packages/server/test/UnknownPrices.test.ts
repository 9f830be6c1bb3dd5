/** Workers without a known price: in lists of runs, and under a cost limit, which only the operator can make work. */
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import { assert, describe, it } from "vitest"
import type * as RequestLog from "../src/RequestLog.ts"
import { serving } from "./serving.ts"
import { alone, asks, said, worker } from "./teams.ts"

const tool = { type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }

const chat = async (url: string, headers: Readonly<Record<string, string>> = {}) => {
  const body = { model: "divisi", messages: [{ role: "user", content: "Who?" }], tools: [tool] }
  const response = await fetch(`${url}/chat/completions`, { method: "POST", headers, body: JSON.stringify(body) })
  return { status: response.status, body: await response.json() }
}

const unpriced = (reply: ScriptedWorker.Reply) => ({
  ...ScriptedWorker.make({ id: "a", replies: [reply] }),
  pricing: undefined,
  capabilities: { tools: true }
})

describe("a worker without a known price", () => {
  it("is marked in the list of runs, and a run with known prices is not", async () => {
    for (const [one, isUnpriced] of [
      [unpriced(asks(["look", {}])), true],
      [worker("a", asks(["look", {}])), undefined]
    ] as const) {
      await serving(alone(one), async ({ url }) => {
        await chat(url)
        const { data } = await (await fetch(`${url}/runs`)).json()
        assert.strictEqual(data[0].is_unpriced, isUnpriced)
      })
    }
  })

  it("under a cost limit is an error that only the operator can fix, and the log has the flag", async () => {
    const log: Array<RequestLog.Entry> = []
    const options = {
      ...alone(unpriced(said("Fine."))),
      log: (entry: RequestLog.Entry) => void log.push(entry)
    }
    await serving(options, async ({ url }) => {
      const { body, status } = await chat(url, { "x-divisi-max-cost": "1" })
      assert.strictEqual(status, 502)
      assert.include(body.error.message, "this server does not know the price of a. Your own key and account are not")
      assert.notMatch(body.error.message, /pricing|--price/)
      assert.include(log[0]?.providerMessage, "--price a=")
    })
  })
})

describe("costs in dollars", () => {
  it("are printed without the noise of floating-point sums", () => {
    const one = worker("a", said("Fine."))
    const pricing = { inputPerMillion: 0.1, outputPerMillion: 0.9 }
    return serving(alone({ ...one, pricing }), async ({ url }) => {
      const { body } = await chat(url)
      // 7 input tokens and 3 output tokens: 0.0000034000000000000005 as a sum.
      assert.strictEqual(body.usage.cost_usd, 0.0000034)
    })
  })
})

describe("a number that cannot be read", () => {
  it("is quoted in the error, with the range in words", () =>
    serving(alone(worker("a", said("Fine."))), async ({ url }) => {
      const wrong = async (headers: Readonly<Record<string, string>>) => (await chat(url, headers)).body.error.message
      for (const value of ["abc", "0.05usd", ""]) {
        assert.strictEqual(
          await wrong({ "x-divisi-max-cost": value }),
          `x-divisi-max-cost must be a number of at least 0, not ${JSON.stringify(value)}.`
        )
      }
      const body = JSON.stringify({ model: "divisi", max_tokens: "abc", messages: [{ role: "user", content: "Who?" }] })
      const { error } = await (await fetch(`${url}/chat/completions`, { method: "POST", body })).json()
      assert.strictEqual(error.message, 'max_tokens must be a number of at least 0, not "abc".')
    }))
})

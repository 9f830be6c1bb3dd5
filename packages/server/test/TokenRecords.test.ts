/** Trainers ask for the tokens of the policy's completions (`return_token_ids`). */
import { LanguagePolicy } from "@divisi/core"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { said, usage, worker } from "./teams.ts"

const plan = "model_id = [0]\nsubtasks = ['answer']\naccess_list = [[]]"

const tokens = { prompt: [1, 2, 3], tokens: [4, 5], logProbs: [-0.5, -0.25], reason: "stop" }

/** A policy whose model reports these tokens. */
const served = (echo: unknown) => ({
  pool: WorkerPool.makeUnsafe([worker("a", said("42"))]),
  policy: LanguagePolicy.make({
    model: ScriptedWorker.make({
      id: "planner",
      replies: [
        {
          parts: [
            { type: "text", text: plan },
            { type: "finish", reason: "stop", usage, ...(echo === undefined ? {} : { echo }) }
          ]
        }
      ]
    })
  })
})

const ask = (url: string, more: object) =>
  fetch(`${url}/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "divisi", messages: [{ role: "user", content: "6 times 7?" }], ...more })
  }).then(async (response) => ({ status: response.status, body: JSON.parse(await response.text()) }))

const fields = { prompt_token_ids: [1, 2, 3], generation_token_ids: [4, 5], generation_log_probs: [-0.5, -0.25] }

describe("the tokens of the policy's completions", () => {
  it("are in the response if the request asks for them", () =>
    serving(served(tokens), async ({ url }) => {
      const { body, status } = await ask(url, { return_token_ids: true })
      assert.strictEqual(status, 200, JSON.stringify(body))
      const [choice] = body.choices
      assert.strictEqual(choice.message.content, "42")
      assert.deepInclude(choice.message, fields)
      assert.deepStrictEqual(body.divisi.completions, [{ round: 0, attempt: 0, ...fields }])
    }))

  it("are not in the response by default", () =>
    serving(served(tokens), async ({ url }) => {
      const { body } = await ask(url, {})
      assert.notProperty(body.divisi, "completions")
      assert.notProperty(body.choices[0].message, "generation_token_ids")
    }))

  it.each([
    ["no tokens", undefined],
    ["tokens and probabilities of other lengths", { ...tokens, logProbs: [-0.5] }],
    ["tokens that are not whole numbers", { ...tokens, tokens: [4.5, 5] }]
  ])("are left out with a notice if the model reports %s", (_, echo) =>
    serving(served(echo), async ({ url }) => {
      const { body } = await ask(url, { return_token_ids: true })
      assert.notProperty(body.divisi, "completions")
      assert.include(body.divisi.notices.join(), "return_token_ids")
    })
  )

  it("are refused for a value that is neither true nor false", () =>
    serving(served(tokens), async ({ url }) => {
      const { body, status } = await ask(url, { return_token_ids: "some" })
      assert.strictEqual(status, 400)
      assert.strictEqual(body.error.param, "return_token_ids")
    }))
})

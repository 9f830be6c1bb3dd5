/** Messages name the fields of the client's request, not the settings of a run. */
import { BudgetExceeded } from "@divisi/core/Usage"
import { assert, describe, it } from "vitest"
import * as Failure from "../src/segment/Failure.ts"
import * as FieldNames from "../src/wire/FieldNames.ts"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

const post = (url: string, path: string, body: object) =>
  fetch(url.replace(/\/v1$/, path), { method: "POST", body: JSON.stringify({ model: "divisi", ...body }) })

const messages = [{ role: "user", content: "Hi" }]
const tool = { name: "weather", parameters: { type: "object" } }
const requests = {
  "/v1/chat/completions": { messages, tools: [{ type: "function", function: tool }] },
  "/v1/responses": { input: "Hi", tools: [{ type: "function", ...tool }] },
  "/v1/messages": { messages, max_tokens: 50, tools: [{ name: "weather", input_schema: { type: "object" } }] }
}

describe("messages name the client's fields", () => {
  it.each(Object.entries(requests))("tool_choice on %s", (path, body) =>
    serving(alone(worker("a", said("Fine."))), async ({ url }) => {
      const response = await post(url, path, { ...body, tool_choice: { type: "function", name: "nope" } })
      const text = await response.text()
      assert.strictEqual(response.status, 400, text)
      assert.include(text, "tool_choice names")
      assert.notInclude(text, "toolChoice")
      if (path !== "/v1/messages") assert.strictEqual(JSON.parse(text).error.param, "tool_choice")
    })
  )

  it("names the field of a legacy function choice", () =>
    serving(alone(worker("a", said("Fine."))), async ({ url }) => {
      const body = { messages, functions: [tool], function_call: { name: "nope" } }
      const text = await (await post(url, "/v1/chat/completions", body)).text()
      assert.include(text, "function_call names")
    }))

  it.each([
    [{}, "max_tokens"],
    [{ max_tokens: 9 }, "max_tokens"],
    [{ max_completion_tokens: 9, max_tokens: 9 }, "max_completion_tokens"],
    [{ max_output_tokens: 9 }, "max_output_tokens"]
  ])("names the output limit of %j", (body, field) => {
    const error = new BudgetExceeded({ limit: "tokens", allowed: 100, spent: 0, needed: 101 })
    const result = { detail: error.message, ending: "budget", error, runId: "r" } as never
    const { message } = Failure.of(result, FieldNames.of(body, "max_tokens", "stop"))
    assert.include(message, `or lower ${field}.`)
  })

  it("keeps the names of settings of a plan", () => {
    const names = FieldNames.of({}, "max_tokens", "stop")
    const text = "lower settings.maxOutputTokens of the step"
    assert.strictEqual(FieldNames.inMessage(text, names), text)
  })
})

import { Policy } from "@divisi/core"
import type { Worker } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, usage } from "./teams.ts"

const count = 2_500

/** A worker that lists many items, and answers each. */
const mapper: Worker = {
  id: "m",
  capabilities: { jsonSchema: true },
  generate: ({ output }) => {
    const list = Array.from({ length: count }, (_, index) => `item ${index}`)
    const text = output?.type === "json-schema" ? JSON.stringify(list) : "fine"
    return Effect.succeed([
      { type: "text", text },
      { type: "finish", reason: "stop", usage }
    ])
  }
}

const options = {
  ...alone(mapper),
  settings: { maxItems: count },
  policy: Policy.fixed("map", () => ({
    steps: [
      { worker: 0, subtask: "List.", access: [], gives: { list: count } },
      { worker: 0, subtask: "Check {item}.", access: [], each: 0 },
      { worker: 0, subtask: "Sum up.", access: [1] }
    ]
  }))
}

const items = (path: string) => `${path}/items?round=0&step=1`

describe("the items of a run", () => {
  it("are shown to a bound, and listed in pages", { timeout: 60_000 }, () =>
    serving(options, async ({ client, url }) => {
      const request = { model: "divisi", messages: [{ role: "user" as const, content: "Check all." }] }
      const { response } = await client.chat.completions.create(request).withResponse()
      const run = `${url}/runs/${response.headers.get("x-divisi-run")}`
      const whole = await (await fetch(run)).json()
      assert.lengthOf(whole.transcript.rounds[0].steps[1].items, 100)
      const [more] = whole.more_items
      assert.deepStrictEqual(more, { run: whole.id, round: 0, step: 1, shown: 100, total: count })
      const seen: Array<string> = []
      for (let after = ""; ; ) {
        const page = await (await fetch(`${items(run)}&limit=1000${after}`)).json()
        assert.isAtMost(page.data.length, 100)
        seen.push(...page.data.map(({ item }: { readonly item: string }) => item))
        if (!page.has_more) break
        after = `&after=${page.last_id}`
      }
      assert.deepStrictEqual(
        seen,
        Array.from({ length: count }, (_, index) => `${index}`)
      )
      const wrong = {
        "round=0&step=0": /no items/,
        "round=0&step=9": /no items/,
        "round=x&step=1": /round must be/,
        "round=0": /step must be/,
        "round=0&step=1&limit=-1": /limit must be/,
        "round=0&step=1&after=1.5": /name of an item/,
        "round=0&step=1&run=other": /no nested run/
      }
      for (const [query, message] of Object.entries(wrong)) {
        const answer = await fetch(`${run}/items?${query}`)
        assert.strictEqual(answer.status, 400, query)
        assert.match((await answer.json()).error.message, message, query)
      }
    })
  )
})

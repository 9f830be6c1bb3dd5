/** Answers that a limit cut short: each wire reports them as cut off, streamed or whole. */
import * as Policy from "@divisi/core/Policy"
import { assert, describe, it } from "vitest"
import type * as NodeServer from "../src/NodeServer.ts"
import { serving } from "./serving.ts"
import { alone, said, team, worker } from "./teams.ts"

const question = [{ role: "user" as const, content: "Why?" }]

const servers: Readonly<Record<string, () => NodeServer.Options>> = {
  "of a last step that the budget keeps": () => ({
    ...team(worker("a", said("one")), worker("b", said("two")), worker("c", said("half an answer"))),
    settings: { budget: { calls: 2, keep: "answer" } }
  }),
  "of a worker that was to answer again": () => ({
    ...alone(worker("a", said("half an answer"))),
    policy: Policy.fixed("checked", () => ({
      steps: [{ worker: 0, subtask: "", access: [], check: { by: "never", onFailure: "again" } }]
    })),
    settings: { budget: { calls: 1 }, checks: { never: () => false } }
  })
}

/** The reasons that a body or an event stream contains, by the field that holds them. */
const reasonsIn = (text: string) =>
  [...text.matchAll(/"(finish_reason|stop_reason|status|reason)": ?"(\w+)"/g)].map(([, field, reason]) => [
    field,
    reason
  ])

const wires = {
  "chat/completions": [{ messages: question }, ["finish_reason", "length"]],
  messages: [{ messages: question, max_tokens: 99 }, ["stop_reason", "max_tokens"]],
  responses: [{ input: "Why?" }, ["status", "incomplete"]]
} as const

describe.each(Object.entries(servers))("a partial answer %s", (_, options) => {
  it.each(
    Object.entries(wires).flatMap(([path, [body, reason]]) =>
      [false, true].map((stream) => [path, stream, body, reason] as const)
    )
  )("is reported as cut off by %s, streamed: %s", (path, stream, body, reason) =>
    serving(options(), async ({ url }) => {
      const response = await fetch(`${url}/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "divisi", stream, ...body })
      })
      const text = await response.text()
      assert.strictEqual(response.status, 200, text)
      assert.include(text, "half an answer")
      assert.deepInclude(reasonsIn(text), [...reason])
    })
  )
})

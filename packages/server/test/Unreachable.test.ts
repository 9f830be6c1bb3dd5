import { Journal } from "@divisi/core"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, asks, said, worker } from "./teams.ts"

/** A journal whose database may be away. */
const leaving = () => {
  let isAway = false
  const whole = Journal.makeMemory()
  const reach = <A>(effect: Effect.Effect<A, Journal.JournalError>) =>
    Effect.suspend(() =>
      isAway
        ? Effect.fail(
            new Journal.JournalError({ journal: "postgres://inside/", reason: { _tag: "Unreachable", detail: "gone" } })
          )
        : effect
    )
  const journal: Journal.Journal = {
    ...whole,
    claim: (run) => reach(whole.claim(run)),
    append: (batch) => reach(whole.append(batch)),
    read: (run, from) => reach(whole.read(run, from)),
    find: (run) => reach(whole.find(run)),
    list: (query) => reach(whole.list(query))
  }
  return {
    journal,
    isReady: Effect.sync(() => !isAway),
    set: (away: boolean) => {
      isAway = away
    }
  }
}

const tools = [{ type: "function", function: { name: "look" } }]
const question = { role: "user", content: "Where?" }

describe("a server with an unreachable database", () => {
  it("returns 503 with a retry time, restarts no run, and resumes once it is reachable", async () => {
    const { set, ...options } = leaving()
    const a = worker("a", asks(["look", {}]), said("left"), said("another"))
    await serving({ ...alone(a), ...options }, async ({ url }) => {
      const post = (messages: ReadonlyArray<object>) =>
        fetch(`${url}/chat/completions`, { method: "POST", body: JSON.stringify({ model: "divisi", messages, tools }) })
      const ready = async () => (await fetch(url.replace(/v1$/, "health/ready"))).status
      const first = (await (await post([question])).json()).choices[0].message
      const result = { role: "tool", tool_call_id: first.tool_calls[0].id, content: "left" }
      assert.strictEqual(await ready(), 200)
      set(true)
      assert.strictEqual(await ready(), 503)
      for (const messages of [[question, first, result], [{ role: "user", content: "Else?" }]]) {
        const refused = await post(messages)
        assert.strictEqual(refused.status, 503)
        assert.strictEqual(refused.headers.get("retry-after"), "5")
        const { error } = await refused.json()
        assert.match(error.message, /is unreachable\. Retry the request/)
        assert.notInclude(error.message, "inside")
      }
      assert.strictEqual((await fetch(`${url}/runs`)).status, 503)
      assert.lengthOf(a.calls, 1)
      set(false)
      assert.strictEqual(await ready(), 200)
      const answer = await (await post([question, first, result])).json()
      assert.strictEqual(answer.choices[0].message.content, "left")
      assert.lengthOf(a.calls, 2)
    })
  })
})

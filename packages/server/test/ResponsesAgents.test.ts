/** Items with the agent that each is by, for clients of OpenAI's beta of responses by several agents. */
import { assert, describe, it } from "vitest"
import { ask, streamed, three, weather } from "./responses.ts"
import { serving } from "./serving.ts"
import { asks, said, team, worker } from "./teams.ts"

const betas: Array<"responses_multi_agent=v1"> = ["responses_multi_agent=v1"]

/** The type of each item, and who it is by. */
const agentsOf = (output: ReadonlyArray<{ readonly type: string }>) =>
  output.map((item) => [item.type, "agent" in item ? (item.agent as { agent_name: string }).agent_name : undefined])

describe("the items of a response", () => {
  it("say who they are by where the beta is asked for, in a body as in a stream", () =>
    serving(three(), async ({ client, url }) => {
      const expected = [
        ["reasoning", "divisi"],
        ["message", "c"]
      ]
      const { output } = await client.beta.responses.create({ ...ask("How much?"), betas })
      assert.deepStrictEqual(agentsOf(output), expected)
      const { events } = await streamed(url, { ...ask("How much?"), multi_agent: { enabled: true } })
      for (const type of ["response.output_item.added", "response.output_item.done"]) {
        const items = events.flatMap((event) => (event.type === type && "item" in event ? [event.item] : []))
        assert.deepStrictEqual(agentsOf(items), expected, type)
      }
    }))

  it("say it of commentary and of calls of tools, too", () => {
    const c = worker("c", asks(["weather", { city: "Oslo" }]), said("rain"))
    return serving(team(worker("a", said("one")), worker("b", said("two")), c), async ({ client }) => {
      const { output } = await client.beta.responses.create(
        { ...ask("How is it?"), tools: [weather], betas },
        { headers: { "x-divisi-notes-as": "commentary" } }
      )
      const [plan, one, other, call] = agentsOf(output)
      assert.deepStrictEqual(
        [plan, call],
        [
          ["message", "divisi"],
          ["function_call", "c"]
        ]
      )
      // Two that work at once may end in either order.
      assert.sameDeepMembers(
        [one, other],
        [
          ["message", "a"],
          ["message", "b"]
        ]
      )
    })
  })

  it("name the worker whose answer was accepted if it is known only at the end", () => {
    const { pool } = three()
    const { policy } = team(...pool.workers)
    return serving({ pool, policy, settings: { recursion: 1 } }, async ({ client }) => {
      const { output } = await client.beta.responses.create({ ...ask("How much?"), betas })
      assert.deepStrictEqual(agentsOf(output).at(-1), ["message", "c"])
    })
  })

  it("say nothing of it to others", () =>
    serving(three(), async ({ client }) => {
      const { output } = await client.responses.create(ask("How much?"))
      assert.deepStrictEqual(agentsOf(output), [
        ["reasoning", undefined],
        ["message", undefined]
      ])
    }))
})

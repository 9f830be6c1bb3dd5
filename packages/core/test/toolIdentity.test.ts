/** A run in a journal is resumed with another list of tools. */
import { assert, describe, it } from "vitest"
import { conduct, languagePolicy, memoryJournal, resume, single, type Tool, tool, worker } from "../src/promise.ts"

const input = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } } as const
const reordered = { properties: { b: { type: "number" }, a: { type: "number" } }, type: "object" } as const

const asked: Array<string> = []

/** A worker that asks for the tool `pay`, and answers with its result. */
const clerk = worker({
  id: "clerk",
  capabilities: { tools: true },
  answer: ({ messages, tools = [] }) => {
    const last = messages.at(-1)
    asked.push(tools.map(({ name }) => name).join(" "))
    return last?.role === "tool" ? `paid: ${last.content}` : { toolCalls: [{ name: "pay", arguments: { a: 1 } }] }
  }
})

const pay = tool({ name: "pay", description: "Pays.", input, needsApproval: true, execute: () => "done" })
const clock = tool({ name: "clock", description: "The time.", input, execute: () => "noon" })
const weather = tool({ name: "weather", description: "The weather.", input, execute: () => "sunny" })

const suspended = async (tools: ReadonlyArray<Tool>) => {
  const journal = memoryJournal()
  const options = { pool: [clerk], policy: single(0), journal, runId: "r" }
  const first = await conduct({ ...options, tools, question: "Pay it." })
  assert.strictEqual(first.ending, "suspended")
  return { options, results: { [first.waitingFor[0]!.id]: { approved: true } } }
}

describe("the list of tools of a run that is resumed", () => {
  const described = tool({ name: "clock", description: "Another text.", input: reordered, execute: () => "noon" })
  const lists: ReadonlyArray<readonly [string, ReadonlyArray<Tool>]> = [
    ["has one more", [pay, clock, weather]],
    ["has one less", [pay]],
    ["is in another order", [clock, pay]],
    ["describes another tool otherwise", [pay, described]],
    ["describes the pending tool otherwise", [{ ...pay, description: "Pays now.", input: reordered }, clock]]
  ]
  for (const [what, tools] of lists) {
    it(what, async () => {
      const { options, results } = await suspended([pay, clock])
      asked.length = 0
      const second = await resume({ ...options, tools, results })
      assert.strictEqual(second.answer, "paid: done", second.detail)
      assert.deepStrictEqual(asked, [tools.map(({ name }) => name).join(" ")])
    })
  }

  it("has not the tool that the run waits for: it stops before it asks, and continues once the tool is there", async () => {
    for (const tools of [[clock], []]) {
      const { options, results } = await suspended([pay, clock])
      asked.length = 0
      const stopped = await resume({ ...options, tools, results })
      assert.strictEqual(stopped.ending, "failed")
      assert.match(stopped.detail ?? "", /asked for the tool "pay", which is no longer among the tools of the run/)
      assert.deepStrictEqual(asked, [])
      assert.strictEqual((await resume({ ...options, tools: [pay], results })).answer, "paid: done")
    }
  })

  it("has another schema, which the arguments do not fit: the worker is shown why, and the tool does not run", async () => {
    const { options, results } = await suspended([pay])
    const strict = { type: "object", properties: { euros: { type: "number" } }, required: ["euros"] } as const
    const other = tool({ name: "pay", input: strict, execute: () => assert.fail("it ran") })
    const { answer } = await resume({ ...options, tools: [other], results })
    assert.match(answer ?? "", /arguments do not match the tool's schema/)
  })

  it("leaves the question of a policy that is a model as it was", async () => {
    const journal = memoryJournal()
    const prompts: Array<string> = []
    const model = worker({
      id: "planner",
      answer: ({ messages }) => {
        prompts.push(JSON.stringify(messages))
        return 'model_id = [0]\nsubtasks = ["Pay."]\naccess_list = [[]]'
      }
    })
    const policy = languagePolicy({ model })
    for (const before of [[pay, clock], [pay]]) {
      const options = { pool: [clerk], policy, journal, runId: before.map(({ name }) => name).join("-") }
      const first = await conduct({ ...options, tools: before, question: "Pay it." })
      const results = { [first.waitingFor[0]!.id]: { approved: true } }
      const second = await resume({ ...options, tools: [weather, pay], results })
      assert.strictEqual(second.answer, "paid: done", second.detail)
    }
    assert.match(prompts[0]!, /pay, clock/)
    assert.strictEqual(prompts.length, 2)
  })

  it("does not excuse another question of a worker", async () => {
    const { options, results } = await suspended([pay])
    const other = await resume({ ...options, tools: [pay, clock], results, worker: { temperature: 0.5 } })
    assert.match(other.detail ?? "", /sends clerk a different request than before/)
  })
})

import { Journal } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { assert, describe, it } from "vitest"
import * as Seal from "../src/segment/Seal.ts"
import { serving } from "./serving.ts"
import { asks, said, team, worker } from "./teams.ts"

const secret = Redacted.make("the same on both")

const three = (...last: Parameters<typeof worker>[1][]) => {
  const [a, b, c] = [worker("a", said("one")), worker("b", said("two")), worker("c", ...last)]
  return { pool: team(a, b, c), counts: () => [a, b, c].map(({ calls }) => calls.length) }
}

const lookup = {
  type: "function" as const,
  name: "lookup",
  parameters: { type: "object", properties: {} },
  strict: null
}

const chatTool = { type: "function" as const, function: { name: "lookup", parameters: lookup.parameters } }

/** Asks on a server of its own, whose journal knows nothing of what other servers did. */
const elsewhere =
  (pool: ReturnType<typeof team>, secret: Redacted.Redacted | undefined) =>
  (input: ReadonlyArray<object>): Promise<{ readonly output: ReadonlyArray<Readonly<Record<string, string>>> }> =>
    serving({ ...pool, secret, journal: Journal.makeMemory() }, async ({ url }) => {
      const body = { model: "divisi", store: false, include: ["reasoning.encrypted_content"], tools: [lookup], input }
      const response = await fetch(`${url}/responses`, { method: "POST", body: JSON.stringify(body) })
      assert.strictEqual(response.status, 200)
      return response.json()
    })

const resultOf = (output: ReadonlyArray<Readonly<Record<string, string>>>, text: string) => ({
  type: "function_call_output",
  call_id: output.find(({ type }) => type === "function_call")!.call_id,
  output: text
})

describe("the state of a run that its client carries", () => {
  it("resumes it on any server with the same secret, and no worker is called twice", async () => {
    const { counts, pool } = three(asks(["lookup", {}]), asks(["lookup", {}]), said("found"))
    const ask = elsewhere(pool, secret)
    const question = { role: "user", content: "Where?" }
    const first = await ask([question])
    assert.isTrue(first.output.some(({ encrypted_content }) => (encrypted_content?.length ?? 0) > 100))
    const history = [question, ...first.output, resultOf(first.output, "left")]
    const second = await ask(history)
    const last = await ask([...history, ...second.output, resultOf(second.output, "right")])
    assert.include(JSON.stringify(last.output), "found")
    assert.deepStrictEqual(counts(), [1, 1, 3])
  })

  it("is nothing to a server of another secret, and where it was changed: a new run answers", async () => {
    const question = { role: "user", content: "Where?" }
    for (const change of [(text: string) => text, (text: string) => `${text.slice(0, -9)}AAAAAAAAA`]) {
      const { counts, pool } = three(asks(["lookup", {}]), said("found"))
      const { output } = await elsewhere(pool, secret)([question])
      const changed = output.map((item) =>
        item.encrypted_content === undefined ? item : { ...item, encrypted_content: change(item.encrypted_content) }
      )
      const other = change("AAAA") === "AAAA" ? Redacted.make("another") : secret
      const last = await elsewhere(pool, other)([question, ...changed, resultOf(output, "left")])
      assert.include(JSON.stringify(last.output), "found")
      assert.deepStrictEqual(counts(), [2, 2, 2])
    }
  })

  it("is a block of thinking on Messages", async () => {
    const { counts, pool } = three(asks(["lookup", {}]), said("found"))
    const tools = [{ name: "lookup", input_schema: { type: "object" as const } }]
    const shared = {
      model: "divisi",
      max_tokens: 2_000,
      tools,
      thinking: { type: "enabled" as const, budget_tokens: 1_024 }
    }
    const question = { role: "user" as const, content: "Where?" }
    const asked = await serving({ ...pool, secret, journal: Journal.makeMemory() }, ({ anthropic }) =>
      anthropic.messages.stream({ ...shared, messages: [question] }).finalMessage()
    )
    assert.deepStrictEqual(
      asked.content.map(({ type }) => type),
      ["thinking", "redacted_thinking", "tool_use"]
    )
    const call = asked.content.find(({ type }) => type === "tool_use") as { readonly id: string }
    const result = { type: "tool_result" as const, tool_use_id: call.id, content: "left" }
    const messages = [
      question,
      { role: "assistant" as const, content: asked.content },
      { role: "user" as const, content: [result] }
    ]
    const answer = await serving({ ...pool, secret, journal: Journal.makeMemory() }, ({ anthropic }) =>
      anthropic.messages.create({ ...shared, messages: messages as never })
    )
    assert.include(JSON.stringify(answer.content), "found")
    assert.deepStrictEqual(counts(), [1, 1, 2])
  })

  it("is its owner's, bounded, and not given to who does not carry it", () => {
    const sealer = Seal.make(secret)
    const piece = { runId: "r", from: 0, entries: [], messages: 1, hash: "" }
    const sealed = sealer.seal("alice", piece)!
    assert.deepStrictEqual(sealer.open("alice", sealed), piece)
    assert.isUndefined(sealer.open("bob", sealed))
    assert.isUndefined(sealer.open("alice", "no seal"))
    const random = Array.from({ length: 40_000 }, () => Math.random().toString(36)).join("")
    assert.isUndefined(sealer.seal("alice", { ...piece, hash: random }))
    const { pool } = three(asks(["lookup", {}]))
    return serving(pool, async ({ client }) => {
      const { output } = await client.responses.create({ model: "divisi", input: "Where?", tools: [lookup] })
      assert.isTrue(output.every((item) => !("encrypted_content" in item)))
    })
  })
})

describe("a run whose user continued without it", () => {
  it("ends as interrupted, and its results lead to an answer still", () => {
    const { pool } = three(asks(["lookup", {}]), said("new"), said("again"))
    const journal = Journal.makeMemory()
    return serving({ ...pool, journal }, async ({ client }) => {
      const ask = (...messages: ReadonlyArray<object>) =>
        client.chat.completions.create({ model: "divisi", tools: [chatTool], messages: messages as never })
      const question = { role: "user", content: "Where?" }
      const { choices } = await ask(question)
      const asked = choices[0]!.message
      const result = { role: "tool", tool_call_id: asked.tool_calls![0]!.id, content: "left" }
      const states = async () =>
        (await Effect.runPromise(journal.list())).map((summary) => Journal.stateOf(summary)).toSorted()
      assert.deepStrictEqual(await states(), ["waiting"])
      const next = await ask(question, asked, result, { role: "user", content: "Never mind. When?" })
      assert.strictEqual(next.choices[0]?.message.content, "new")
      assert.deepStrictEqual(await states(), ["answered", "interrupted"])
      assert.strictEqual((await ask(question, asked, result)).choices[0]?.message.content, "again")
    })
  })
})

describe("a reference to an item", () => {
  it("replaces the item of a stored response", () => {
    const { counts, pool } = three(asks(["lookup", {}]), said("found"))
    return serving(pool, async ({ client }) => {
      const shared = { model: "divisi", tools: [lookup] }
      const question = { role: "user" as const, content: "Where?" }
      const { output } = await client.responses.create({ ...shared, input: [question] })
      const references = output.map(({ id }) => ({ type: "item_reference" as const, id: id! }))
      const result = resultOf(output as never, "left") as never
      const answer = await client.responses.create({ ...shared, input: [question, ...references, result] })
      assert.strictEqual(answer.output_text, "found")
      assert.deepStrictEqual(counts(), [1, 1, 2])
      const stranger = { type: "item_reference" as const, id: "rs_0000000000000000000000_0" }
      const refused = client.responses.create({ ...shared, input: [question, stranger] })
      assert.match(String(await refused.catch((error: unknown) => error)), /not found/)
    })
  })
})

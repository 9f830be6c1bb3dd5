import * as Effect from "effect/Effect"
import type { ResponseStreamEvent } from "openai/resources/responses/responses"
import { assert, describe, it } from "vitest"
import { ask, eventsOf, slow, thrown, types, until, weather } from "./responses.ts"
import { serving } from "./serving.ts"
import { alone, asks, said, worker } from "./teams.ts"

describe("a stored response", () => {
  it("can be continued by its id with its whole conversation, and tools resume their run", () => {
    const a = worker("a", said("Hello Ann"), asks(["weather", { city: "Rome" }]), said("Warm."))
    return serving(alone(a), async ({ client }) => {
      const first = await client.responses.create({ ...ask("I am Ann"), instructions: "Be kind." })
      const next = { model: "divisi", tools: [weather] }
      const second = await client.responses.create({
        ...next,
        input: "Is it warm?",
        previous_response_id: first.id
      })
      assert.deepStrictEqual(a.calls[1]?.messages, [
        { role: "user", content: "I am Ann" },
        { role: "assistant", content: "Hello Ann" },
        { role: "user", content: "Is it warm?" }
      ])
      const call = second.output.find((item) => item.type === "function_call")
      const third = await client.responses.create({
        ...next,
        input: [{ type: "function_call_output", call_id: call?.call_id ?? "", output: "20" }],
        previous_response_id: second.id
      })
      assert.strictEqual(third.output_text, "Warm.")
      assert.strictEqual(third.previous_response_id, second.id)
      assert.strictEqual(a.calls.length, 3)
      const items = await client.responses.inputItems.list(third.id, { order: "asc" })
      assert.deepStrictEqual(
        items.data.map(({ type }) => type),
        ["message", "message", "message", "function_call", "function_call_output"]
      )
      const page = await client.responses.inputItems.list(third.id, { limit: 2 })
      assert.deepStrictEqual(
        [page.data.map(({ type }) => type), page.has_more],
        [["function_call_output", "function_call"], true]
      )
    })
  })

  it("can be retrieved and deleted, and does not exist if its client does not want it stored", () =>
    serving(alone(worker("a", said("Hi"), said("Ho"))), async ({ client }) => {
      const made = await client.responses.create(ask("Greet"))
      const again = await client.responses.retrieve(made.id)
      assert.deepStrictEqual([again.output, again.usage], [made.output, made.usage])
      await client.responses.delete(made.id)
      assert.strictEqual((await thrown(client.responses.retrieve(made.id))).status, 404)
      const unkept = await client.responses.create({ ...ask("Greet"), store: false })
      assert.strictEqual((await thrown(client.responses.retrieve(unkept.id))).status, 404)
      const lost = await thrown(client.responses.create({ ...ask("And?"), previous_response_id: unkept.id }))
      assert.deepInclude({ ...lost }, { status: 400, code: "previous_response_not_found" })
    }))

  it("is its owner's alone", () => {
    const authenticate = (headers: Readonly<Record<string, string | undefined>>) =>
      Effect.succeed({ owner: headers.authorization ?? "" })
    return serving({ ...alone(worker("a", said("Hi"))), authenticate }, async ({ client }) => {
      const { id } = await client.responses.create(ask("Greet"))
      const other = client.withOptions({ apiKey: "other" })
      assert.strictEqual((await thrown(other.responses.retrieve(id))).status, 404)
      const stolen = await thrown(other.responses.create({ ...ask("And?"), previous_response_id: id }))
      assert.strictEqual(stolen.code, "previous_response_not_found")
    })
  })
})

describe("a response in the background", () => {
  it("returns immediately, continues without its client, and can be polled until it is done", () =>
    serving({ ...alone(worker("a", slow)), graceMillis: 0 }, async ({ client }) => {
      const made = await client.responses.create({ ...ask("Work"), background: true })
      assert.strictEqual(made.status, "queued")
      await until(async () => (await client.responses.retrieve(made.id)).status === "completed")
      assert.strictEqual((await client.responses.retrieve(made.id)).output_text, "Done")
    }))

  it("can be followed again from any event on, where a connection broke off", () =>
    serving({ ...alone(worker("a", slow)), graceMillis: 0 }, async ({ client, url }) => {
      const stream = await client.responses.create({ ...ask("Work"), background: true, stream: true })
      const first: Array<ResponseStreamEvent> = []
      for await (const event of stream) {
        first.push(event)
        if (event.type === "response.in_progress") break
      }
      const [created] = first
      const id = created?.type === "response.created" ? created.response.id : ""
      const rest = await eventsOf(await fetch(`${url}/responses/${id}?stream=true&starting_after=2`))
      const all = [...first, ...rest.events]
      assert.deepStrictEqual(
        all.map((event) => "sequence_number" in event && event.sequence_number),
        all.map((_, at) => at)
      )
      assert.deepStrictEqual(types(all).slice(0, 3), ["created", "queued", "in_progress"])
      assert.strictEqual(all.at(-1)?.type, "response.completed")
      const after = await eventsOf(await fetch(`${url}/responses/${id}?stream=true&starting_after=${all.length - 2}`))
      assert.deepStrictEqual(types(after.events), ["completed"])
    }))

  it("can be cancelled, which stops its work", () => {
    const a = worker("a", { hang: true })
    return serving(alone(a), async ({ client, running }) => {
      const made = await client.responses.create({ ...ask("Work"), background: true })
      await until(() => a.running() > 0)
      assert.strictEqual((await client.responses.cancel(made.id)).status, "cancelled")
      assert.deepStrictEqual([running(), a.running()], [0, 0])
      assert.strictEqual((await client.responses.retrieve(made.id)).status, "cancelled")
    })
  })

  it("is the only one that can be cancelled", () =>
    serving(alone(worker("a", said("Hi"))), async ({ client }) => {
      const { id } = await client.responses.create(ask("Greet"))
      assert.strictEqual((await thrown(client.responses.cancel(id))).status, 400)
    }))

  it("is evicted by the memory of its values, which take more than their bytes", () =>
    serving(alone(worker("a", said("here"))), async ({ url }) => {
      // 1.2 MB each, where a server retains 64 MiB.
      const input = Array(39_000).fill({ role: "user", content: "a" })
      const post = async (): Promise<string> => {
        const body = JSON.stringify({ model: "divisi", input })
        const response = await fetch(`${url}/responses`, { method: "POST", body })
        assert.strictEqual(response.status, 200)
        return (await response.json()).id
      }
      const ids: Array<string> = []
      while (ids.length < 6) ids.push(await post())
      const statuses = await Promise.all(ids.map(async (id) => (await fetch(`${url}/responses/${id}`)).status))
      assert.deepStrictEqual([statuses[0], statuses.at(-1)], [404, 200])
    }))
})

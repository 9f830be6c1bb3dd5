import { Journal } from "@divisi/core"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import type * as NodeServer from "../src/NodeServer.ts"
import { serving } from "./serving.ts"
import { alone, asks, said, worker } from "./teams.ts"

/** Texts that outlive servers. */
const keeping = () => {
  const texts = new Map<string, string>()
  return {
    texts,
    responses: {
      get: (name: string) => Effect.sync(() => texts.get(name)),
      set: (name: string, text: string) => Effect.sync(() => void texts.set(name, text)),
      remove: (name: string) => Effect.sync(() => void texts.delete(name))
    } satisfies NonNullable<NodeServer.Options["responses"]>
  }
}

describe("responses stored on disk", () => {
  it("survive a restart: they can be read, continued, listed and deleted", async () => {
    const { responses, texts } = keeping()
    const first = await serving({ ...alone(worker("a", said("forty-", "two"))), responses }, ({ client }) =>
      client.responses.create({ model: "divisi", input: "6 times 7?", instructions: "Be short." })
    )
    const second = worker("a", said("as I said"))
    await serving({ ...alone(second), responses }, async ({ client, url }) => {
      const { output_text: _, ...sent } = first
      const { output_text: __, ...again } = await client.responses.retrieve(first.id)
      assert.deepStrictEqual(again, sent)
      const items = await client.responses.inputItems.list(first.id)
      assert.lengthOf(items.data, 1)
      const next = await client.responses.create({ model: "divisi", input: "Sure?", previous_response_id: first.id })
      assert.strictEqual(next.output_text, "as I said")
      assert.deepStrictEqual(
        second.calls[0]?.messages.map(({ content }) => content),
        ["6 times 7?", "forty-two", "Sure?"]
      )
      await client.responses.delete(first.id)
      assert.strictEqual((await fetch(`${url}/responses/${first.id}`)).status, 404)
      assert.sameMembers([...texts.keys()], [next.id])
    })
  })

  it("are not stored if the client opts out; a failed response is stored", async () => {
    const { responses, texts } = keeping()
    const failing = ScriptedWorker.make({ id: "a", replies: [{ fail: { _tag: "Authentication" } }] })
    const failed = await serving({ ...alone(failing), responses }, async ({ client, url }) => {
      await client.responses.create({ model: "divisi", input: "?", store: false }).catch(() => undefined)
      assert.strictEqual(texts.size, 0)
      const { id } = await client.responses.create({ model: "divisi", input: "?", background: true })
      for (;;) {
        const body = await (await fetch(`${url}/responses/${id}`)).json()
        if (body.status !== "queued" && body.status !== "in_progress") return body
      }
    })
    assert.strictEqual(failed.status, "failed")
    await serving({ ...alone(worker("a", said("one"))), responses }, async ({ url }) => {
      assert.deepStrictEqual(await (await fetch(`${url}/responses/${failed.id}`)).json(), failed)
    })
  })

  it("report that the server of a background response was killed, not that it is unknown", async () => {
    const { responses, texts } = keeping()
    const hanging = { ...alone(worker("a", { hang: true })), responses }
    const [id, left] = await serving(hanging, async ({ client }) => {
      const { id } = await client.responses.create({ model: "divisi", input: "?", background: true })
      assert.strictEqual((await client.responses.retrieve(id)).status, "in_progress")
      // A snapshot of the disk.
      return [id, new Map(texts)] as const
    })
    const killed = keeping()
    for (const [name, text] of left) killed.texts.set(name, text)
    await serving({ ...hanging, responses: killed.responses }, async ({ client }) => {
      const { error, status } = await client.responses.retrieve(id)
      assert.strictEqual(status, "failed")
      assert.match(error?.message ?? "", /Retry in a moment|Retry the request/)
    })
  })

  it("get an id in the background once the journal has their run, so that a kill leaves no id without one", async () => {
    const { responses, texts } = keeping()
    const journal = Journal.makeMemory()
    let open = () => {}
    const isOpen = new Promise<void>((resolve) => {
      open = resolve
    })
    const slow = {
      ...journal,
      append: (batch: Journal.Batch) =>
        Effect.andThen(
          Effect.promise(() => isOpen),
          journal.append(batch)
        )
    }
    const hanging = { ...alone(worker("a", { hang: true })), responses, journal: slow }
    await serving(hanging, async ({ client }) => {
      let isAnswered = false
      const asked = client.responses.create({ model: "divisi", input: "?", background: true })
      const answered = asked.then(() => {
        isAnswered = true
      })
      while (texts.size === 0) await new Promise((resolve) => setTimeout(resolve, 1))
      await new Promise((resolve) => setTimeout(resolve, 50))
      assert.isFalse(isAnswered)
      open()
      await answered
      assert.lengthOf(await Effect.runPromise(journal.list()), 1)
    })
  })

  it("are in progress while their server may be reconnecting to the database", async () => {
    const { responses } = keeping()
    const journal = Journal.makeMemory()
    const hanging = { ...alone(worker("a", { hang: true })), responses }
    const id = await serving({ ...hanging, journal }, async ({ client }) => {
      const { id } = await client.responses.create({ model: "divisi", input: "?", background: true })
      return id
    })
    const [summary] = await Effect.runPromise(journal.list())
    const { ending: _, ...rest } = summary!
    const cut = { ...rest, owner: undefined }
    const seen = (found: Journal.Summary) =>
      serving({ ...hanging, journal: { ...journal, find: () => Effect.succeed(found) } }, ({ client }) =>
        client.responses.retrieve(id).then(({ status }) => status)
      )
    assert.strictEqual(await seen({ ...cut, isOwnerUnconfirmed: true }), "in_progress")
    assert.strictEqual(await seen(cut), "failed")
  })

  it("belong to their owner, and what another version wrote is not found", async () => {
    const { responses, texts } = keeping()
    const tools = [{ type: "function" as const, name: "look", parameters: {}, strict: false }]
    const first = await serving({ ...alone(worker("a", asks(["look", {}]))), responses }, ({ client }) =>
      client.responses.create({ model: "divisi", input: "?", tools })
    )
    const stored = texts.get(first.id)!
    const statusOf = (text: string) => {
      texts.set(first.id, text)
      return serving({ ...alone(worker("a", said("one"))), responses }, async ({ url }) => {
        const { status } = await fetch(`${url}/responses/${first.id}`)
        return status
      })
    }
    assert.strictEqual(await statusOf(stored), 200)
    assert.strictEqual(await statusOf(JSON.stringify({ ...JSON.parse(stored), owner: "somebody" })), 404)
    assert.strictEqual(await statusOf(JSON.stringify({ ...JSON.parse(stored), version: 2 })), 404)
  })
})

import type * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

const down = () => worker("a", { fail: { _tag: "Authentication", detail: "bad key" } })

/** An answer that breaks off after its first words. */
const half: ScriptedWorker.Reply = {
  parts: [{ type: "text", text: "Half of " }],
  thenFail: { _tag: "Network", detail: "the connection was reset" }
}

const post = async (url: string, model: string) => {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hm" }] })
  const response = await fetch(`${url}/chat/completions`, { method: "POST", body })
  const { divisi } = (await response.json()) as { readonly divisi?: { readonly notices?: ReadonlyArray<string> } }
  return { status: response.status, notices: divisi?.notices ?? [], header: response.headers.get("x-divisi-notices") }
}

describe("a worker that fails permanently", () => {
  it("is replaced, and the response says by which", () => {
    const { policy: _, ...pool } = alone(down(), worker("b", said("Fine.")))
    return serving(pool, async ({ url }) => {
      const { header, notices, status } = await post(url, "divisi-fast")
      assert.deepStrictEqual([status, notices], [200, ["Step 0: a failed, and b took over."]])
      assert.include(header, "b took over")
    })
  })

  it("is not replaced where the client named it, whatever the settings say", () => {
    const options = { ...alone(down(), worker("b", said("Fine."))), settings: { reassign: "next" as const } }
    return serving(options, async ({ url }) => {
      assert.strictEqual((await post(url, "worker/a")).status, 502)
    })
  })

  it("is not replaced where the settings turn it off", () => {
    const { policy: _, ...pool } = alone(down(), worker("b", said("Fine.")))
    return serving({ ...pool, settings: { reassign: "never" } }, async ({ url }) => {
      assert.strictEqual((await post(url, "divisi-fast")).status, 502)
    })
  })
})

describe("an answer that breaks off after its first words", () => {
  const asked = { messages: [{ role: "user" as const, content: "Hm" }] }

  it("is replaced by the retry's where the client does not stream", () =>
    serving(alone(worker("a", half, said("Fine."), half, said("Fine."), half, said("Fine."))), async (server) => {
      const { anthropic, client } = server
      const { choices } = await client.chat.completions.create({ model: "divisi-fast", ...asked })
      assert.strictEqual(choices[0]?.message.content, "Fine.")
      const { output_text: text } = await client.responses.create({ model: "divisi-fast", input: "Hm?" })
      assert.strictEqual(text, "Fine.")
      const { content } = await anthropic.messages.create({ model: "divisi-fast", max_tokens: 50, ...asked })
      assert.deepStrictEqual<unknown>(content, [{ type: "text", text: "Fine." }])
    }))

  it("is replaced by another worker's where the client does not stream", () => {
    const { policy: _, ...pool } = alone(worker("a", half, half, half), worker("b", said("Fine.")))
    return serving(pool, async ({ client }) => {
      const { choices } = await client.chat.completions.create({ model: "divisi-fast", ...asked })
      assert.strictEqual(choices[0]?.message.content, "Fine.")
    })
  })

  it("ends a stream with an error, because its words have been sent", () =>
    serving(alone(worker("a", half, said("Fine."))), async ({ client }) => {
      const stream = await client.chat.completions.create({ model: "divisi-fast", ...asked, stream: true })
      let text = ""
      const failed = await (async () => {
        for await (const { choices } of stream) text += choices[0]?.delta.content ?? ""
      })().then(
        () => undefined,
        (error: Error) => error.message
      )
      assert.strictEqual(text, "Half of ")
      assert.include(failed ?? "", "returned different text")
    }))
})

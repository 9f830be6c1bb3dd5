import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, asks, said, worker } from "./teams.ts"

type Event = Readonly<Record<string, unknown>> & {
  readonly type: string
  readonly response?: { readonly id: string; readonly output: ReadonlyArray<Record<string, unknown>> }
}

/** A connection that sends one request after another, and gets the events of each. */
const connect = async (url: string) => {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/responses`)
  const events: Array<Event> = []
  let wake = () => {}
  socket.addEventListener("message", ({ data }) => {
    events.push(JSON.parse(String(data)))
    wake()
  })
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve)
    socket.addEventListener("error", reject)
  })
  const isLast = ({ type }: Event) => /^(error|response\.(completed|failed|incomplete))$/.test(type)
  return {
    socket,
    ask: async (body: object): Promise<ReadonlyArray<Event>> => {
      events.length = 0
      socket.send(JSON.stringify({ type: "response.create", model: "divisi", ...body }))
      while (!events.some(isLast)) await new Promise<void>((resolve) => (wake = resolve))
      return [...events]
    }
  }
}

const weather = { type: "function", name: "weather", parameters: { type: "object", properties: {} } }

describe("a connection for many responses", () => {
  it("has the events of a stream, one in each frame", () =>
    serving(alone(worker("a", said("He", "llo"))), async ({ url }) => {
      const { ask } = await connect(url)
      const events = await ask({ input: "Greet" })
      assert.deepStrictEqual(
        events.map(({ type }) => type.replace("response.", "")),
        [
          "created",
          "in_progress",
          "output_item.added",
          "content_part.added",
          "output_text.delta",
          "output_text.done",
          "content_part.done",
          "output_item.done",
          "completed"
        ]
      )
    }))

  it("continues from a response that is not stored, tools included, but only on this connection", () => {
    const a = worker("a", said("Hello Ann"), asks(["weather", {}]), said("Warm."))
    return serving(alone(a), async ({ url }) => {
      const first = await connect(url)
      const begun = (await first.ask({ input: "I am Ann", store: false })).at(-1)?.response
      const next = { previous_response_id: begun?.id, input: "Is it warm?", store: false, tools: [weather] }
      const asked = (await first.ask(next)).at(-1)?.response
      const output = { type: "function_call_output", call_id: asked?.output[0]?.call_id, output: "20" }
      const last = await first.ask({ ...next, previous_response_id: asked?.id, input: [output] })
      assert.include(JSON.stringify(last.at(-1)?.response?.output), "Warm.")
      assert.strictEqual(a.calls.length, 3)
      const other = await connect(url)
      const [refused] = await other.ask(next)
      assert.deepInclude(refused, { type: "error", status: 400 })
      assert.deepInclude(refused?.error as object, { code: "previous_response_not_found" })
    })
  })

  it("removes a response if continuing from it failed", () =>
    serving(alone(worker("a", said("Hello"), said("again"))), async ({ url }) => {
      const { ask } = await connect(url)
      const begun = (await ask({ input: "Greet", store: false })).at(-1)?.response
      const next = { previous_response_id: begun?.id, store: false }
      const [failed] = await ask({ ...next, input: [{ role: "nobody", content: "" }] })
      assert.strictEqual(failed?.type, "error")
      const [gone] = await ask({ ...next, input: "And?" })
      assert.deepInclude(gone?.error as object, { code: "previous_response_not_found" })
    }))

  it("rejects pages of other origins, and describes itself to a plain request", () =>
    serving(alone(worker("a", said("Hello"))), async ({ url }) => {
      const plain = await fetch(`${url}/responses`)
      assert.strictEqual(plain.status, 426)
      const page = await fetch(`${url}/responses`, { headers: { origin: "https://example.com" } })
      assert.strictEqual(page.status, 403)
    }))
})

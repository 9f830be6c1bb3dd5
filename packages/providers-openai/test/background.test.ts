import { WorkerStream } from "@divisi/core/streams"
import type { WorkerPart } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { assert, describe, it } from "vitest"
import { openai } from "../src/index.ts"

const events = [
  { type: "response.created", response: { id: "resp_1", status: "queued" } },
  { type: "response.output_text.delta", delta: "42" },
  {
    type: "response.completed",
    response: { id: "resp_1", status: "completed", usage: { input_tokens: 3, output_tokens: 1 } }
  }
]

const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("")

/** A worker, and what it has sent. */
const recorded = (background: boolean) => {
  const sent: Array<{ readonly method: string; readonly url: string; readonly body: unknown }> = []
  const fetch: typeof globalThis.fetch = async (url, { body, method = "GET" } = {}) => {
    sent.push({ method, url: String(url), body: typeof body === "string" ? JSON.parse(body) : undefined })
    return new Response(text, { headers: { "content-type": "text/event-stream" } })
  }
  return { sent, worker: openai("gpt-5", { apiKey: "sk-test", baseURL: "https://vendor.test/v1", background, fetch }) }
}

const request = { messages: [{ role: "user", content: "6 times 7?" }] } as const

const collect = (parts: ReturnType<typeof WorkerStream.generate>): Promise<ReadonlyArray<WorkerPart>> =>
  Effect.runPromise(Stream.runCollect(parts))

const whole: ReadonlyArray<WorkerPart> = [
  { type: "handle", handle: "resp_1" },
  { type: "text", text: "42" },
  { type: "finish", reason: "stop", usage: { inputTokens: 3, outputTokens: 1 } }
]

describe("openai in the background", () => {
  it("has its answers stored, says by what each is known, and asks for one of them again from its beginning", async () => {
    const { sent, worker } = recorded(true)
    assert.deepStrictEqual(await collect(WorkerStream.generate(worker, request)), whole)
    const { recovery } = worker
    if (typeof recovery !== "object") assert.fail("it cannot be asked again")
    const again = { ...worker, generate: () => recovery.reattach("resp_1", request) }
    assert.deepStrictEqual(await collect(WorkerStream.generate(again, request)), whole)
    assert.deepInclude(sent[0]!.body, { background: true, store: true, stream: true })
    assert.deepStrictEqual(
      [sent[1]!.method, sent[1]!.url],
      ["GET", "https://vendor.test/v1/responses/resp_1?stream=true"]
    )
  })

  it("is absent unless requested", async () => {
    const { sent, worker } = recorded(false)
    assert.deepStrictEqual(await collect(WorkerStream.generate(worker, request)), whole.slice(1))
    assert.notProperty(sent[0]!.body, "background")
    assert.isUndefined(worker.recovery)
  })
})

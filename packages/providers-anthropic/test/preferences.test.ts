import http from "node:http"
import type { AddressInfo } from "node:net"
import { WorkerStream } from "@divisi/core/streams"
import type { WorkerRequest } from "@divisi/core/Worker"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type AnthropicOptions, anthropic } from "../src/index.ts"

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a request
type Json = Readonly<Record<string, any>>

const answer = [
  {
    type: "message_start",
    message: { id: "m", model: "m", role: "assistant", content: [], usage: { input_tokens: 1 } }
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "ok" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
  { type: "message_stop" }
]

/** A server of the Messages API that refuses a body for what `refusal` returns. */
const serve = async (refusal: (body: Json) => string | undefined, status = 400) => {
  const bodies: Array<Json> = []
  const server = http.createServer(async (request, response) => {
    let text = ""
    for await (const chunk of request) text += chunk
    const body: Json = JSON.parse(text)
    bodies.push(body)
    const message = refusal(body)
    if (message === undefined) {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.end(answer.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""))
    } else {
      response.writeHead(status, { "content-type": "application/json" })
      response.end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return { url, bodies, [Symbol.asyncDispose]: close }
}

const messages: WorkerRequest["messages"] = [
  { role: "system", content: "Be kind." },
  { role: "user", content: "Hi" }
]

const ask = async (url: string, request: Partial<WorkerRequest> = {}, options: AnthropicOptions = {}) => {
  const worker = anthropic("claude-opus-5-5", { apiKey: "sk", baseURL: url, unsupported: "omit", ...options })
  const parts = await Effect.runPromise(Stream.runCollect(WorkerStream.generate(worker, { messages, ...request })))
  return parts.flatMap((part) => (part.type === "notice" ? [part.notice] : []))
}

const failure = async (...given: Parameters<typeof ask>) =>
  ask(...given).then(
    () => assert.fail("it should fail"),
    (error: { readonly reason?: { readonly _tag: string } }) => error.reason?._tag
  )

const left = (field: string) => `${field}: not supported by the server, so it was left out`
const effort = { reasoning: { type: "effort", effort: "high" } } as const

describe("a preference that a model of Messages does not have", () => {
  it("is left out with a notice", async () => {
    await using server = await serve(() => undefined)
    assert.deepEqual(await ask(server.url, { seed: 1 }), [
      "seed: the Messages API does not have this parameter; it was left out"
    ])
    assert.lengthOf(await ask(server.url, { seed: 1, preferences: "omit" }, { unsupported: "reject" }), 1)
  })
})

describe("a preference that a server of Messages refuses by name", () => {
  it("is left out one after the other, and in the next call from the start", async () => {
    await using server = await serve(({ output_config, thinking }) => {
      if (thinking !== undefined) return "thinking: Extra inputs are not permitted"
      return output_config === undefined ? undefined : "output_config: Extra inputs are not permitted"
    })
    const notices = [left("thinking"), left("output_config.effort")]
    assert.deepEqual(await ask(server.url, effort), notices)
    assert.lengthOf(server.bodies, 3)
    assert.deepEqual(await ask(server.url, effort), notices)
    assert.lengthOf(server.bodies, 4)
    assert.deepInclude(server.bodies[3], { model: "claude-opus-5-5", stream: true })
    assert.doesNotHaveAnyKeys(server.bodies[3] ?? {}, ["thinking", "output_config"])
  })

  it.each([
    [
      "litellm.UnsupportedParamsError: moonshot does not support parameters: ['thinking'], for model=k2",
      400,
      "thinking"
    ],
    ["thinking.type: Extra inputs are not permitted", 422, "thinking"],
    ["output_config.effort: Extra inputs are not permitted", 400, "output_config.effort"],
    ["This model does not support the effort parameter: effort", 400, "output_config.effort"],
    ["system.0.cache_control: Extra inputs are not permitted", 400, "cache_control"]
  ] as const)("is known in other words: %s", async (words, status, field) => {
    const isRefused = (body: Json) => {
      if (field === "cache_control") return JSON.stringify(body).includes("cache_control")
      return field === "thinking" ? body.thinking !== undefined : body.output_config?.effort !== undefined
    }
    await using server = await serve((body) => (isRefused(body) ? words : undefined), status)
    assert.deepEqual(await ask(server.url, effort), [left(field)])
    assert.lengthOf(server.bodies, 2)
  })

  it("loses no schema of its answer, which is in the same object", async () => {
    const schema = { type: "object", properties: {}, additionalProperties: false } as const
    const output = { type: "json-schema", name: "empty", schema } as const
    await using server = await serve((body) =>
      body.output_config?.effort === undefined ? undefined : "output_config.effort: Extra inputs are not permitted"
    )
    assert.deepEqual(await ask(server.url, { ...effort, output }), [left("output_config.effort")])
    assert.strictEqual(server.bodies[1]?.output_config.format.type, "json_schema")
    await using strict = await serve((body) =>
      body.output_config === undefined ? undefined : "output_config: Extra inputs are not permitted"
    )
    assert.strictEqual(await failure(strict.url, { ...effort, output }), "InvalidRequest")
    assert.lengthOf(strict.bodies, 1)
  })

  it("keeps a tool's own property of the name of a hint", async () => {
    const input = { type: "object", properties: { cache_control: { type: "string" } } } as const
    const tools = [{ name: "head", description: "Sets a header", input }]
    await using server = await serve((body) =>
      body.tools[0].cache_control || body.system?.[0].cache_control ? "cache_control: unknown field" : undefined
    )
    assert.deepEqual(await ask(server.url, { tools }), [left("cache_control")])
    assert.deepEqual(server.bodies[1]?.tools[0].input_schema.properties, input.properties)
  })

  it("fails where preferences may not be left out", async () => {
    await using server = await serve(({ thinking }) => thinking && "thinking: Extra inputs are not permitted")
    assert.strictEqual(await failure(server.url, effort, { unsupported: "reject" }), "InvalidRequest")
    assert.lengthOf(server.bodies, 1)
  })
})

describe("a demand that a server of Messages refuses", () => {
  it.each([
    "tools: Extra inputs are not permitted",
    "tool_choice: unsupported",
    "max_tokens: 128000 is invalid: `max_tokens` must be greater than `thinking.budget_tokens`",
    "messages: invalid",
    "messages.0.content.0: Input tag 'thinking' is unknown; messages: invalid"
  ])("fails the call: %s", async (words) => {
    const tools = [{ name: "add", description: "Adds", input: { type: "object" } }]
    await using server = await serve(() => words)
    assert.strictEqual(await failure(server.url, { ...effort, tools, toolChoice: "auto" }), "InvalidRequest")
    assert.lengthOf(server.bodies, 1)
  })
})

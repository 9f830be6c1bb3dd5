import http from "node:http"
import type { AddressInfo } from "node:net"
import { WorkerStream } from "@divisi/core/streams"
import type { Worker, WorkerRequest } from "@divisi/core/Worker"
import { assert, describe, it } from "@effect/vitest"
import { GoogleGenerativeAI } from "@google/generative-ai"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { generativeModel, google } from "../src/index.ts"

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a request
type Json = Readonly<Record<string, any>>

const answer = { candidates: [{ content: { role: "model", parts: [{ text: "ok" }] }, finishReason: "STOP" }] }

/** A proxy of the Gemini API that refuses a body for what `refusal` returns. */
const serve = async (refusal: (config: Json, body: Json) => string | undefined) => {
  const bodies: Array<Json> = []
  const server = http.createServer(async (request, response) => {
    let text = ""
    for await (const chunk of request) text += chunk
    const body: Json = JSON.parse(text)
    bodies.push(body)
    const message = refusal(body.generationConfig ?? {}, body)
    if (message === undefined) {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.end(`data: ${JSON.stringify(answer)}\n\n`)
    } else {
      response.writeHead(400, { "content-type": "application/json" })
      response.end(JSON.stringify({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return { url, bodies, [Symbol.asyncDispose]: close }
}

const messages: WorkerRequest["messages"] = [{ role: "user", content: "Hi" }]

const ask = async (worker: Worker, request: Partial<WorkerRequest> = {}) => {
  const asked = { messages, preferences: "omit", ...request } as const
  const parts = await Effect.runPromise(Stream.runCollect(WorkerStream.generate(worker, asked)))
  return parts.flatMap((part) => (part.type === "notice" ? [part.notice] : []))
}

const model = "gemini-2.5-flash"

const workers: Readonly<Record<string, (baseURL: string) => Worker>> = {
  google: (baseURL) => google(model, { apiKey: "k", baseURL }),
  generativeModel: (baseUrl) => generativeModel(new GoogleGenerativeAI("k").getGenerativeModel({ model }, { baseUrl }))
}

const left = (name: string) => `generationConfig.${name}: not supported by the server, so it was left out`
const unknown = (name: string) =>
  `Invalid JSON payload received. Unknown name "${name}" at 'generation_config': Cannot find field.`
const effort = { reasoning: { type: "effort", effort: "high" } } as const

describe.each(Object.entries(workers))("preferences of %s", (_, make) => {
  it("are mapped with a notice if the model does not have them", async () => {
    await using server = await serve(() => undefined)
    const notices = await ask(make(server.url), { reasoning: { type: "budget", tokens: 1_000_000 } })
    assert.lengthOf(notices, 1)
    assert.match(notices[0] ?? "", /^reasoning budget: gemini-2.5-flash takes .* tokens; it was replaced by/)
  })

  it("are left out if the server refuses them by name, and in the next call from the start", async () => {
    await using server = await serve(({ seed, thinkingConfig }) => {
      if (thinkingConfig !== undefined) return unknown("thinkingConfig")
      return seed === undefined ? undefined : unknown("seed")
    })
    const worker = make(server.url)
    const request = { ...effort, seed: 1, temperature: 0.5, maxOutputTokens: 10 }
    const notices = [left("thinkingConfig"), left("seed")]
    assert.deepEqual(await ask(worker, request), notices)
    assert.lengthOf(server.bodies, 3)
    assert.deepEqual(await ask(worker, request), notices)
    assert.lengthOf(server.bodies, 4)
    assert.deepEqual(server.bodies[3]?.generationConfig, { temperature: 0.5, maxOutputTokens: 10 })
  })

  it.each([
    "thinking_config is not supported by this model",
    "Unable to submit request because thinking_budget is not supported",
    "* GenerateContentRequest.generation_config.thinking_config.include_thoughts: unsupported"
  ])("are known in other words: %s", async (words) => {
    await using server = await serve(({ thinkingConfig }) => (thinkingConfig === undefined ? undefined : words))
    assert.deepEqual(await ask(make(server.url), effort), [left("thinkingConfig")])
    assert.lengthOf(server.bodies, 2)
  })

  it.each([
    `Unknown name "tools": Cannot find field.`,
    `Unknown name "toolConfig": Cannot find field.`,
    unknown("maxOutputTokens"),
    "Invalid value at 'contents[0]': seed"
  ])("are not left out for a refused demand: %s", async (words) => {
    const tools = [{ name: "add", description: "Adds", input: { type: "object" } }]
    const request = { ...effort, seed: 1, maxOutputTokens: 10, tools, toolChoice: "required" } as const
    await using server = await serve(() => words)
    const failed = await ask(make(server.url), request).catch((error: unknown) => error)
    assert.strictEqual((failed as { reason?: { _tag: string } }).reason?._tag, "InvalidRequest")
    assert.lengthOf(server.bodies, 1)
  })
})

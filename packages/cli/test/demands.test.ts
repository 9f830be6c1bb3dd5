/**
 * Client demands, over each wire that the server reads and each API that its workers use: the vendor receives them, or
 * the client gets the reason and a remedy. They are never omitted silently.
 */
import http from "node:http"
import type { AddressInfo } from "node:net"
import { Baselines } from "@divisi/core"
import type { Worker } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { anthropic } from "@divisi/providers-anthropic"
import { google } from "@divisi/providers-google"
import { openai, openaiChat } from "@divisi/providers-openai"
import { NodeServer } from "@divisi/server"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a request
type Json = Readonly<Record<string, any>>

// -------------------------------------------------------------------------------------------------------------------
// Vendors
// -------------------------------------------------------------------------------------------------------------------

const text = '{"city":"Ulm"}'
const usage = { input_tokens: 5, output_tokens: 5 }

const sse = (...events: ReadonlyArray<Json>): string =>
  events
    .map((event) => `${event.type === undefined ? "" : `event: ${event.type}\n`}data: ${JSON.stringify(event)}\n\n`)
    .join("")

const item = {
  type: "message",
  id: "m",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text }]
}
const answers: ReadonlyArray<readonly [path: RegExp, answer: string]> = [
  [
    /chat\/completions/,
    `${sse({
      choices: [{ index: 0, delta: { content: text }, finish_reason: "stop" }],
      usage: { prompt_tokens: 5, completion_tokens: 5 }
    })}data: [DONE]\n\n`
  ],
  [
    /responses/,
    sse(
      { type: "response.output_text.delta", item_id: "m", output_index: 0, content_index: 0, delta: text },
      { type: "response.completed", response: { id: "r", status: "completed", output: [item], usage } }
    )
  ],
  [
    /messages/,
    sse(
      { type: "message_start", message: { id: "m", model: "m", role: "assistant", content: [], usage } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
      { type: "message_stop" }
    )
  ],
  [
    /streamGenerateContent/,
    sse({
      candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 5 }
    })
  ]
]

/** A server of all vendors' APIs. */
const serveVendors = async () => {
  const bodies: Array<Json> = []
  const server = http.createServer(async (request, response) => {
    let body = ""
    for await (const piece of request.setEncoding("utf8")) body += piece
    bodies.push(JSON.parse(body))
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.end(answers.find(([path]) => path.test(request.url ?? ""))?.[1])
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url, bodies, [Symbol.asyncDispose]: close }
}

type Vendor = "chat" | "responses" | "messages" | "thinking" | "gemini" | "older gemini"

const workers: Readonly<Record<Vendor, (url: string) => Worker>> = {
  chat: (url) => openaiChat("gpt-4.1", { apiKey: "sk", baseURL: `${url}/v1` }),
  responses: (url) => openai("gpt-5.2", { apiKey: "sk", baseURL: `${url}/v1` }),
  messages: (url) => anthropic("claude-sonnet-4-6", { apiKey: "sk", baseURL: url }),
  // It always reasons.
  thinking: (url) => anthropic("claude-opus-5-5", { apiKey: "sk", baseURL: url }),
  gemini: (url) => google("gemini-3.5-flash", { apiKey: "sk", baseURL: url }),
  // It takes tools or a shape.
  "older gemini": (url) => google("gemini-2.5-flash", { apiKey: "sk", baseURL: url })
}

// -------------------------------------------------------------------------------------------------------------------
// Clients
// -------------------------------------------------------------------------------------------------------------------

const schema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false
}
const parameters = { type: "object", properties: {} }

/** How a wire writes what a client must get. */
interface Wire {
  readonly path: string
  readonly question: object
  readonly tools: object
  readonly named: unknown
  readonly required: unknown
  readonly shape: object
  readonly alone: object
  readonly limit: string
  readonly stop: string
  /** The text of an answer. */
  readonly read: (body: Json) => string
}

const wires: Readonly<Record<string, Wire>> = {
  chat: {
    path: "chat/completions",
    question: { messages: [{ role: "user", content: "Where?" }] },
    tools: [{ type: "function", function: { name: "look", parameters } }],
    named: { type: "function", function: { name: "look" } },
    required: "required",
    shape: { response_format: { type: "json_schema", json_schema: { name: "city", schema, strict: true } } },
    alone: { parallel_tool_calls: false },
    limit: "max_completion_tokens",
    stop: "stop",
    read: (body) => body.choices[0].message.content
  },
  responses: {
    path: "responses",
    question: { input: "Where?" },
    tools: [{ type: "function", name: "look", parameters }],
    named: { type: "function", name: "look" },
    required: "required",
    shape: { text: { format: { type: "json_schema", name: "city", schema, strict: true } } },
    alone: { parallel_tool_calls: false },
    limit: "max_output_tokens",
    stop: "stop",
    read: (body) => body.output.find(({ type }: Json) => type === "message").content[0].text
  },
  messages: {
    path: "messages",
    question: { max_tokens: 5000, messages: [{ role: "user", content: "Where?" }] },
    tools: [{ name: "look", input_schema: parameters }],
    named: { type: "tool", name: "look" },
    required: { type: "any" },
    shape: { output_config: { format: { type: "json_schema", schema } } },
    alone: { tool_choice: { type: "auto", disable_parallel_tool_use: true } },
    limit: "max_tokens",
    stop: "stop_sequences",
    read: (body) => body.content.find(({ type }: Json) => type === "text").text
  }
}

interface Answered {
  readonly status: number
  readonly text: string
  readonly notices: string
  readonly error: string
  /** The vendor's request; absent if it was not called. */
  readonly asked: Json | undefined
}

const ask = async (vendor: Vendor, wire: Wire, more: object): Promise<Answered> => {
  await using vendors = await serveVendors()
  const pool = WorkerPool.makeUnsafe([workers[vendor](vendors.url)])
  const serving = Effect.gen(function* () {
    const server = yield* NodeServer.make({ port: 0, pool, policy: Baselines.single(0) })
    return yield* Effect.promise(async () => {
      const body = JSON.stringify({ model: "divisi", ...wire.question, ...more })
      const response = await fetch(`${server.url}/${wire.path}`, { method: "POST", body })
      const answer = (await response.json()) as Json
      return {
        status: response.status,
        text: response.status === 200 ? wire.read(answer) : "",
        notices: [response.headers.get("x-divisi-notices") ?? "", ...(answer.divisi?.notices ?? [])].join("\n"),
        error: answer.error?.message ?? "",
        asked: vendors.bodies[0]
      }
    })
  })
  // The vendors end with this block.
  return await Effect.runPromise(Effect.scoped(serving))
}

// -------------------------------------------------------------------------------------------------------------------
// Demands
// -------------------------------------------------------------------------------------------------------------------

/** How a demand ends: the vendor's body has it, a notice says that it was left out, or the client reads why not. */
type Expected = { readonly sent: (body: Json) => boolean } | { readonly notice: RegExp } | { readonly refused: RegExp }

interface Demand {
  readonly body: (wire: Wire) => object
  readonly of: Readonly<Record<Vendor, Expected>>
  /** The text of the answer, where the server itself sees to it. */
  readonly text?: string
}

/** One for both models of Anthropic, and one for both of Google. */
const each = (
  chat: (body: Json) => boolean,
  responses: (body: Json) => boolean,
  messages: (body: Json) => boolean,
  gemini: (body: Json) => boolean,
  more: Partial<Demand["of"]> = {}
): Demand["of"] => ({
  chat: { sent: chat },
  responses: { sent: responses },
  messages: { sent: messages },
  thinking: { sent: messages },
  gemini: { sent: gemini },
  "older gemini": { sent: gemini },
  ...more
})

const all = (expected: Expected): Demand["of"] => ({
  chat: expected,
  responses: expected,
  messages: expected,
  thinking: expected,
  gemini: expected,
  "older gemini": expected
})

const inWords = { sent: (body: Json) => JSON.stringify(body).includes("Answer with JSON") } as const
const config = (body: Json): Json => body.toolConfig.functionCallingConfig
const always = { refused: /claude-opus-5-5.*tool_choice.*another model/s } as const
const isShapedChat = (body: Json): boolean => body.response_format.json_schema.schema.required[0] === "city"
const isShapedResponses = (body: Json): boolean => body.text.format.schema.required[0] === "city"
const isShapedMessages = (body: Json): boolean => body.output_config.format.schema.required[0] === "city"
const isShapedGemini = (body: Json): boolean => body.generationConfig.responseJsonSchema.required[0] === "city"

const demands: Readonly<Record<string, Demand>> = {
  "a shape": {
    body: ({ shape }) => shape,
    of: each(isShapedChat, isShapedResponses, isShapedMessages, isShapedGemini)
  },
  "any JSON": {
    body: () => ({ response_format: { type: "json_object" } }),
    of: each(
      (body) => body.response_format.type === "json_object",
      (body) => body.text.format.type === "json_object",
      inWords.sent,
      (body) => body.generationConfig.responseMimeType === "application/json"
    )
  },
  "a shape and tools": {
    body: ({ shape, tools }) => ({ ...shape, tools }),
    of: each(isShapedChat, isShapedResponses, isShapedMessages, isShapedGemini, {
      "older gemini": { sent: (body) => inWords.sent(body) && body.tools[0].functionDeclarations[0].name === "look" }
    })
  },
  "a call of one tool": {
    body: ({ named, tools }) => ({ tools, tool_choice: named }),
    of: each(
      (body) => body.tool_choice.function.name === "look",
      (body) => body.tool_choice.name === "look",
      (body) => body.tool_choice.type === "tool" && body.tool_choice.name === "look",
      (body) => config(body).mode === "ANY" && config(body).allowedFunctionNames[0] === "look",
      { thinking: always }
    )
  },
  "a call of any tool": {
    body: ({ required, tools }) => ({ tools, tool_choice: required }),
    of: each(
      (body) => body.tool_choice === "required",
      (body) => body.tool_choice === "required",
      (body) => body.tool_choice.type === "any",
      (body) => config(body).mode === "ANY",
      { thinking: always }
    )
  },
  "a call of any tool, and reasoning, which is then left out": {
    body: ({ required, tools }) => ({ tools, tool_choice: required, reasoning_effort: "low" }),
    of: each(
      (body) => body.tool_choice === "required",
      (body) => body.tool_choice === "required",
      (body) => body.tool_choice.type === "any" && body.thinking === undefined,
      (body) => config(body).mode === "ANY",
      { thinking: always }
    )
  },
  "one call at a time": {
    body: ({ alone, tools }) => ({ tools, ...alone }),
    of: each(
      (body) => body.parallel_tool_calls === false,
      (body) => body.parallel_tool_calls === false,
      (body) => body.tool_choice.disable_parallel_tool_use === true,
      () => true,
      { gemini: { notice: /parallel_tool_calls/ }, "older gemini": { notice: /parallel_tool_calls/ } }
    )
  },
  "an output limit": {
    body: ({ limit }) => ({ [limit]: 50 }),
    of: each(
      (body) => (body.max_completion_tokens ?? body.max_tokens) === 50,
      (body) => body.max_output_tokens === 50,
      (body) => body.max_tokens === 50,
      (body) => body.generationConfig.maxOutputTokens === 50
    )
  },
  // The server ends the text itself: not every API can.
  "stop sequences": { body: ({ stop }) => ({ [stop]: ['m"'] }), of: all({ sent: () => true }), text: '{"city":"Ul' },
  "two answers": { body: () => ({ n: 2 }), of: all({ refused: /n must be 1.*Repeat the request/ }) },
  probabilities: { body: () => ({ logprobs: true }), of: all({ refused: /logprobs must be false/ }) },
  "a grammar": {
    body: () => ({ grammar: "root ::= [a-z]" }),
    of: all({ refused: /grammar is not supported.*response_format/ })
  },
  "a tool that there is not": {
    body: ({ tools }) => ({ tools, tool_choice: { name: "listen" } }),
    of: all({ refused: /listen.*look/s })
  }
}

const check = (expected: Expected, { asked, error, notices, status }: Answered) => {
  if ("refused" in expected) {
    assert.strictEqual(status, 400)
    assert.match(error, expected.refused)
    assert.isUndefined(asked)
    return
  }
  assert.strictEqual(status, 200, error)
  if ("notice" in expected) assert.match(notices, expected.notice)
  else assert.isTrue(expected.sent(asked ?? {}), JSON.stringify(asked))
}

for (const [name, wire] of Object.entries(wires)) {
  describe(`a client of ${name}`, () => {
    for (const [what, { body, of, text: expectedText }] of Object.entries(demands)) {
      it(`that must get ${what} gets it from every vendor, or reads why not`, async () => {
        for (const vendor of Object.keys(workers) as ReadonlyArray<Vendor>) {
          const answered = await ask(vendor, wire, body(wire))
          try {
            check(of[vendor], answered)
            if (expectedText !== undefined) assert.strictEqual(answered.text, expectedText)
          } catch (error) {
            throw new Error(`${name} → ${vendor}`, { cause: error })
          }
        }
      })
    }
  })
}

import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { openaiCompatible } from "@divisi/providers-openai"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, said, team, worker } from "./teams.ts"

const head = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" })

const chunk = (content: string): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content } }] })}\n\n`

/** Upstream failures after an answer has started. */
const faults: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "cuts it": (response) => {
    head(response).write(chunk("It is "))
    setTimeout(() => response.destroy(), 20)
  },
  "ends it without an end": (response) => head(response).end(chunk("It is ")),
  "says an error with status 200": (response) =>
    head(response).end(`${chunk("It is ")}data: {"error":{"message":"out of memory","code":500}}\n\n`),
  "sends half a character": (response) => {
    const bytes = Buffer.from(chunk("It is ü"))
    head(response).write(bytes.subarray(0, bytes.indexOf(0xc3) + 1))
    setTimeout(() => response.destroy(), 20)
  },
  "sends half a line of JSON": (response) => head(response).end(`${chunk("It is ")}data: {"choices":[{"delta":`),
  "falls silent": (response) => void head(response).write(chunk("It is "))
}

/** Runs a test against an upstream that does something to each request. */
const upstream = async <A>(
  fault: (response: ServerResponse) => void,
  test: (url: string) => Promise<A>
): Promise<A> => {
  const server = createServer((request, response) => {
    request.resume()
    fault(response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    return await test(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const whole = (content: string): string =>
  JSON.stringify({
    id: "c",
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  })

const withJson = (response: ServerResponse, length?: number) =>
  response.writeHead(200, {
    "content-type": "application/json",
    ...(length !== undefined && { "content-length": length })
  })

/** Upstream failures instead of an answer that is not streamed. */
const wholeFaults: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "cuts it": (response) => {
    withJson(response, 1_000).write(whole("It is ").slice(0, 40))
    setTimeout(() => response.destroy(), 20)
  },
  "ends it in the middle": (response) => withJson(response).end(whole("It is ").slice(0, 80)),
  "says an error with status 200": (response) =>
    withJson(response).end('{"error":{"message":"out of memory","code":500}}'),
  "answers with nothing": (response) => withJson(response, 0).end(),
  "answers with a page": (response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>Hi</h1>"),
  "answers without a choice": (response) => withJson(response).end('{"id":"c","choices":[]}'),
  "sends half a character": (response) => {
    const bytes = Buffer.from(whole("It is ü"))
    withJson(response, bytes.length).write(bytes.subarray(0, bytes.indexOf(0xc3) + 1))
    setTimeout(() => response.destroy(), 20)
  },
  "falls silent": (response) => void withJson(response).write(whole("It is ").slice(0, 40)),
  "refuses with a page": (response) => response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad</h1>")
}

const workerAt = (baseURL: string) =>
  openaiCompatible({ baseURL, model: "model-1", apiKey: "none", pricing: { inputPerMillion: 1, outputPerMillion: 1 } })

const messages = [{ role: "user", content: "What is it?" }]

/** For each wire: its request, the end of its streams, and its error for a stream that broke off. */
const wires = [
  ["chat/completions", { messages }, "data: [DONE]", '"finish_reason":"error"'],
  ["responses", { input: "What is it?" }, "event: response.completed", "event: response.failed"],
  ["messages", { messages, max_tokens: 100 }, "event: message_stop", "event: error"]
] as const

const streamed = async (url: string, path: string, body: object): Promise<Response> =>
  fetch(`${url}/${path}`, { method: "POST", body: JSON.stringify({ model: "divisi", stream: true, ...body }) })

/** One try, and a second of patience. */
const settings = { reassign: "never", retry: { maxAttempts: 1 }, worker: { timeoutMillis: 1_000 } } as const

describe("an upstream that", () => {
  for (const [name, fault] of Object.entries(faults)) {
    it(`${name} gives no answer that looks whole, on any wire`, () =>
      upstream(fault, (baseUrl) =>
        serving({ ...alone(workerAt(baseUrl)), settings }, async ({ url }) => {
          await Promise.all(
            wires.map(async ([path, body, end, broken]) => {
              const response = await streamed(url, path, body)
              const text = await response.text()
              assert.notInclude(text, end, path)
              // An error that came before anything was sent has a status of its own.
              if (response.status === 200) assert.include(text, broken, path)
              else assert.isAtLeast(response.status, 500, path)
            })
          )
        })
      ))
  }

  for (const [name, fault] of Object.entries(wholeFaults)) {
    it(`${name} where nobody streams gives an error of the server's, in the form of each wire`, () =>
      upstream(fault, (baseUrl) =>
        serving({ ...alone(workerAt(baseUrl)), settings }, async ({ url }) => {
          for (const [path, body] of wires) {
            const sent = JSON.stringify({ model: "divisi", ...body })
            const response = await fetch(`${url}/${path}`, { method: "POST", body: sent })
            const { error, type } = await response.json()
            assert.isAtLeast(response.status, 500, path)
            assert.isString(error.message, path)
            if (path === "messages") assert.strictEqual(type, "error")
          }
        })
      ))
  }

  it("fails before it has said anything is another worker's chance: the client sees one whole answer", () =>
    upstream(
      (response) => head(response).end('data: {"error":{"message":"out of memory","code":500}}\n\n'),
      (baseURL) =>
        serving(
          {
            ...team(worker("a", said("one")), worker("b", said("two")), workerAt(baseURL)),
            settings: { ...settings, reassign: "next" }
          },
          async ({ url }) => {
            for (const [path, body, end, broken] of wires) {
              const text = await (await streamed(url, path, body)).text()
              assert.include(text, end, path)
              assert.notInclude(text, broken, path)
            }
          }
        )
    ))
})

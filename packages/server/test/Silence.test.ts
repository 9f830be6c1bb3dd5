/** A vendor that accepts a request and sends nothing: the call ends after `worker.silenceMillis` and is retried. */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { openaiCompatible } from "@divisi/providers-openai"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone } from "./teams.ts"

const head = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" })

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

const answer = (response: ServerResponse) =>
  head(response).end(`${chunk({ content: "It is fine." })}${chunk({}, "stop")}data: [DONE]\n\n`)

/** Sends something every few milliseconds for as long as the connection is there. */
const repeating = (text: string) => (response: ServerResponse) => {
  head(response).write(text)
  const timer = setInterval(() => response.write(text), 20)
  response.on("close", () => clearInterval(timer))
}

/** Responses that stay open without an answer. */
const hangs: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "sends no headers": () => {},
  "sends headers alone": (response) => void head(response).flushHeaders(),
  "sends comments alone": repeating(": ping\n\n"),
  "sends half an event": (response) => void head(response).write('data: {"choices":'),
  "stops within its answer": (response) => void head(response).write(chunk({ content: "It " }))
}

/** Runs a test against a vendor that hangs at the first requests and answers the next. */
const vendor = async <A>(
  hang: (response: ServerResponse) => void,
  hanging: number,
  test: (url: string, log: ReadonlyArray<string>) => Promise<A>
): Promise<A> => {
  const log: Array<string> = []
  const server = createServer((request, response) => {
    request.resume()
    const isHanging = log.filter((event) => event !== "closed").length < hanging
    log.push(isHanging ? "hung" : "answered")
    response.on("close", () => {
      if (isHanging) log.push("closed")
    })
    if (isHanging) hang(response)
    else answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    return await test(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, log)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const workerAt = (baseURL: string) =>
  openaiCompatible({ baseURL, model: "model-1", apiKey: "none", pricing: { inputPerMillion: 1, outputPerMillion: 1 } })

const ask = (url: string, stream: boolean) =>
  fetch(`${url}/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "divisi", stream, messages: [{ role: "user", content: "Hm?" }] })
  })

const settings = { budget: { durationMillis: 120_000 }, worker: { silenceMillis: 300 } } as const

describe("a vendor that", () => {
  for (const [name, hang] of Object.entries(hangs)) {
    it(`${name} is asked again after the silence`, () =>
      vendor(hang, 1, (baseURL, log) =>
        serving({ ...alone(workerAt(baseURL)), settings }, async ({ url }) => {
          const response = await ask(url, false)
          const { choices } = await response.json()
          assert.deepStrictEqual([response.status, choices[0].message.content], [200, "It is fine."])
          // The connection of the first call is closed, not left open.
          assert.sameMembers([...log], ["hung", "closed", "answered"])
          assert.strictEqual(log[0], "hung")
        })
      ))
  }

  it("hangs before its answer is hidden from a client that streams", () =>
    vendor(hangs["sends headers alone"]!, 1, (baseURL, log) =>
      serving({ ...alone(workerAt(baseURL)), settings }, async ({ url }) => {
        const text = await (await ask(url, true)).text()
        assert.include(text, "It is fine.")
        assert.include(text, "data: [DONE]")
        assert.strictEqual(log.filter((event) => event === "answered").length, 1)
      })
    ))

  it("hangs each time ends with an error that states the cause, after the allowed number of calls", () =>
    vendor(hangs["sends no headers"]!, 9, (baseURL, log) =>
      serving(
        { ...alone(workerAt(baseURL)), settings: { ...settings, retry: { maxAttempts: 2 } } },
        async ({ url }) => {
          const response = await ask(url, false)
          assert.isAtLeast(response.status, 500)
          const { error } = await response.json()
          assert.include(error.message, "did not answer")
          assert.strictEqual(log.filter((event) => event === "hung").length, 2)
        }
      )
    ))
})

/** Runs as responses of server-sent events, over real HTTP. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Readable } from "node:stream"
import { eventResponse, OptionsError, single, streamResponse, worker } from "@divisi/core/promise"
import { assert, describe, it } from "vitest"

const serving = async <A>(route: () => Promise<Response>, use: (url: string) => Promise<A>): Promise<A> => {
  const server = createServer(async (_, reply) => {
    const response = await route()
    reply.writeHead(response.status, Object.fromEntries(response.headers))
    const body = Readable.fromWeb(response.body as never)
    body.on("error", () => reply.destroy())
    reply.on("close", () => body.destroy())
    body.pipe(reply)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** The events of a stream, as a browser reads them. */
const eventsOf = (text: string) =>
  text
    .split("\n\n")
    .filter((block) => block.includes("data: "))
    .map((block) => ({ name: /^event: (.*)$/m.exec(block)?.[1], data: JSON.parse(/^data: (.*)$/m.exec(block)![1]!) }))

const poet = worker({
  id: "poet",
  answer: async function* () {
    yield "Roses\n\n"
    yield "are red."
  }
})
const options = { question: "A line, please.", pool: [poet], policy: single(0) }

describe("a run as server-sent events", () => {
  it("sends what happens, the answer in pieces, and the end last", () =>
    serving(
      () => eventResponse(options, { headers: { "x-mine": "1" } }),
      async (url) => {
        const response = await fetch(url)
        assert.strictEqual(response.headers.get("content-type"), "text/event-stream; charset=utf-8")
        assert.strictEqual(response.headers.get("x-mine"), "1")
        const events = eventsOf(await response.text())
        const names = events.map(({ name }) => name)
        assert.deepStrictEqual(names, [
          "run-started",
          "round-started",
          "workflow-proposed",
          "step-started",
          "answer-delta",
          "answer-delta",
          "step-finished",
          "round-finished",
          "run-finished"
        ])
        for (const { data, name } of events) assert.strictEqual(data.type, name)
        const pieces = events.flatMap(({ data }) => (data.type === "answer-delta" ? [data.text] : []))
        assert.deepStrictEqual(pieces, ["Roses\n\n", "are red."])
      }
    ))

  it("sends what is selected", async () => {
    const response = await eventResponse(options, { select: ({ type }) => type === "run-finished" })
    assert.deepStrictEqual(
      eventsOf(await response.text()).map(({ name }) => name),
      ["run-finished"]
    )
  })

  it("sends comments while nothing happens", () => {
    let answer = (_: string) => {}
    const waiting = worker({
      id: "waiting",
      answer: () =>
        new Promise<string>((resolve) => {
          answer = resolve
        })
    })
    return serving(
      () => eventResponse({ ...options, pool: [waiting] }, { keepAliveMillis: 5 }),
      async (url) => {
        let text = ""
        for await (const piece of (await fetch(url)).body!.pipeThrough(new TextDecoderStream())) {
          text += piece
          if (text.includes("\n: \n\n")) answer("done")
        }
        assert.strictEqual(eventsOf(text).at(-1)?.data.answer, "done")
      }
    )
  })

  it("stops the run where the client leaves", () => {
    let stopped = () => {}
    const isStopped = new Promise<void>((resolve) => {
      stopped = resolve
    })
    const slow = worker({
      id: "slow",
      answer: (_, { signal }) => new Promise<string>(() => signal.addEventListener("abort", stopped))
    })
    return serving(
      () => eventResponse({ ...options, pool: [slow] }),
      async (url) => {
        const leaving = new AbortController()
        const response = await fetch(url, { signal: leaving.signal })
        await response.body!.getReader().read()
        leaving.abort()
        await isStopped
      }
    )
  })

  it("is stopped by the signal of the caller, and then ends", async () => {
    const slow = worker({ id: "slow", answer: () => new Promise<string>(() => {}) })
    const stopping = new AbortController()
    const response = await eventResponse({ ...options, pool: [slow], signal: stopping.signal })
    stopping.abort()
    assert.strictEqual(eventsOf(await response.text()).at(-1)?.data.ending, "interrupted")
  })

  it("is a rejected promise for a mistake in the options", async () => {
    const error = await eventResponse({ ...options, question: "" }).catch((error) => error)
    assert.instanceOf(error, OptionsError)
  })

  it("may be written in a protocol of one's own", async () => {
    const response = await streamResponse(options, async function* (events) {
      for await (const event of events)
        if (event.type === "answer-delta") yield `data: ${JSON.stringify(event.text)}\n\n`
    })
    assert.strictEqual(await response.text(), 'data: "Roses\\n\\n"\n\ndata: "are red."\n\n')
  })
})

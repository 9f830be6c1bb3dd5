import { assert, describe, it } from "@effect/vitest"

import { Failure } from "../src/VendorError.ts"
import * as VendorEvents from "../src/VendorEvents.ts"

const encoder = new TextEncoder()

const stream = (pieces: ReadonlyArray<Uint8Array>) =>
  new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    }
  })

const response = (pieces: ReadonlyArray<string | Uint8Array>, headers: Record<string, string> = {}) =>
  new Response(stream(pieces.map((piece) => (typeof piece === "string" ? encoder.encode(piece) : piece))), {
    headers
  })

const never = new AbortController().signal

const read = async (given: Response): Promise<ReadonlyArray<unknown>> => {
  const events: Array<unknown> = []
  for await (const event of VendorEvents.serverSent(given, never)) events.push(event)
  return events
}

const failure = async (given: Response) => {
  const error = await read(given).catch((error: unknown) => error)
  assert.instanceOf(error, Failure)
  return error.reason
}

describe("a stream of events", () => {
  it("is the same wherever it is cut into packets, and however its lines end", async () => {
    const text =
      ': hi\n\nevent: a\ndata: {"a":"Gr\u00fc\u00dfe \u{1F30D} \u2028 x"}\n\ndata:[1,\ndata: 2]\n\ndata:\n\ndata: 3\n\n'
    const expected = [{ type: "a", a: "Grüße 🌍 \u2028 x" }, [1, 2], 3]
    for (const end of ["\n", "\r\n", "\r"]) {
      const bytes = encoder.encode(text.replaceAll("\n", end))
      for (let at = 0; at <= bytes.length; at++) {
        assert.deepStrictEqual(await read(response([bytes.slice(0, at), bytes.slice(at)])), expected)
      }
    }
  })

  it("ends at the word for it, and need not end with an empty line", async () => {
    assert.deepStrictEqual(await read(response(["data: 1\n\ndata: [DONE]\n\ndata: nonsense\n\n"])), [1])
    assert.deepStrictEqual(await read(response(["data: 1\n\ndata: 2"])), [1, 2])
  })

  it("may have data that is encoded twice, and comments as data", async () => {
    const events = ['{"a":1}', "[DONE]"].map((one) => `data: ${JSON.stringify(one)}\n\n`)
    const comments = ": OPENROUTER PROCESSING, : keepalive".split(", ").map((one) => `data: ${one}\n\n`)
    assert.deepStrictEqual(await read(response([...comments, ...events, "data: 2\n\n"])), [{ a: 1 }])
    assert.deepStrictEqual(await read(response(['data: "words"\n\n', 'data: "{ no JSON"\n\n'])), ["words", "{ no JSON"])
  })

  it("may begin with a mark of its byte order, and have lines of any length", async () => {
    const bytes = encoder.encode('\ufeffdata: "a"\n\n')
    for (let at = 0; at <= bytes.length; at++) {
      assert.deepStrictEqual(await read(response([bytes.slice(0, at), bytes.slice(at)])), ["a"])
    }
    const long = "x".repeat(8 * 1024 * 1024)
    const piece = encoder.encode("x".repeat(4096))
    const pieces = ['data: "', ...Array.from({ length: 2048 }, () => piece), '"\n\n']
    assert.deepStrictEqual(await read(response(pieces)), [long])
  })

  it("is the same where it comes from another client of HTTP than `fetch`", async () => {
    const pieces = [": hi\ndata: 1", "\n\ndata: 2\n\nda"].map((text) => encoder.encode(text))
    let cancelled = 0
    const incoming: VendorEvents.Incoming = {
      status: 200,
      contentType: "text/event-stream",
      read: async () => pieces.shift(),
      cancel: () => {
        cancelled += 1
      }
    }
    const events: Array<unknown> = []
    for await (const event of VendorEvents.serverSent(incoming, never)) events.push(event)
    assert.deepStrictEqual(events, [1, 2])
    assert.strictEqual(cancelled, 1)
    pieces.push(encoder.encode("<html>"))
    const page = VendorEvents.serverSent(incoming, never)
    const error = await page.next().catch((error: unknown) => error)
    assert.instanceOf(error, Failure)
    assert.strictEqual(cancelled, 2)
  })

  it("cannot be read if it is invalid", async () => {
    const page = await failure(response(["<html>"], { "content-type": "text/html" }))
    assert.deepStrictEqual(page, { _tag: "Malformed", detail: "an HTML page", remedy: "check the base URL" })
    const at = (url: string) =>
      failure(Object.defineProperty(response(["<html><title>My App</title>"]), "url", { value: url }))
    assert.deepStrictEqual(await at("http://localhost:8000/chat/completions?token=hunter2"), {
      _tag: "Malformed",
      detail: "an HTML page from localhost:8000/chat/completions: My App",
      remedy: "check the base URL (the base URL has no version: if the API is under /v1, append /v1)"
    })
    assert.deepStrictEqual(await at("https://llm.example.org/sk4f8a9b7c6d5e4f3a2b1c/v1/messages"), {
      _tag: "Malformed",
      detail: "an HTML page from llm.example.org/…/v1/messages: My App",
      remedy: "check the base URL"
    })
    for (const status of [204, 205]) {
      const reason = await failure(new Response(null, { status }))
      assert.deepStrictEqual(reason, { _tag: "Malformed", detail: `status ${status} without a response` })
    }
    assert.deepStrictEqual(await failure(response(["data: {\n\n"])), {
      _tag: "Malformed",
      detail: "an event is not valid JSON: {"
    })
  })

  it("replaces bytes that are not text", async () => {
    const half = encoder.encode('data: "a🌍b"\n\n')
    assert.deepStrictEqual(await read(response([half.slice(0, 10), half.slice(12)])), ["a\ufffdb"])
  })

  it("gives up an event that does not end", async () => {
    const piece = encoder.encode("x".repeat(1024 * 1024))
    let given = 0
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        given += 1
        controller.enqueue(given === 1 ? encoder.encode("data: ") : piece)
      }
    })
    assert.deepStrictEqual(await failure(new Response(body)), {
      _tag: "Malformed",
      detail: "an event is larger than 32 million characters",
      remedy: "lower the output limit of the call"
    })
    assert.isAtMost(given, 40)
  })

  it("arrives packet by packet, too, and events before an invalid one are emitted first", async () => {
    const packets: Array<ReadonlyArray<unknown>> = []
    const read = async (given: Response) => {
      for await (const packet of VendorEvents.serverSent(given, never).packets) packets.push(packet)
    }
    await read(
      response(["data: 1\n\ndata: 2\n\nda", "ta: 3\n\n", ": nothing\n\n", "data: 4\n\ndata: [DONE]\n\ndata: 5\n\n"])
    )
    assert.deepStrictEqual(packets.splice(0), [[1, 2], [3], [4]])
    const error = await read(response(["data: 1\n\ndata: {\n\ndata: 2\n\n"])).catch((error: unknown) => error)
    assert.instanceOf(error, Failure)
    assert.deepStrictEqual(packets, [[1]])
  })

  it("releases the response with the reader of its packets", async () => {
    let isCancelled = false
    const body = new ReadableStream<Uint8Array>({
      pull: (queue) => queue.enqueue(encoder.encode("data: 1\n\n")),
      cancel: () => {
        isCancelled = true
      }
    })
    for await (const _ of VendorEvents.serverSent(new Response(body), never).packets) break
    assert.isTrue(isCancelled)
  })

  it("lets all else have its turn, however much is there to be read", async () => {
    const comments = encoder.encode(": ping\n\n".repeat(8192))
    const controller = new AbortController()
    let isCancelled = false
    const body = new ReadableStream<Uint8Array>({
      pull: (queue) => queue.enqueue(comments),
      cancel: () => {
        isCancelled = true
      }
    })
    // A timer fires at all only if the reader pauses.
    setTimeout(() => controller.abort(), 20)
    for await (const _ of VendorEvents.serverSent(new Response(body), controller.signal))
      assert.fail("a comment is no event")
    assert.isTrue(isCancelled)
  })
})

describe("lines of JSON", () => {
  it("are events, the last one also without an end", async () => {
    const events: Array<unknown> = []
    const given = response(['{"a":1}\n\n', "[2", "]\r\n3"], { "content-type": "application/x-ndjson" })
    for await (const event of VendorEvents.lines(given, never)) events.push(event)
    assert.deepStrictEqual(events, [{ a: 1 }, [2], 3])
  })
})

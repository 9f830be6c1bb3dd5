/** Requests are bounded before they are parsed, on every wire and in every encoding. */
import { connect } from "node:net"
import * as zlib from "node:zlib"
import { Budget, Seed } from "@divisi/core"
import * as Effect from "effect/Effect"
import { assert, describe, expect, it } from "vitest"
import { Pieces } from "../src/http/Pieces.ts"
import * as Turns from "../src/http/Turns.ts"
import type * as RequestLog from "../src/RequestLog.ts"
import { JsonScan } from "../src/wire/JsonScan.ts"
import * as Limits from "../src/wire/Limits.ts"
import * as Steps from "../src/wire/Steps.ts"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

const question = [{ role: "user", content: "Greet" }]

/** The paths with a body, and a right one for each. */
const bodies: Readonly<Record<string, object>> = {
  "chat/completions": { model: "divisi", messages: question },
  responses: { model: "divisi", input: "Greet" },
  "responses/compact": { model: "divisi", input: "Greet" },
  "responses/input_tokens": { model: "divisi", input: "Greet" },
  messages: { model: "divisi", max_tokens: 9, messages: question },
  "messages/count_tokens": { model: "divisi", messages: question }
}

/** A right body with one more field, which is given as JSON. */
const withField = (path: string, json: string, name = "metadata"): string =>
  `${JSON.stringify(bodies[path]).slice(0, -1)},"${name}":${json}}`

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`

const listed = (count: number, item: string) => `[${Array.from({ length: count }).fill(item).join()}]`

const server = () => alone(worker("a", said("here")))

type Ask = (path: string, body: string | Buffer, headers?: Record<string, string>) => Promise<Response>

const asking =
  (url: string): Ask =>
  (path, body, headers = {}) =>
    fetch(`${url}/${path}`, { method: "POST", body: Buffer.from(body), headers })

/** The values that are beyond a limit, as JSON. */
const beyond: ReadonlyArray<readonly [what: string, json: string, status: number, words: RegExp]> = [
  ["objects in objects", nested(5_000), 400, /100 levels/],
  ["lists in lists", `${"[".repeat(5_000)}${"]".repeat(5_000)}`, 400, /100 levels/],
  ["a million lists", listed(1_000_000, "[]"), 400, /50000 values/],
  ["many numbers", listed(50_010, "1"), 400, /50000 values/],
  ["many keys", `{${Array.from({ length: 12_000 }, (_, at) => `"k${at}":1`).join()}}`, 400, /10000 keys/],
  ["many equal keys", `{${Array.from({ length: 12_000 }).fill('"k":1').join()}}`, 400, /10000 keys/],
  ["many objects with a key", listed(20_000, '{"k":1}'), 400, /50000 values/],
  ["many long texts", listed(10, JSON.stringify("a b ".repeat(240_000))), 413, /8388608 bytes, not counting inline/],
  ["a long key", `{"${"k".repeat(20_000)}":1}`, 400, /key/],
  ["a long number", "1".repeat(1_000_000), 400, /digits/],
  ["a long fraction", `0.${"1".repeat(1_000_000)}`, 400, /digits/],
  ["a long text", JSON.stringify("a b ".repeat(300_000)), 413, /A string in the request/],
  ["a text of a million escapes", `"${"\\u0041".repeat(1_000_000)}"`, 413, /A string in the request/],
  ["a large image", JSON.stringify(`data:image/png;base64,${"A".repeat(2 * 2 ** 20)}`), 413, /image/]
]

describe("a body", () => {
  for (const [what, json, status, words] of beyond) {
    it(`with ${what} is refused by each wire in its form`, () =>
      serving({ ...server(), limits: { textBytes: 2 ** 20, mediaBytes: 2 ** 20 } }, async ({ url }) => {
        const ask = asking(url)
        for (const path of Object.keys(bodies)) {
          const response = await ask(path, withField(path, json))
          const { error } = await response.json()
          assert.strictEqual(response.status, status, path)
          expect(error.message).toMatch(words)
          expect(error.type).toMatch(
            path.startsWith("messages") ? /invalid_request_error|request_too_large/ : /invalid_request/
          )
        }
      }))
  }

  it("may have 200,000 values in its conversation", () =>
    serving(server(), async ({ url }) => {
      for (const path of Object.keys(bodies)) {
        const field = path.startsWith("responses") ? "input" : "messages"
        for (const [count, status] of [
          [199_900, 200],
          [200_000, 400]
        ] as const) {
          const body = `{"model":"divisi","${field}":[{"role":"user","content":"Hi","other":${listed(count, "1")}}]}`
          const response = await asking(url)(path, body)
          const text = await response.text()
          assert.strictEqual(response.status, status, path)
          if (status === 400) expect(text).toMatch(/200000 values/)
        }
      }
    }))

  it("with very many fields is refused", () =>
    serving(server(), async ({ url }) => {
      const fields = Array.from({ length: 2_000 }, (_, at) => `"x${at}":1`).join()
      for (const path of Object.keys(bodies)) {
        const body = `${JSON.stringify(bodies[path]).slice(0, -1)},${fields}}`
        const response = await asking(url)(path, body)
        assert.strictEqual(response.status, 400)
        expect((await response.json()).error.message).toMatch(/1000 fields/)
      }
    }))

  it("may have 262,144 characters of tools in JSON texts, in all", () =>
    serving(server(), async ({ url }) => {
      const toolOf = (name: string, characters: number) =>
        JSON.stringify({ name, description: "x".repeat(characters), parameters: { type: "object" } })
      const status = async (count: number, characters: number) => {
        const tools = Array.from({ length: count }, (_, at) => toolOf(`f${at}`, characters))
        return (await asking(url)("messages", JSON.stringify({ ...bodies.messages, tools }))).status
      }
      assert.strictEqual(await status(5, 50_000), 200)
      assert.strictEqual(await status(6, 50_000), 400)
    }))

  it("may have 2,000 parts and tool calls in a message", () =>
    serving(server(), async ({ url }) => {
      const parts = (count: number) => Array.from({ length: count }, () => ({ type: "text", text: "a" }))
      const call = { id: "x", type: "function", function: { name: "f", arguments: "{}" } }
      for (const [path, content] of [
        ["chat/completions", (count: number) => ({ content: parts(count) })],
        ["messages", (count: number) => ({ content: parts(count) })],
        [
          "messages",
          (count: number) => ({ content: [{ type: "tool_result", tool_use_id: "x", content: parts(count) }] })
        ],
        ["chat/completions", (count: number) => ({ role: "assistant", tool_calls: Array(count).fill(call) })]
      ] as const) {
        const ask = (count: number) =>
          asking(url)(path, JSON.stringify({ ...bodies[path], messages: [{ role: "user", ...content(count) }] }))
        assert.strictEqual((await ask(2_000)).status, 200)
        const refused = await ask(2_001)
        assert.strictEqual(refused.status, 400)
        expect(await refused.text()).toMatch(/at most 2000 elements/)
      }
    }))

  it("within the limits is answered, however odd it is", () =>
    serving(server(), async ({ url }) => {
      const odd = [
        nested(90),
        listed(49_900, "1"),
        "1e999999",
        `-0.${"9".repeat(500)}e-400`,
        '{"a":1,"a":{"a":2},"__proto__":{"x":1}}',
        `"${"\\u0041".repeat(600_000)}"`,
        JSON.stringify(`data:image/png;base64,${"A".repeat(20 * 2 ** 20)}`),
        '"\\\\\\""',
        '"\\ud800"'
      ]
      for (const path of Object.keys(bodies)) {
        for (const json of odd) {
          const response = await asking(url)(path, withField(path, json))
          await response.arrayBuffer()
          assert.strictEqual(response.status, 200, `${path} ${json.slice(0, 60)}`)
        }
      }
    }))

  it("has the limits that the server is given", () =>
    serving({ ...server(), limits: { depth: 5, values: 50, textBytes: 100, mediaBytes: 200 } }, async ({ url }) => {
      const path = "chat/completions"
      for (const [json, status] of [
        [nested(3), 200],
        [nested(6), 400],
        [listed(20, "1"), 200],
        [listed(60, "1"), 400],
        [JSON.stringify("a b".repeat(30)), 200],
        [JSON.stringify("a b".repeat(60)), 413],
        [JSON.stringify("A".repeat(150)), 200],
        [JSON.stringify("A".repeat(250)), 413]
      ] as const) {
        assert.strictEqual((await asking(url)(path, withField(path, json))).status, status, json.slice(0, 40))
      }
    }))

  it("with 200,000 results of tools is refused, and with 20,000 read", () =>
    serving(server(), async ({ url }) => {
      const results = (count: number): Readonly<Record<string, ReadonlyArray<object>>> => ({
        "chat/completions": [
          ...question,
          { role: "assistant", tool_calls: [{ id: "x", type: "function", function: { name: "f", arguments: "{}" } }] },
          ...Array.from({ length: count }, () => ({ role: "tool", tool_call_id: "x", content: "b" }))
        ],
        "responses/input_tokens": [
          { role: "user", content: "a" },
          { type: "function_call", call_id: "x", name: "f", arguments: "{}" },
          ...Array.from({ length: count }, () => ({ type: "function_call_output", call_id: "x", output: "b" }))
        ],
        "messages/count_tokens": [
          ...question,
          { role: "assistant", content: [{ type: "tool_use", id: "x", name: "f", input: {} }] },
          ...Array.from({ length: count }, () => ({
            role: "user",
            content: [{ type: "tool_result", tool_use_id: "x", content: "b" }]
          }))
        ]
      })
      for (const [count, status] of [
        [200_000, 400],
        [10_000, 200]
      ] as const) {
        for (const [path, messages] of Object.entries(results(count))) {
          const body = {
            model: "divisi",
            max_tokens: 9,
            [path.startsWith("responses") ? "input" : "messages"]: messages
          }
          const response = await asking(url)(path, JSON.stringify(body))
          await response.arrayBuffer()
          assert.strictEqual(response.status, status, `${count} ${path}`)
        }
      }
    }))

  it("whose names or ids are long, or cannot be stored, is refused, and no line of the log is long", () => {
    const lines: Array<RequestLog.Entry> = []
    return serving({ ...server(), log: (entry) => lines.push(entry) }, async ({ url }) => {
      const ask = asking(url)
      for (const path of Object.keys(bodies)) {
        for (const model of ["m".repeat(3_000_000), "a\u0000b", "\ud800"]) {
          const response = await ask(path, JSON.stringify({ ...bodies[path], model }))
          const text = await response.text()
          assert.strictEqual(response.status, 400, path)
          assert.isBelow(text.length, 3_000)
        }
      }
      for (const [path, more] of [
        ["responses", { previous_response_id: "\u0000" }],
        ["responses", { input: [{ type: "item_reference", id: "\ud800" }] }],
        ["messages", { thread: { type: "continue", previous_message_id: "x".repeat(2_000) } }],
        ["chat/completions", { divisi: { policy: "p".repeat(100_000) } }]
      ] as const) {
        assert.strictEqual((await ask(path, JSON.stringify({ ...bodies[path], ...more }))).status, 400)
      }
      for (const line of lines) assert.isBelow(JSON.stringify(line).length, 2_000)
    })
  })
})

describe("a query", () => {
  it("that looks for what no store can have is refused", () =>
    serving(server(), async ({ url }) => {
      for (const query of ["after=%00", "after=a%00b", `after=${"a".repeat(2_000)}`, "limit=%00", "limit=1e999"]) {
        assert.strictEqual((await fetch(`${url}/runs?${query}`)).status, 400, query)
      }
      for (const path of ["runs/%00", "runs/%ED%A0%80", "responses/%00", "models/%00", "runs/a%00/events"]) {
        assert.strictEqual((await fetch(`${url}/${path}`)).status, 404, path)
      }
    }))
})

describe("an encoded body", () => {
  const body = JSON.stringify({ model: "divisi", messages: question })
  const encoders: Readonly<Record<string, (text: string | Buffer) => Buffer>> = {
    gzip: zlib.gzipSync,
    "x-gzip": zlib.gzipSync,
    deflate: zlib.deflateSync,
    br: zlib.brotliCompressSync,
    zstd: zlib.zstdCompressSync
  }
  const path = "chat/completions"

  for (const [name, encode] of Object.entries(encoders)) {
    it(`of ${name} is decompressed; one that is cut, or is none, is refused`, () =>
      serving(server(), async ({ url }) => {
        const ask = (sent: Buffer, encoding = name) => asking(url)(path, sent, { "content-encoding": encoding })
        const encoded = encode(body)
        assert.strictEqual((await ask(encoded)).status, 200)
        assert.strictEqual((await ask(encoded, ` ${name.toUpperCase()} , identity`)).status, 200)
        assert.strictEqual((await ask(encoded.subarray(0, encoded.length - 12))).status, 400)
        assert.strictEqual((await ask(Buffer.from(`x${body}`))).status, 400)
        assert.strictEqual((await ask(Buffer.alloc(0))).status, 400)
      }))

    it(`of ${name} is refused where it becomes too large, also within another`, () =>
      serving({ ...server(), maxBodyBytes: 2 ** 20 }, async ({ url }) => {
        const bomb = encode(Buffer.alloc(2 ** 26, " "))
        const inner = asking(url)(path, bomb, { "content-encoding": name })
        assert.strictEqual((await inner).status, 413)
        const outer = asking(url)(path, zlib.gzipSync(bomb), { "content-encoding": `${name}, gzip` })
        assert.strictEqual((await outer).status, 413)
      }))
  }

  it("of deflate without its header, and of several encodings, is decompressed", () =>
    serving(server(), async ({ url }) => {
      const ask = (sent: Buffer, encoding: string) => asking(url)(path, sent, { "content-encoding": encoding })
      assert.strictEqual((await ask(zlib.deflateRawSync(body), "deflate")).status, 200)
      assert.strictEqual((await ask(zlib.gzipSync(zlib.brotliCompressSync(body)), "br, gzip")).status, 200)
      const four = await ask(Buffer.from(body), "gzip, gzip, gzip, gzip")
      assert.strictEqual(four.status, 415)
      const unknown = await ask(Buffer.from(body), "compress")
      assert.strictEqual(unknown.status, 415)
      expect((await unknown.json()).error.message).toMatch(/"compress".*gzip, deflate, br or zstd/)
    }))

  it("is read on every wire, and its limits are those of what it holds", () =>
    serving(server(), async ({ url }) => {
      for (const path of Object.keys(bodies)) {
        const ask = (sent: string) => asking(url)(path, zlib.gzipSync(sent), { "content-encoding": "gzip" })
        assert.strictEqual((await ask(JSON.stringify(bodies[path]))).status, 200, path)
        assert.strictEqual((await ask(withField(path, nested(5_000)))).status, 400, path)
      }
    }))

  it("is decompressed also if its client waits for 100 Continue", () =>
    serving(server(), async ({ port }) => {
      const sent = zlib.gzipSync(body)
      const socket = connect(port, "127.0.0.1")
      const answer = new Promise<string>((resolve) => {
        let text = ""
        socket.on("data", (data) => {
          text += String(data)
          if (text.includes("100 Continue") && !text.includes("200 OK")) socket.write(sent)
        })
        socket.on("close", () => resolve(text))
      })
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\nconnection: close\r\n` +
          `content-encoding: gzip\r\ncontent-length: ${sent.length}\r\n\r\n`
      )
      expect(await answer).toMatch(/HTTP\/1\.1 200 OK/)
    }))
})

describe("a large body", () => {
  /** Base64 without a repetition, so that each part of it has one place. */
  const pictureOf = (seed: number): string => {
    const bytes = Buffer.alloc(3 * 2 ** 20)
    for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32LE(Seed.derive(seed, "picture", at) >>> 0, at)
    return bytes.toString("base64")
  }
  const pictures = [pictureOf(1), pictureOf(2)]
  const urls = pictures.map((data) => `data:image/png;base64,${data}`)

  const withPictures: Readonly<Record<string, object>> = {
    "chat/completions": {
      model: "divisi",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "日本 1" },
            { type: "image_url", image_url: { url: urls[0] } },
            { type: "text", text: "\\u65e5 2" },
            { type: "image_url", image_url: { url: urls[1] } }
          ]
        }
      ]
    },
    responses: {
      model: "divisi",
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "日本 1" },
            { type: "input_image", image_url: urls[0] },
            { type: "input_text", text: "\\u65e5 2" },
            { type: "input_image", image_url: urls[1] }
          ]
        }
      ]
    },
    messages: {
      model: "divisi",
      max_tokens: 9,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "日本 1" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: pictures[0] } },
            { type: "text", text: "\\u65e5 2" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: pictures[1] } }
          ]
        }
      ]
    }
  }

  for (const [path, body] of Object.entries(withPictures)) {
    it(`of ${path} gives its worker the pictures as they were sent, also with escapes of PHP`, () => {
      const a = worker("a", said("here"))
      return serving(alone({ ...a, capabilities: { ...a.capabilities, images: true } }), async ({ url }) => {
        const json = JSON.stringify(body)
        for (const sent of [json, json.replaceAll("/", "\\/")]) {
          const response = await asking(url)(path, sent)
          assert.strictEqual(response.status, 200, await response.text())
          const content = a.calls.at(-1)!.messages.findLast(({ role }) => role === "user")!.content
          const data = typeof content === "string" ? [] : content.map((part) => ("data" in part ? part.data : part))
          assert.lengthOf(data, 4)
          assert.isTrue(data[1] === pictures[0] && data[3] === pictures[1])
          expect(data[0]).toEqual({ type: "text", text: "日本 1" })
          expect(data[2]).toEqual({ type: "text", text: "\\u65e5 2" })
        }
      })
    })
  }

  it("that comes in pieces of a few bytes is read as it is", () => {
    const a = worker("a", said("here"))
    return serving(alone(a), async ({ port }) => {
      const content = "日本語 ".repeat(2_000)
      const bytes = Buffer.from(JSON.stringify({ model: "divisi", messages: [{ role: "user", content }] }))
      const chunks = Array.from({ length: Math.ceil(bytes.length / 5) }, (_, at) => {
        const chunk = bytes.subarray(at * 5, at * 5 + 5)
        return Buffer.concat([Buffer.from(`${chunk.length}\r\n`), chunk, Buffer.from("\r\n")])
      })
      const socket = connect(port, "127.0.0.1")
      const answer = new Promise<string>((resolve) => {
        let text = ""
        socket.on("data", (data) => (text += String(data))).on("close", () => resolve(text))
      })
      const head = "host: localhost\r\nconnection: close\r\ntransfer-encoding: chunked"
      socket.write(`POST /v1/chat/completions HTTP/1.1\r\n${head}\r\n\r\n`)
      socket.write(Buffer.concat([...chunks, Buffer.from("0\r\n\r\n")]))
      expect(await answer).toMatch(/200 OK/)
      assert.strictEqual(a.calls[0]!.messages.at(-1)!.content, content)
    })
  })

  it("is stored in blocks, however small its pieces are", () => {
    const pieces = new Pieces()
    const text = "日本".repeat(100_000)
    for (const byte of Buffer.from(text)) pieces.add(Buffer.of(byte))
    assert.strictEqual(pieces.size, 600_000)
    assert.isAtMost(pieces.blocks, 10)
    assert.isTrue(Steps.all(pieces.text(pieces.slices(0, pieces.size))) === text)
  })

  it.each(["a".repeat(2_000_000), `${"a".repeat(2_000_000)}日`, "é😀日".repeat(100_000)])(
    "is decoded in steps as it is at once: text %#",
    (text) => {
      const bytes = Buffer.from(text)
      for (const whole of [bytes, Buffer.concat([bytes, Buffer.of(0xe6, 0x97)])]) {
        const pieces = new Pieces()
        for (let at = 0; at < whole.length; at += 77_777) pieces.add(whole.subarray(at, at + 77_777))
        assert.isTrue(Steps.all(pieces.text(pieces.slices(0, pieces.size))) === whole.toString())
      }
    }
  )

  it("is read one piece in a turn of the event loop, also where many come at once", async () => {
    const order: Array<string> = []
    const all = Array.from(
      { length: 3 },
      (_, at) => new Promise<void>((resolve) => Turns.next(() => resolve(void order.push(`piece ${at}`))))
    )
    const turn = (at: number): void => {
      order.push(`turn ${at}`)
      if (at < 2) setImmediate(turn, at + 1)
    }
    setImmediate(turn, 0)
    await Promise.all(all)
    assert.deepStrictEqual(order.slice(0, 5), ["piece 0", "turn 0", "piece 1", "turn 1", "piece 2"])
  })
})

describe("a WebSocket", () => {
  /** Opens one without a client's library, so that frames may stay unfinished. */
  const opened = (port: number, owner: string) => {
    const socket = connect(port, "127.0.0.1").on("error", () => {})
    const received: Array<Buffer> = []
    socket.on("data", (data) => received.push(data))
    const key = "dGhlIHNhbXBsZSBub25jZQ=="
    socket.write(
      `GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nauthorization: ${owner}\r\nupgrade: websocket\r\n` +
        `connection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n\r\n`
    )
    const closed = new Promise<Buffer>((resolve) => socket.on("close", () => resolve(Buffer.concat(received))))
    return { socket, closed }
  }

  /** The head of a masked text frame of so many bytes; the mask changes nothing. */
  const headOf = (bytes: number) => {
    const head = Buffer.alloc(14)
    head.writeUInt8(0x81, 0)
    head.writeUInt8(0x80 + 127, 1)
    head.writeBigUInt64BE(BigInt(bytes), 2)
    return head
  }

  const authenticate = (headers: Readonly<Record<string, string | undefined>>) =>
    Effect.succeed({ owner: headers.authorization ?? "" })

  it("is closed with a specific code if its frame exceeds the limit", () =>
    serving({ ...server(), authenticate, limits: { frameBytes: 1_000 } }, async ({ port }) => {
      const { closed, socket } = opened(port, "alice")
      socket.write(headOf(1_001))
      // The last frame is a close with code 1009.
      expect((await closed).toString("hex")).toMatch(/88..03f1/)
    }))

  it("counts the bytes of unfinished frames, and is closed if its caller has too many in flight", () =>
    serving({ ...server(), authenticate, limits: { callerInFlightBytes: 2 ** 20 } }, async ({ port, url }) => {
      const all = Array.from({ length: 4 }, () => opened(port, "mallory"))
      for (const { socket } of all) {
        socket.write(headOf(8_000_000))
        socket.write(Buffer.alloc(400_000, "A"))
      }
      expect((await Promise.race(all.map(({ closed }) => closed))).toString("hex")).toMatch(/88..03f5/)
      const body = withField("chat/completions", JSON.stringify("A".repeat(900_000)))
      const response = await asking(url)("chat/completions", body, { authorization: "alice" })
      assert.strictEqual(response.status, 200)
      for (const { socket } of all) socket.destroy()
    }))

  it("leaves no bytes in flight, even if its client sends more after it was closed", () => {
    const limits = { frameBytes: 1_000, callerInFlightBytes: 2 ** 20 }
    return serving({ ...server(), authenticate, limits }, async ({ port, url }) => {
      for (let count = 0; count < 8; count++) {
        const { closed, socket } = opened(port, "mallory")
        socket.write(headOf(2_000_000))
        for (let piece = 0; piece < 8; piece++) socket.write(Buffer.alloc(100_000, "A"))
        await closed
      }
      const body = withField("chat/completions", JSON.stringify("A".repeat(1_000_000)))
      assert.strictEqual((await asking(url)("chat/completions", body, { authorization: "mallory" })).status, 200)
      const metrics = await (await fetch(`${url.replace("/v1", "")}/metrics`)).text()
      expect(metrics).toMatch(/^divisi_request_bytes_in_flight 0$/m)
    })
  })
})

describe("bytes in flight", () => {
  const limits = { callerInFlightBytes: 2 ** 20, inFlightBytes: 4 * 2 ** 20 }
  const authenticate = (headers: Readonly<Record<string, string | undefined>>) =>
    Effect.succeed({ owner: headers.authorization ?? "" })

  /** Sends the beginning of a body, and keeps it open. */
  const begun = (port: number, owner: string, bytes: number) => {
    const socket = connect(port, "127.0.0.1").on("error", () => {})
    const closed = new Promise<string>((resolve) => {
      let text = ""
      socket.on("data", (data) => {
        text += String(data)
        if (text.includes("\r\n\r\n")) resolve(text)
      })
      socket.on("close", () => resolve(text))
    })
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: ${owner}\r\ncontent-length: 4000000\r\n\r\n`
    )
    const written = new Promise<void>((resolve) => socket.write(`{"a":"${"A".repeat(bytes)}`, () => resolve()))
    return { socket, closed, written }
  }

  it("are bounded for each caller and for all; unfinished bodies count, and small requests are answered", () =>
    serving({ ...server(), authenticate, limits }, async ({ port, url }) => {
      const ask = (owner: string, size: number) => {
        const body = withField("chat/completions", JSON.stringify("A".repeat(size)))
        return asking(url)("chat/completions", body, { authorization: owner })
      }
      const left: Array<ReturnType<typeof begun>> = []
      const inFlight = async () => {
        const text = await (await fetch(`${url.replace("/v1", "")}/metrics`)).text()
        return Number(/^divisi_request_bytes_in_flight (\d+)/m.exec(text)?.[1])
      }
      const fill = async (owner: string) => {
        left.push(begun(port, owner, 900_000))
        while ((await inFlight()) < left.length * 900_000) await left.at(-1)!.written
      }
      await fill("mallory")
      assert.strictEqual((await ask("mallory", 500_000)).status, 429)
      assert.strictEqual((await ask("alice", 500_000)).status, 200)
      assert.strictEqual((await ask("mallory", 1_000)).status, 200)
      for (const owner of ["eve", "trudy", "oscar"]) await fill(owner)
      const refused = await ask("alice", 700_000)
      assert.strictEqual(refused.status, 503)
      assert.isNotNull(refused.headers.get("retry-after"))
      assert.strictEqual((await ask("bob", 1_000)).status, 200)
      for (const { socket } of left) socket.destroy()
      for (let status = 0; status !== 200; ) status = (await ask("mallory", 500_000)).status
    }))
})

describe("a caller whose budget is spent", () => {
  it("is refused before its body is read", () => {
    const ledger = Budget.make({ costUsd: 1 })
    Effect.runSync(ledger.charge(1))
    const authenticate = () => Effect.succeed({ owner: "poor", ledger })
    return serving({ ...server(), authenticate }, async ({ url }) => {
      for (const path of ["chat/completions", "responses", "messages"]) {
        const response = await asking(url)(path, `{"a":${nested(5_000)}`)
        assert.strictEqual(response.status, 429, path)
        expect((await response.json()).error.message).toMatch(/budget/)
      }
    })
  })

  it("is refused for any of its accounts, but not for one that others have made room in", () => {
    const spent = Budget.make({ calls: 0 })
    const stale = {
      ...Budget.make({ calls: 1 }),
      limits: { calls: 0 },
      standing: Effect.succeed({ total: { calls: -1 } })
    }
    const run = (accounts: ReadonlyArray<Budget.Ledger>) =>
      serving({ ...server(), authenticate: () => Effect.succeed({ owner: "a", accounts }) }, async ({ url }) => {
        const response = await asking(url)("messages", JSON.stringify(bodies.messages))
        return response.status
      })
    return Promise.all([run([Budget.make({ calls: 9 }), spent]), run([stale as never])]).then((statuses) =>
      assert.deepStrictEqual(statuses, [429, 200])
    )
  })
})

describe("the scan of a body", () => {
  it("leaves what is not JSON to the parser, whose message reports it", () => {
    for (const text of ["a: b", "--x\r\ncontent-type: text/plain\r\n\r\nHm\r\n--x--", '{"a":1}: 2', "}}: 1", "]:"]) {
      const problem = new JsonScan(Limits.defaults).push(Buffer.from(text))
      assert.isUndefined(problem?.message, text)
    }
  })

  it("says the same however the body is cut into pieces", () => {
    const limits = { ...Limits.defaults, depth: 4, values: 12, textBytes: 9, mediaBytes: 40 }
    const words = ['"', "\\", "a", "[", "]", "{", "}", ",", ":", " ", "é", "\\\\", '\\"', "AAAAAAAAAA", "1"]
    for (let seed = 1; seed <= 2_000; seed += 1) {
      const draw = Seed.draw(seed)
      const text = Array.from({ length: Seed.below(draw, 60) }, () => Seed.pick(draw, words)).join("")
      const bytes = Buffer.from(text)
      const whole = new JsonScan(limits).push(bytes)
      const scan = new JsonScan(limits)
      let found: ReturnType<JsonScan["push"]>
      for (let at = 0; at < bytes.length && found === undefined; ) {
        const size = 1 + Seed.below(draw, 5)
        found = scan.push(bytes.subarray(at, at + size))
        at += size
      }
      assert.strictEqual(found?.kind, whole?.kind, `seed ${seed}: ${text}`)
    }
  })

  it("counts as a parser does", () => {
    const depthOf = (value: unknown): number =>
      typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0
    const made = (draw: Seed.Draw, levels: number): unknown => {
      const kind = Seed.below(draw, levels > 0 ? 5 : 3)
      if (kind === 0) return Seed.below(draw, 100)
      if (kind === 1) return Seed.pick(draw, ["\\", '"', '\\"', "é\\", "[{", ""])
      if (kind === 2) return null
      const items = Array.from({ length: Seed.below(draw, 4) }, () => made(draw, levels - 1))
      return kind === 3 ? items : Object.fromEntries(items.map((item, at) => [`${at}"\\`, item]))
    }
    for (let seed = 1; seed <= 1_000; seed += 1) {
      const value = made(Seed.draw(seed), 6)
      const bytes = Buffer.from(JSON.stringify(value))
      const problem = (depth: number) => new JsonScan({ ...Limits.defaults, depth }).push(bytes)
      const depth = depthOf(value)
      assert.isUndefined(problem(depth), `seed ${seed}`)
      if (depth > 0) assert.isDefined(problem(depth - 1), `seed ${seed}`)
    }
  })
})

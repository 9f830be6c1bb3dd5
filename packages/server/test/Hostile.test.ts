import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { request } from "node:http"
import { connect, type Socket } from "node:net"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import * as HostileRequests from "./hostileRequests.ts"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

/** A request that no client's library would send; its status. */
const raw = (url: string, headers: Readonly<Record<string, string>>, body = ""): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method: body === "" ? "GET" : "POST", headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on("error", reject)
    sent.end(body)
  })

/** Writes requests on one connection, and returns all that comes back until it closes or has so many responses. */
const written = (port: number, text: string, responses: number): Promise<{ text: string; isClosed: boolean }> =>
  new Promise((resolve) => {
    let read = ""
    const socket = connect(port, "127.0.0.1", () => socket.write(text))
    socket.on("data", (piece) => {
      read += piece
      if (read.split("HTTP/1.1 ").length <= responses) return
      resolve({ text: read, isClosed: false })
      socket.destroy()
    })
    socket.on("error", () => {}).on("close", () => resolve({ text: read, isClosed: true }))
  })

const paths = ["chat/completions", "messages", "messages/count_tokens", "responses"]

const bodies: ReadonlyArray<string> = [
  "",
  "null",
  "[]",
  "{",
  '"text"',
  "{}",
  '{"model":1}',
  '{"model":"divisi"}',
  '{"model":"divisi","messages":{}}',
  '{"model":"divisi","messages":[]}',
  '{"model":"divisi","messages":[null]}',
  '{"model":"divisi","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:x"}}]}]}',
  '{"model":"divisi","messages":[{"role":"assistant","tool_calls":[{}]}]}',
  '{"model":"divisi","messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":" "}}]}',
  '{"model":"divisi","n":2,"messages":[{"role":"user","content":"a"}]}',
  '{"model":"__proto__","messages":[{"role":"user","content":"a"}]}',
  '{"model":"divisi:-","divisi":7,"messages":[{"role":"user","content":"a"}]}',
  '{"__proto__":{"model":"divisi"},"constructor":1}',
  '{"model":"divisi","input":7}',
  `{"model":"divisi","messages":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
  "\\u0000\\uffff"
]

describe("malformed requests", () => {
  it("returns a 4xx status, and the server keeps serving", () =>
    serving(alone(worker("a", said("here"))), async ({ client, url }) => {
      for (const path of paths) {
        for (const body of bodies) {
          const response = await fetch(`${url}/${path}`, { method: "POST", body })
          const { error } = await response.json()
          // A request that cannot be answered can still be counted.
          const isCounted = path === "messages/count_tokens" && response.status === 200
          const isRefused = response.status >= 400 && response.status < 500 && typeof error?.message === "string"
          assert.isTrue(isCounted || isRefused, `${response.status} ${path} ${body.slice(0, 80)}`)
        }
      }
      for (const path of ["models/%E0%A4%A", "models/%ff", "runs/x/y/z", "runs?limit=-1", "nothing"]) {
        const { status } = await fetch(`${url}/${path}`)
        assert.isTrue(status >= 400 && status < 500, path)
      }
      const answer = await client.chat.completions.create({
        model: "divisi",
        messages: [{ role: "user", content: "Still?" }]
      })
      assert.strictEqual(answer.choices[0]?.message.content, "here")
    }))

  it("is refused or answered, whatever is changed in what clients send", () =>
    serving(alone(worker("a", said("here"))), async ({ url }) => {
      for (let seed = 1; seed <= 300; seed += 1) {
        const { body, headers, method, path } = HostileRequests.make(seed)
        const response = await fetch(new URL(path, url), { method, headers, body: Buffer.from(body) })
        assert.isFalse(HostileRequests.isFault(response.status, await response.text()), `seed ${seed}`)
      }
    }))

  it("is not read where it is too long", () =>
    serving({ ...alone(worker("a", said("here"))), maxBodyBytes: 1_000 }, async ({ url }) => {
      const body = JSON.stringify({ model: "divisi", messages: [{ role: "user", content: "x".repeat(2_000) }] })
      assert.strictEqual((await fetch(`${url}/chat/completions`, { method: "POST", body })).status, 413)
    }))

  it("is not taken from a web page, or by another name, where there are no keys", () =>
    serving(alone(worker("a", said("here"))), async ({ url }) => {
      const body = '{"model":"divisi","messages":[{"role":"user","content":"a"}]}'
      const chat = `${url}/chat/completions`
      assert.strictEqual(await raw(chat, { origin: "https://evil.example" }, body), 403)
      assert.strictEqual(await raw(chat, { host: "evil.example" }, body), 403)
      assert.strictEqual(await raw(`${url}/models`, { host: "evil.example:80" }), 403)
      assert.strictEqual(await raw(`${url}/runs`, { host: "evil.example" }), 403)
      assert.strictEqual(await raw(chat, { origin: "http://localhost:3000" }, body), 403)
      assert.strictEqual(await raw(chat, {}, body), 200)
    }))

  it("is refused if its URL cannot be read", () =>
    serving(alone(worker("a", said("here"))), async ({ port }) => {
      for (const head of [
        "GET http://[/v1/runs",
        "POST http://[/v1/chat/completions",
        "GET //[",
        "DELETE http://a:b:c"
      ]) {
        const { text } = await written(port, `${head} HTTP/1.1\r\nhost: localhost\r\n\r\n`, 1)
        assert.match(text, /^HTTP\/1\.1 4/, head)
      }
    }))

  it("is answered if some are pipelined, and closes the connection if very many are", () =>
    serving(alone(worker("a", said("here"))), async ({ port, url }) => {
      const one = "GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n"
      const few = await written(port, one.repeat(20), 20)
      assert.lengthOf(few.text.match(/HTTP\/1\.1 200/g) ?? [], 20)
      assert.isTrue((await written(port, one.repeat(3_000), 3_000)).isClosed)
      assert.strictEqual((await fetch(`${url}/models`)).status, 200)
    }))

  it("is not even parsed after its connection was closed", () =>
    serving(alone(worker("a", said("here"))), async ({ port }) => {
      let parsed = 0
      const count = (message: unknown) => {
        if ((message as { readonly socket: Socket }).socket.localPort === port) parsed++
      }
      subscribe("http.server.request.start", count)
      assert.isTrue((await written(port, "GET / HTTP/1.1\r\nHost:a\r\n\r\n".repeat(2_000), 2_000)).isClosed)
      unsubscribe("http.server.request.start", count)
      assert.isBelow(parsed, 2_000)
    }))

  it("is not read where its headers are too long", () =>
    serving(alone(worker("a", said("here"))), async ({ url }) => {
      assert.strictEqual(await raw(`${url}/models`, { "x-long": "x".repeat(40_000) }), 431)
    }))

  it("finds so many connections, and no more", () =>
    serving({ ...alone(worker("a", said("here"))), maxConnections: 3 }, async ({ port }) => {
      const ends: Array<Promise<unknown>> = []
      const open = () =>
        new Promise<Socket>((resolve) => {
          const socket = connect(port, "127.0.0.1", () => resolve(socket)).on("error", () => {})
          ends.push(new Promise((end) => socket.once("close", () => end(socket))))
        })
      const sockets = [await open(), await open(), await open(), await open()]
      // The one too many is closed at once; the others can still be used.
      assert.strictEqual(await Promise.race(ends), sockets[3])
      const [first, second] = sockets
      second!.destroy()
      const answer = new Promise<string>((resolve) => first!.once("data", (data) => resolve(String(data))))
      first!.write("GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n")
      assert.match(await answer, /^HTTP\/1\.1 200 /)
      for (const socket of sockets) socket.destroy()
    }))

  for (const [part, head] of [
    ["headers", "POST /v1/responses HTTP/1.1\r\nhost: localhost\r\nx-slow: "],
    ["a body", "POST /v1/responses HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\n"]
  ] as const) {
    it(`is not waited for while ${part} comes drop by drop, and others are answered meanwhile`, () =>
      serving({ ...alone(worker("a", said("here"))), requestMillis: 300 }, async ({ client, port }) => {
        const socket = connect(port, "127.0.0.1").on("error", () => {})
        let answer = ""
        socket.on("data", (data) => {
          answer += String(data)
        })
        const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()))
        socket.write(head)
        const drops = setInterval(() => socket.write("a"), 20)
        const { output_text } = await client.responses.create({ model: "divisi", input: "Who?" })
        assert.strictEqual(output_text, "here")
        await closed
        clearInterval(drops)
        assert.match(answer, /^HTTP\/1\.1 408 /)
      }))
  }

  it("is not shown to pages of other origins, also where there are keys", () =>
    serving(
      { ...alone(worker("a", said("here"))), authenticate: () => Effect.succeed({ owner: "me" }) },
      async ({ url }) => {
        const headers = { origin: "https://evil.example", "access-control-request-method": "POST" }
        const body = '{"model":"divisi","messages":[{"role":"user","content":"a"}]}'
        for (const [method, path] of [
          ["OPTIONS", "/chat/completions"],
          ["OPTIONS", "/messages"],
          ["POST", "/chat/completions"],
          ["GET", "/models"],
          ["GET", "/runs"]
        ] as const) {
          const sent = { method, headers, ...(method === "POST" && { body }) }
          const response = await fetch(`${url}${path}`, sent)
          await response.text()
          const allowed = [...response.headers.keys()].filter((name) => name.startsWith("access-control-"))
          assert.deepStrictEqual(allowed, [], `${method} ${path}`)
        }
      }
    ))
})

/** Access to a server without keys: programs on this machine, and the pages that an option names. */
import { request } from "node:http"
import { connect } from "node:net"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import type { NodeServer } from "../src/index.ts"
import { serving } from "./serving.ts"

const options = (): NodeServer.Options => ({ pool: WorkerPool.makeUnsafe([ScriptedWorker.echo("a")]) })

const body = '{"model":"worker/a","messages":[{"role":"user","content":"a"}]}'

interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
}

/** Sends any headers, those included that `fetch` does not let through. */
const send = (url: URL, method: string, headers: Readonly<Record<string, string>>): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { "content-type": "text/plain", ...headers } }, (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (piece) => {
        text += piece
      })
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }))
    })
    sent.on("error", reject)
    sent.end(method === "POST" ? body : undefined)
  })

/** The first line of the response to an upgrade. */
const upgrade = (port: number, headers: Readonly<Record<string, string>>): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      const all = {
        host: `127.0.0.1:${port}`,
        connection: "upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        ...headers
      }
      const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.write(`GET /v1/responses HTTP/1.1\r\n${lines.join("")}\r\n`)
    })
    socket.on("error", reject)
    socket.once("data", (data) => {
      resolve(String(data).split("\r\n", 1)[0] ?? "")
      socket.destroy()
    })
  })

const endpoints = [
  ["POST", "/v1/chat/completions"],
  ["POST", "/v1/responses"],
  ["POST", "/v1/messages"],
  ["POST", "/v1/messages/count_tokens"],
  ["POST", "/v1/responses/compact"],
  ["POST", "/v1/responses/input_tokens"],
  ["POST", "/v1/runs/x/rating"],
  ["GET", "/v1/responses"],
  ["GET", "/v1/responses/x"],
  ["DELETE", "/v1/responses/x"],
  ["GET", "/v1/models"],
  ["GET", "/v1/runs"],
  ["GET", "/metrics"],
  ["GET", "/openapi.json"],
  ["GET", "/health/live"],
  ["GET", "/health/ready"],
  ["GET", "/nothing"],
  ["OPTIONS", "/v1/chat/completions"]
] as const

const refused: ReadonlyArray<Readonly<Record<string, string>>> = [
  { origin: "http://localhost:3000" },
  { origin: "http://127.0.0.1:8080" },
  { origin: "http://[::1]" },
  { origin: "null" },
  { origin: "" },
  { origin: "file://" },
  { origin: "https://evil.example" },
  { "sec-fetch-site": "same-site" },
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-origin" },
  { "x-forwarded-for": "203.0.113.9" },
  { "x-forwarded-host": "localhost" },
  { "x-forwarded-proto": "https" },
  { forwarded: "for=203.0.113.9" },
  { via: "1.1 proxy" },
  { "x-real-ip": "203.0.113.9" },
  { "x-client-ip": "203.0.113.9" },
  { "true-client-ip": "203.0.113.9" },
  { "x-nf-client-connection-ip": "203.0.113.9" },
  { "x-remote-addr": "203.0.113.9" },
  { "cf-connecting-ip": "203.0.113.9" },
  { "x-original-forwarded-for": "203.0.113.9" },
  { "x-envoy-external-address": "203.0.113.9" },
  { "tailscale-user-login": "a@example.com" }
]

describe("a server without keys", () => {
  it("refuses pages and proxies at every endpoint, and says how to allow them", () =>
    serving(options(), async ({ port }) => {
      for (const [method, path] of endpoints) {
        for (const headers of refused) {
          const { headers: of, status, text } = await send(new URL(path, `http://127.0.0.1:${port}`), method, headers)
          const name = `${method} ${path} ${JSON.stringify(headers)}`
          assert.strictEqual(status, 403, name)
          assert.match(text, /--allow-origin|divisi key make/, name)
          assert.notMatch(Object.keys(of).join(" "), /access-control/, name)
        }
      }
    }))

  it("refuses their WebSockets", () =>
    serving(options(), async ({ port }) => {
      for (const headers of refused) assert.match(await upgrade(port, headers), / 403 /, JSON.stringify(headers))
      assert.match(await upgrade(port, {}), / 101 /)
    }))

  it("answers programs, a person's browser, and requests that carry a trace", () =>
    serving(options(), async ({ port }) => {
      for (const headers of [
        {},
        { "sec-fetch-site": "none" },
        { "sec-fetch-mode": "cors" },
        { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "x-amzn-trace-id": "Root=1" },
        { "http-referer": "https://app.example", "x-title": "app", "x-client-request-id": "1" },
        { host: `localhost:${port}` }
      ]) {
        const url = new URL("/v1/chat/completions", `http://127.0.0.1:${port}`)
        assert.strictEqual((await send(url, "POST", headers)).status, 200, JSON.stringify(headers))
      }
    }))

  it("answers the pages that it names, and tells browsers so", () =>
    serving({ ...options(), origins: ["http://localhost:3000/", "vscode-file://vscode-app"] }, async ({ port }) => {
      const chat = new URL("/v1/chat/completions", `http://127.0.0.1:${port}`)
      const page = { origin: "http://localhost:3000", "sec-fetch-site": "same-site" }
      for (const [method, path] of endpoints.slice(0, 3)) {
        const asked = { "access-control-request-method": "POST", "access-control-request-headers": "content-type" }
        const before = await send(new URL(path, chat), "OPTIONS", { ...page, ...asked })
        assert.strictEqual(before.status, 204)
        assert.strictEqual(before.headers["access-control-allow-origin"], page.origin)
        assert.strictEqual(before.headers["access-control-allow-headers"], "content-type")
        const answer = await send(new URL(path, chat), method, page)
        assert.strictEqual(answer.headers["access-control-allow-origin"], page.origin, path)
      }
      assert.strictEqual((await send(chat, "POST", page)).status, 200)
      assert.strictEqual((await send(chat, "POST", { origin: "vscode-file://vscode-app" })).status, 200)
      assert.match(await upgrade(port, page), / 101 /)
      for (const origin of ["http://localhost:3001", "https://localhost:3000", "http://localhost:3000.evil.example"]) {
        assert.strictEqual((await send(chat, "POST", { ...page, origin })).status, 403, origin)
      }
      assert.strictEqual((await send(chat, "POST", { ...page, "x-forwarded-for": "203.0.113.9" })).status, 403)
    }))
})

describe("a server with keys", () => {
  it("takes requests of proxies, and answers health checks from any address", () =>
    serving({ ...options(), authenticate: () => Effect.succeed({ owner: "me" }) }, async ({ port }) => {
      const behind = { host: "divisi.example.com", "x-forwarded-for": "203.0.113.9", "sec-fetch-site": "cross-site" }
      for (const [method, path] of [
        ["POST", "/v1/chat/completions"],
        ["GET", "/health/ready"],
        ["GET", "/openapi.json"]
      ] as const) {
        assert.strictEqual((await send(new URL(path, `http://127.0.0.1:${port}`), method, behind)).status, 200, path)
      }
    }))
})

/** Clients that offer another protocol: the HTTP client of the JDK offers HTTP/2 with each request. */
import { once } from "node:events"
import * as net from "node:net"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

const offer = ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEAAEAAAAIAAAAB"]

const body = JSON.stringify({ model: "divisi", messages: [{ role: "user", content: "Wie ist es in Köln?" }] })

const chunked = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\n\r\n`

/** The bodies of a request, as Java writes them: its head and its body each in a packet, or both in one. */
const requests: Readonly<Record<string, (lines: ReadonlyArray<string>) => ReadonlyArray<string>>> = {
  "a length, in one packet": (lines) => [
    [...lines, `Content-Length: ${Buffer.byteLength(body)}`, "", body].join("\r\n")
  ],
  "a length, in two packets": (lines) => [
    [...lines, `Content-Length: ${Buffer.byteLength(body)}`, "", ""].join("\r\n"),
    body
  ],
  chunks: (lines) => [[...lines, "Transfer-Encoding: chunked", "", ""].join("\r\n"), chunked(body)]
}

/** Sends packets on one connection, twice, and gives both answers. */
const exchange = async (port: number, packets: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const socket = net.connect(port, "127.0.0.1")
  await once(socket, "connect")
  const answers: Array<string> = []
  let text = ""
  socket.setEncoding("utf8").on("data", (piece: string) => {
    text += piece
  })
  for (let turn = 0; turn < 2; turn += 1) {
    for (const packet of packets) await new Promise<void>((resolve) => socket.write(packet, () => resolve()))
    while (!/\r\n\r\n[\s\S]*\}$/.test(text)) await once(socket, "data")
    answers.push(text)
    text = ""
  }
  socket.destroy()
  return answers
}

describe("a request that offers HTTP/2", () => {
  it.each(Object.keys(requests))("is answered by HTTP/1.1: with %s", (name) => {
    const a = worker("a", said("It is fine."))
    return serving(alone(a), async ({ port }) => {
      const head = [
        "POST /v1/chat/completions HTTP/1.1",
        `Host: 127.0.0.1:${port}`,
        "Content-Type: application/json",
        ...offer
      ]
      for (const answer of await exchange(port, requests[name]!(head))) {
        assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
        assert.include(answer, "It is fine.")
      }
      assert.deepStrictEqual(
        a.calls.map(({ messages }) => messages.at(-1)?.content),
        ["Wie ist es in Köln?", "Wie ist es in Köln?"]
      )
    })
  })

  const orders = {
    "before one without": [true, false],
    "after one without": [false, true],
    "one after another": [true, true, true]
  }
  it.each(Object.entries(orders))("is answered if it is pipelined: %s", (_, order) =>
    serving(alone(worker("a", said("It is fine."))), async ({ port }) => {
      const requests = order.map((isOffered) =>
        ["GET /v1/models HTTP/1.1", "Host: localhost", ...(isOffered ? offer : []), "", ""].join("\r\n")
      )
      const socket = net.connect(port, "127.0.0.1")
      let text = ""
      socket.setEncoding("utf8").on("data", (piece: string) => {
        text += piece
      })
      socket.write(requests.join(""))
      while (text.split("HTTP/1.1 200 OK").length <= order.length) await once(socket, "data")
      socket.destroy()
    })
  )
})

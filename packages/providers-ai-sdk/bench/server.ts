/**
 * The server of the bench, a process of its own so that its work is not counted: it answers every request with the same
 * stream, a few events to a packet, and prints its port.
 */
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { OpenAiChat, Script } from "@divisi/testkit/providers"

const texts = Array.from({ length: Number(process.argv[2] ?? 60) }, (_, index) => `token ${index} `)
const { closing, deltas, opening } = OpenAiChat.dialect.stream(Script.answer(texts, { noise: false }), "model-1")
const events = [...opening, ...deltas, ...closing]
const packets = Array.from({ length: Math.ceil(events.length / 4) }, (_, index) =>
  Buffer.from(events.slice(index * 4, index * 4 + 4).join(""))
)

const server = http.createServer((request, response) => {
  request.resume()
  response.writeHead(200, { "content-type": "text/event-stream" })
  let next = 0
  const write = () => {
    if (response.destroyed) return
    response.write(packets[next])
    next += 1
    if (next < packets.length) setImmediate(write)
    else response.end()
  }
  request.on("end", write)
})

server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port))
process.on("disconnect", () => process.exit())

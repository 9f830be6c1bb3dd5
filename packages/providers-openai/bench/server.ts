/**
 * The server of the bench, a process of its own so that its work is not counted: it answers every request with the same
 * stream, each event in a packet of its own, and prints its port.
 */
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { OpenAiChat, OpenAiResponses, Script } from "@divisi/testkit/providers"

const deltas = Number(process.argv[2] ?? 60)
const answer = Script.answer(
  Array.from({ length: deltas }, (_, index) => `token ${index} `),
  { noise: false }
)

const eventsOf = (dialect: typeof OpenAiChat.dialect) => {
  const { closing, deltas, opening } = dialect.stream(answer, "gpt-5")
  return [...opening, ...deltas, ...closing].map((event) => Buffer.from(event))
}

const responses = eventsOf(OpenAiResponses.dialect)
const chat = eventsOf(OpenAiChat.dialect)

/** Events come in packets of a few, as they do from a vendor that is far away. */
const packet = 4

const server = http.createServer((request, response) => {
  request.resume()
  const events = request.url?.endsWith("/responses") ? responses : chat
  response.writeHead(200, { "content-type": "text/event-stream" })
  let next = 0
  const write = () => {
    if (response.destroyed) return
    response.write(Buffer.concat(events.slice(next, next + packet)))
    next += packet
    if (next < events.length) setImmediate(write)
    else response.end()
  }
  request.on("end", write)
})

server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port))
process.on("disconnect", () => process.exit())

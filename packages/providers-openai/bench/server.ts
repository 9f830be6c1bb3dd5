/**
 * The server of the bench, a process of its own so that its work is not counted. It prints its port, and answers every
 * request below `/call` with a short stream in one packet, all others with a long one in packets of a few events.
 */
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { OpenAiChat, OpenAiResponses, Script } from "@divisi/testkit/providers"

const deltas = Number(process.argv[2] ?? 60)

const eventsOf = (dialect: typeof OpenAiChat.dialect, count: number) => {
  const texts = Array.from({ length: count }, (_, index) => `token ${index} `)
  const { closing, deltas, opening } = dialect.stream(Script.answer(texts, { noise: false }), "gpt-5")
  return [...opening, ...deltas, ...closing].map((event) => Buffer.from(event))
}

/** Events come in packets of a few, as they do from a vendor that is far away. */
const packetsOf = (events: ReadonlyArray<Buffer>, size: number) =>
  Array.from({ length: Math.ceil(events.length / size) }, (_, index) =>
    Buffer.concat(events.slice(index * size, (index + 1) * size))
  )

const packets = Object.fromEntries(
  [OpenAiResponses.dialect, OpenAiChat.dialect].flatMap((dialect) => {
    const end = dialect === OpenAiChat.dialect ? "/chat/completions" : "/responses"
    return [
      [`/call/v1${end}`, packetsOf(eventsOf(dialect, 1), 1000)],
      [`/stream/v1${end}`, packetsOf(eventsOf(dialect, deltas), 4)]
    ]
  })
)

const server = http.createServer((request, response) => {
  request.resume()
  const all = packets[request.url ?? ""] ?? []
  response.writeHead(200, { "content-type": "text/event-stream" })
  let next = 0
  const write = () => {
    if (response.destroyed) return
    if (next >= all.length - 1) return void response.end(all[next])
    response.write(all[next++])
    setImmediate(write)
  }
  request.on("end", write)
})

server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port))
process.on("disconnect", () => process.exit())

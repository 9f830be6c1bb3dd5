/**
 * Upstream of the bench, a separate process: it speaks Chat Completions and sends every client the same answer, whole
 * or in twenty chunks. The answer is built once, so that its cost is negligible compared with the measured time. Prints
 * its port.
 */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"

const words = Array.from({ length: 20 }, (_, at) => `word${at} `)
const usage = { prompt_tokens: 12, completion_tokens: 20, total_tokens: 32 }

const about = { id: "chatcmpl-upstream", created: 1_700_000_000, model: "stand-in" }

const whole = Buffer.from(
  JSON.stringify({
    ...about,
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content: words.join("") }, finish_reason: "stop" }],
    usage
  })
)

const chunk = (choices: ReadonlyArray<object>, more: object = {}) =>
  `data: ${JSON.stringify({ ...about, object: "chat.completion.chunk", choices, ...more })}\n\n`

const delta = (given: object, reason: string | null = null) => [{ index: 0, delta: given, finish_reason: reason }]

/** Events come in packets of a few, as they do from a vendor that is far away. */
const packets = [
  chunk(delta({ role: "assistant", content: "" })),
  ...words.map((content) => chunk(delta({ content }))),
  `${chunk(delta({}, "stop"))}${chunk([], { usage })}data: [DONE]\n\n`
].reduce<Array<string>>((all, event, at) => {
  if (at % 4 === 0) all.push(event)
  else all[all.length - 1] += event
  return all
}, [])

const stream = packets.map((packet) => Buffer.from(packet))

const server = Http.createServer((request, response) => {
  let isStreamed = false
  request.on("data", (bytes: Buffer) => {
    isStreamed ||= /"stream":\s*true/.test(bytes.toString("latin1"))
  })
  request.on("end", () => {
    if (!isStreamed) {
      response.writeHead(200, { "content-type": "application/json", "content-length": whole.length })
      return void response.end(whole)
    }
    response.writeHead(200, { "content-type": "text/event-stream" })
    let next = 0
    const write = () => {
      if (response.destroyed) return
      if (next === stream.length - 1) return void response.end(stream[next])
      response.write(stream[next++])
      setImmediate(write)
    }
    write()
  })
})

server.keepAliveTimeout = 60_000
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port))
process.on("disconnect", () => process.exit())

/**
 * The server of a provider's bench, a process of its own so that its work is not counted: it answers every request with
 * the same stream, a few events in each packet, as they come from a vendor that is far away. Prints its port.
 *
 *   node --conditions=@divisi/source server.ts DIALECT DELTAS
 */
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { AnthropicMessages, type Dialect, GoogleGenerateContent, Script } from "@divisi/testkit/providers"

const dialects: Readonly<Record<string, Dialect.Dialect>> = {
  anthropic: AnthropicMessages.dialect,
  google: GoogleGenerateContent.dialect
}

const [name = "", deltas = "60"] = process.argv.slice(2)
const dialect = dialects[name]
if (dialect === undefined) throw new Error(`There is no dialect "${name}": ${Object.keys(dialects).join(", ")}.`)

const texts = Array.from({ length: Number(deltas) }, (_, index) => `token ${index} `)
const streamed = dialect.stream(Script.answer(texts, { noise: false }), "a-model")
const events = [...streamed.opening, ...streamed.deltas, ...streamed.closing].map((event) => Buffer.from(event))
const packet = 4

const server = http.createServer((request, response) => {
  request.resume()
  response.writeHead(200, { "content-type": dialect.contentType })
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

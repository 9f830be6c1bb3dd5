/**
 * Requests that offer another protocol than WebSocket. The HTTP client of the JDK offers HTTP/2 (`Upgrade: h2c`) with each
 * first request, and a server that does not know it has to answer by HTTP/1.1 (RFC 9110, section 7.8). Node hands such a
 * request over without its body as soon as a server takes any upgrade.
 */
import type * as Http from "node:http"
import type { Duplex } from "node:stream"

type Handler = (request: Http.IncomingMessage, socket: Duplex, head: Buffer) => void

const isWebSocket = ({ headers }: Http.IncomingMessage): boolean => /\bwebsocket\b/i.test(headers.upgrade ?? "")

const offers: ReadonlySet<string> = new Set(["upgrade", "http2-settings", "connection"])

/** The head of a request as it was, without its offer. */
const headOf = ({ httpVersion, method, rawHeaders, url }: Http.IncomingMessage): Buffer => {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (!offers.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[at + 1]}`)
  }
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1")
}

/** Hands WebSockets to a handler. Any other request is read once more, as one without an offer. */
export const webSocketsOnly =
  (server: Http.Server, handler: Handler): Handler =>
  (request, socket, head) => {
    if (isWebSocket(request)) return handler(request, socket, head)
    socket.unshift(Buffer.concat([headOf(request), head]))
    server.emit("connection", socket)
  }

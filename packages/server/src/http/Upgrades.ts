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

const ignored = (): void => {}

/** Runs a function once the incomplete responses of a connection are complete. */
const pending = (server: Http.Server): ((socket: Duplex, next: () => void) => void) => {
  const counts = new WeakMap<Duplex, number>()
  const waiting = new WeakMap<Duplex, () => void>()
  server.on("request", ({ socket }, response) => {
    counts.set(socket, (counts.get(socket) ?? 0) + 1)
    response.once("close", () => {
      counts.set(socket, counts.get(socket)! - 1)
      if (counts.get(socket) === 0) waiting.get(socket)?.()
    })
  })
  return (socket, next) => {
    if ((counts.get(socket) ?? 0) === 0) return next()
    // Node no longer listens to the connection.
    socket.pause().on("error", ignored)
    waiting.set(socket, () => {
      waiting.delete(socket)
      socket.off("error", ignored)
      if (socket.destroyed) return
      next()
      socket.resume()
    })
  }
}

/**
 * Hands WebSockets to a handler. Any other request is read once more, as one without an offer. Either waits for the
 * responses to the requests that the client sent before it on the same connection.
 */
export const webSocketsOnly = (server: Http.Server, handler: Handler): Handler => {
  const afterPending = pending(server)
  return (request, socket, head) =>
    afterPending(socket, () => {
      if (isWebSocket(request)) return handler(request, socket, head)
      socket.unshift(Buffer.concat([headOf(request), head]))
      server.emit("connection", socket)
    })
}

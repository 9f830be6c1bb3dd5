/**
 * Handles requests with an `Upgrade` header for a protocol other than WebSocket. The JDK's HTTP client offers HTTP/2
 * (`Upgrade: h2c`) with its first request, and a server without support must respond with HTTP/1.1 (RFC 9110, section
 * 7.8). As soon as a server handles upgrades, Node passes such requests to the upgrade handler without their body.
 */
import type * as Http from "node:http"
import type { Duplex } from "node:stream"

type Handler = (request: Http.IncomingMessage, socket: Duplex, head: Buffer) => void

const isWebSocket = ({ headers }: Http.IncomingMessage): boolean => /\bwebsocket\b/i.test(headers.upgrade ?? "")

const offers: ReadonlySet<string> = new Set(["upgrade", "http2-settings", "connection"])

/** Rebuilds the head of a request without its upgrade headers. */
const headOf = ({ httpVersion, method, rawHeaders, url }: Http.IncomingMessage): Buffer => {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (!offers.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[at + 1]}`)
  }
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1")
}

const ignored = (): void => {}

/** Returns a function that calls `next` once all pending responses on a connection are complete. */
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
    if (socket.destroyed) return
    if ((counts.get(socket) ?? 0) === 0) return next()
    // Node no longer handles events on this socket.
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
 * Passes WebSocket requests to a handler. Any other upgrade request is parsed again as a regular request. Both wait
 * until earlier requests on the same connection have been answered.
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

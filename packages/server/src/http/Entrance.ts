/**
 * The entrance of a server on Node: all requests begin a few in each turn of the event loop. Otherwise a client with many
 * requests at the same time, on many connections or pipelined on one, delays the requests of all other clients.
 */
import type * as Http from "node:http"
import type { Duplex } from "node:stream"
import * as Fair from "./Fair.ts"

type Handler = (request: Http.IncomingMessage, response: Http.ServerResponse) => void

type UpgradeHandler = (request: Http.IncomingMessage, socket: Duplex, head: Buffer) => void

/** The number of requests of one connection that can be unanswered. */
const maxPipelined = 100

/** Only orders requests: the caller is not known yet. */
const claimed = ({ headers, socket }: Http.IncomingMessage): string =>
  `${headers.authorization ?? headers["x-api-key"] ?? socket.remoteAddress}`

const ignore = (): void => {}

/** Handlers that are called in the turns of their requests. */
export const make = (): {
  readonly requests: (handler: Handler) => Handler
  readonly upgrades: (handler: UpgradeHandler) => UpgradeHandler
} => {
  const fair = Fair.make()
  /** The number of unanswered requests of each connection. */
  const unanswered = new WeakMap<Duplex, number>()
  const count = (socket: Duplex, change: number): number => {
    const counted = (unanswered.get(socket) ?? 0) + change
    unanswered.set(socket, counted)
    return counted
  }
  return {
    requests: (handler) => (request, response) => {
      const { socket } = request
      if (count(socket, 1) > maxPipelined) {
        socket.destroy()
        return
      }
      response.once("close", () => count(socket, -1))
      fair.begin(claimed(request), () => {
        if (!socket.destroyed) handler(request, response)
      })
    },
    upgrades: (handler) => (request, socket, head) => {
      // Node has removed its own listener, and an error without one ends the process.
      socket.on("error", ignore)
      fair.begin(claimed(request), () => {
        if (!socket.destroyed) handler(request, socket, head)
      })
    }
  }
}

/**
 * Distributes requests over several event loop turns on Node. Otherwise, a client that sends many requests
 * simultaneously, on many connections or pipelined on one, would delay the requests of all other clients.
 */
import * as Http from "node:http"
import type { Duplex } from "node:stream"
import * as Fair from "./Fair.ts"

type Handler = (request: Http.IncomingMessage, response: Http.ServerResponse) => void

type UpgradeHandler = (request: Http.IncomingMessage, socket: Duplex, head: Buffer) => void

/** Maximum number of unanswered requests per connection. */
const maxPipelined = 100

const isUpgrade = Symbol("isUpgrade")

/**
 * A request that Node treats as an upgrade if its connection is closed. Node parses all pipelined requests that arrive
 * together, even after the first of them has closed the connection, but it stops at an upgrade.
 */
export class Incoming extends Http.IncomingMessage {
  [isUpgrade]?: boolean

  get upgrade(): boolean {
    return this.socket.destroyed || this[isUpgrade] === true
  }

  set upgrade(value: boolean) {
    this[isUpgrade] = value
  }
}

/** Returns a provisional identity for scheduling. Authentication happens later. */
const claimed = ({ headers, socket }: Http.IncomingMessage): string =>
  `${headers.authorization ?? headers["x-api-key"] ?? socket.remoteAddress}`

const ignore = (): void => {}

/** Creates wrappers that schedule request and upgrade handlers. */
export const make = (): {
  readonly requests: (handler: Handler) => Handler
  readonly upgrades: (handler: UpgradeHandler) => UpgradeHandler
} => {
  const fair = Fair.make()
  /** Number of unanswered requests per connection. */
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
      // Node has removed its own `error` listener from the socket. Without a listener, an `error` event terminates the
      // process.
      socket.on("error", ignore)
      fair.begin(claimed(request), () => {
        if (!socket.destroyed) handler(request, socket, head)
      })
    }
  }
}

/**
 * Distributes requests over several event loop turns on Node, and begins those of one connection one after another.
 * Otherwise, a client that sends many requests simultaneously, on many connections or pipelined on one, would delay the
 * requests of all other clients.
 */
import * as Http from "node:http"
import type { Duplex } from "node:stream"
import { constVoid } from "effect/Function"
import * as Fair from "./Fair.ts"

type Handler = (request: Http.IncomingMessage, response: Http.ServerResponse) => void

type UpgradeHandler = (request: Http.IncomingMessage, socket: Duplex, head: Buffer) => void

/** Maximum number of unanswered requests per connection. */
const maxPipelined = 20

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

/** Connections that were closed too early. If hundreds are closed at once, stopping their work takes long. */
const closing = Fair.make()

/** Calls functions that stop the work for closed connections, a few per event loop turn. */
export const stop = (work: () => void): void => void closing.begin("", work)

/** Lets a connection emit `end` in its turn: Node then aborts its unfinished request, and writes a response to it. */
export const connected = (socket: Duplex): void => {
  const emit = socket.emit.bind(socket)
  socket.emit = (event: string | symbol, ...values: ReadonlyArray<unknown>) => {
    if (event !== "end") return emit(event, ...values)
    stop(() => emit(event, ...values))
    return true
  }
}

/** A response that emits `close` in its turn if its connection was closed before its end. */
export class Outgoing<
  Request extends Http.IncomingMessage = Http.IncomingMessage
> extends Http.ServerResponse<Request> {
  override emit(event: string | symbol, ...values: ReadonlyArray<unknown>): boolean {
    if (event !== "close" || this.writableFinished) return super.emit(event, ...values)
    stop(() => super.emit(event, ...values))
    return true
  }
}

/** Returns a provisional identity for scheduling. Authentication happens later. */
const claimed = ({ headers, socket }: Http.IncomingMessage): string =>
  `${headers.authorization ?? headers["x-api-key"] ?? socket.remoteAddress}`

/** Creates wrappers that schedule request and upgrade handlers. */
export const make = (): {
  readonly requests: (handler: Handler) => Handler
  readonly upgrades: (handler: UpgradeHandler) => UpgradeHandler
} => {
  const fair = Fair.make()
  /** The unanswered requests per connection. The first of them has begun. */
  const unanswered = new WeakMap<Duplex, Array<() => void>>()
  return {
    requests: (handler) => (request, response) => {
      const { socket } = request
      const pipelined = unanswered.get(socket) ?? []
      if (pipelined.length === 0) unanswered.set(socket, pipelined)
      if (pipelined.length === maxPipelined) {
        socket.destroy()
        return
      }
      let leave = constVoid
      const begin = () => {
        leave = fair.begin(claimed(request), () => handler(request, response))
      }
      response.once("close", () => {
        leave()
        pipelined.shift()
        if (!socket.destroyed) pipelined[0]?.()
      })
      if (pipelined.push(begin) === 1) begin()
    },
    upgrades: (handler) => (request, socket, head) => {
      // Node has removed its own `error` listener from the socket. Without a listener, an `error` event terminates the
      // process.
      socket.on("error", constVoid)
      const leave = fair.begin(claimed(request), () => handler(request, socket, head))
      socket.once("close", leave)
    }
  }
}

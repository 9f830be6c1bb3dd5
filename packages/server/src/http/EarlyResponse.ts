/**
 * Sends responses to requests whose body has not arrived completely, for example because it is too large or the
 * caller's key is unknown. Most clients send their whole request before they read, and a connection that is closed
 * meanwhile discards the response. Therefore the rest of the body is read and discarded.
 */
import { IncomingMessage } from "node:http"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Respond from "./Respond.ts"
import * as Turns from "./Turns.ts"

/** Maximum number of bytes to discard. For larger bodies, the connection is closed. */
const maxBytes = 64 * 2 ** 20

/** Reads and discards a body until it ends, or until it exceeds the maximum. */
const discard = (message: IncomingMessage): Effect.Effect<void> =>
  Effect.callback((resume) => {
    let left = maxBytes
    const take = (piece: Buffer) => {
      left -= piece.length
      if (left < 0) return end()
      message.pause()
      Turns.next(() => message.resume())
    }
    const end = () => {
      leave()
      resume(Effect.void)
    }
    const leave = () => message.off("data", take).off("end", end).off("close", end).off("error", end)
    message.on("data", take).on("end", end).on("close", end).on("error", end).resume()
    return Effect.sync(leave)
  })

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined

/**
 * Wraps an application so that a response to an incomplete request is written immediately, and ends after the request.
 * Requests with `Expect: 100-continue` are left to the HTTP server, because their clients wait before they send a body.
 */
export const readable = <E, R>(app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Effect.flatMap(app, (response) => {
      const { source } = request
      const { body, headers, status } = response
      if (!(source instanceof IncomingMessage) || source.complete || body._tag !== "Uint8Array") {
        return Effect.succeed(response)
      }
      const node = Respond.nodeOf(request)
      if (node === undefined || !hasBody(source) || source.headers.expect !== undefined) return Effect.succeed(response)
      node.writeHead(status, headers).write(body.body)
      const discarded = Effect.onInterrupt(Effect.interruptible(discard(source)), () =>
        Effect.sync(() => node.destroy())
      )
      return Effect.map(discarded, () => {
        node.end()
        return Respond.sent
      })
    })
  )

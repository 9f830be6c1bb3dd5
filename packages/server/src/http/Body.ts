/** The text of a request's body, which is not read beyond its limit. */
import { IncomingMessage } from "node:http"
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import { ApiError } from "../wire/ApiError.ts"

const tooLarge = (maxBytes: number): ApiError =>
  new ApiError({ kind: "too-large", message: `The body of a request may have ${maxBytes} bytes at most.` })

const unreadable = (): ApiError =>
  new ApiError({ kind: "invalid-request", message: "The body of the request cannot be read." })

/** As other servers of Effect's applications give it. */
const generic = (request: HttpServerRequest.HttpServerRequest, maxBytes: number): Effect.Effect<string, ApiError> =>
  request.text.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBytes)),
    Effect.mapError(({ reason }) =>
      "reason" in reason && reason.reason === "BodyTooLarge" ? tooLarge(maxBytes) : unreadable()
    )
  )

const decode = (pieces: ReadonlyArray<Buffer>): string => {
  const text = (pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)).toString("utf8")
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/** Node's own request is read as it is, at a third of the cost: every request of a model has a body. */
const ofNode = (message: IncomingMessage, maxBytes: number): Effect.Effect<string, ApiError> =>
  Effect.callback((resume) => {
    const pieces: Array<Buffer> = []
    let size = 0
    const leave = () => message.off("data", take).off("end", end).off("close", fail).off("error", fail)
    const take = (piece: Buffer) => {
      pieces.push(piece)
      size += piece.length
      if (size <= maxBytes) return
      leave()
      // Whoever answers lets the rest of it pass, or closes the connection.
      message.pause()
      resume(Effect.fail(tooLarge(maxBytes)))
    }
    const end = () => {
      leave()
      resume(Effect.succeed(decode(pieces)))
    }
    const fail = () => {
      leave()
      resume(Effect.fail(unreadable()))
    }
    message.on("data", take).on("end", end).on("close", fail).on("error", fail)
    return Effect.sync(leave)
  })

/** The text of a body. */
export const text = (request: HttpServerRequest.HttpServerRequest, maxBytes: number): Effect.Effect<string, ApiError> =>
  Effect.suspend(() => {
    const { headers, source } = request
    // Who waits to be told to go on is told so by whoever serves.
    const isPlain = source instanceof IncomingMessage && headers.expect === undefined && !source.readableEnded
    return isPlain ? ofNode(source, maxBytes) : generic(request, maxBytes)
  })

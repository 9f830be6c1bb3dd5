/** Creates responses: JSON bodies, errors in a wire's format, and streams of server-sent events. */
import { IncomingMessage, ServerResponse } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import type { Segment } from "../segment/Segments.ts"
import * as ApiError from "../wire/ApiError.ts"
import type { JsonObject } from "../wire/Json.ts"
import type { Part, Wire } from "../wire/Wire.ts"

type Headers = Readonly<Record<string, string>>

/** Creates a JSON response. */
export const json = (body: unknown, status = 200, headers: Headers = {}): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(JSON.stringify(body), { contentType: "application/json", status, headers })

/** Creates an error response in the format of a wire. */
export const error = (
  wire: { readonly error: (error: ApiError.ApiError) => JsonObject },
  failure: ApiError.ApiError,
  headers: Headers = {}
): HttpServerResponse.HttpServerResponse =>
  json(wire.error(failure), failure.status, { ...headers, ...ApiError.headers(failure) })

const ofEvents: Headers = { "cache-control": "no-cache", "x-accel-buffering": "no" }

const encoder = new TextEncoder()

const contentType = "text/event-stream; charset=utf-8"

/** Serializes parts as events. Parts that are available at the same time are written in a single chunk. */
const writing = <State>(wire: Wire<State>, segment: Segment): ((parts: ReadonlyArray<Part>) => string) => {
  let [state, waiting] = wire.begin(segment.about)
  return (parts) => {
    let text = waiting
    waiting = ""
    for (const part of parts) {
      const [next, more] = wire.write(state, part)
      state = next
      text += more
    }
    return text
  }
}

/** Streams a response on runtimes other than Node, through Effect's response. */
const generic = <State>(wire: Wire<State>, segment: Segment, headers: Headers, onEnd: (isCut: boolean) => void) => {
  const events = Stream.suspend(() => {
    const write = writing(wire, segment)
    return Stream.map(segment.read, (parts) => encoder.encode(write(parts)))
  })
  return HttpServerResponse.stream(
    Stream.onExit(events, (exit) => Effect.sync(() => onEnd(Exit.isFailure(exit)))),
    { contentType, headers }
  )
}

/**
 * Streams directly to Node's response object, which costs a fraction of Effect's stream. Effect notices that the
 * response was already sent.
 */
const toNode = <State>(
  wire: Wire<State>,
  segment: Segment,
  headers: Headers,
  response: ServerResponse
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const write = writing(wire, segment)
    response.writeHead(200, { "content-type": contentType, ...headers })
    return segment.follow((parts, isLast, goOn) => {
      const text = write(parts)
      // The client has disconnected, and this fiber is about to be interrupted.
      if (response.destroyed) return false
      if (isLast) response.end(text)
      else if (text !== "" && !response.write(text)) {
        response.once("drain", goOn)
        return false
      }
      return true
    })
  })

/** Returns Node's response object for a request, or `undefined` on other runtimes and after a disconnect. */
export const nodeOf = (request: HttpServerRequest.HttpServerRequest): ServerResponse | undefined => {
  if (!(request.source instanceof IncomingMessage)) return undefined
  const response = NodeHttpServerRequest.toServerResponse(request)
  return response instanceof ServerResponse && !response.destroyed ? response : undefined
}

/** Stands for a response that was written directly to Node's response object. */
export const sent = HttpServerResponse.empty({ status: 200 })

/**
 * Handles a defect while a response is written. If the response has already started, it is aborted so that the client
 * notices; otherwise an error response is returned.
 */
export const broken = (
  request: HttpServerRequest.HttpServerRequest,
  wire: { readonly error: (error: ApiError.ApiError) => JsonObject },
  failure: ApiError.ApiError,
  headers: Headers
): HttpServerResponse.HttpServerResponse => {
  const response = nodeOf(request)
  if (response?.headersSent !== true) return error(wire, failure, headers)
  response.destroy()
  return sent
}

/**
 * Sends the JSON body for a segment. On Node, it is written directly to the response object, because this is a hot
 * path.
 */
export const whole = (
  request: HttpServerRequest.HttpServerRequest,
  body: JsonObject,
  headers: Headers
): HttpServerResponse.HttpServerResponse => {
  const response = nodeOf(request)
  if (response === undefined) return json(body, 200, headers)
  const text = JSON.stringify(body)
  const about = { "content-type": "application/json", "content-length": Buffer.byteLength(text) }
  response.writeHead(200, { ...about, ...headers }).end(text)
  return sent
}

/** Streams a segment. `onEnd` is called when the stream is complete, with `true` if the client disconnected early. */
export const stream = <State>(
  request: HttpServerRequest.HttpServerRequest,
  wire: Wire<State>,
  segment: Segment,
  headers: Headers,
  onEnd: (isCut: boolean) => void
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const response = nodeOf(request)
  const all = { ...ofEvents, ...headers }
  if (response === undefined) return Effect.succeed(generic(wire, segment, all, onEnd))
  const written = Effect.onExit(toNode(wire, segment, all, response), (exit) =>
    Effect.sync(() => onEnd(Exit.isFailure(exit)))
  )
  return Effect.as(written, sent)
}

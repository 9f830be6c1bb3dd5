/** Responses: bodies of JSON, errors in a wire's own form, and streams of server-sent events. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import type { Segment } from "../segment/Segments.ts"
import * as ApiError from "../wire/ApiError.ts"
import type { JsonObject } from "../wire/Json.ts"
import type { Wire } from "../wire/Wire.ts"

type Headers = Readonly<Record<string, string>>

/** A body of JSON. */
export const json = (body: unknown, status = 200, headers: Headers = {}): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(JSON.stringify(body), { contentType: "application/json", status, headers })

/** An error as a wire says it. */
export const error = (
  wire: { readonly error: (error: ApiError.ApiError) => JsonObject },
  failure: ApiError.ApiError,
  headers: Headers = {}
): HttpServerResponse.HttpServerResponse =>
  json(wire.error(failure), failure.status, { ...headers, ...ApiError.headers(failure) })

const ofEvents: Headers = { "cache-control": "no-cache", "x-accel-buffering": "no" }

const encoder = new TextEncoder()

/** The events of a segment as they come; those that come together go out together, and each is whole. */
const events = <State>(wire: Wire<State>, segment: Segment): Stream.Stream<Uint8Array> =>
  Stream.suspend(() => {
    let [state, waiting] = wire.begin(segment.about)
    return Stream.map(segment.read, (parts) => {
      let text = waiting
      waiting = ""
      for (const part of parts) {
        const [next, more] = wire.write(state, part)
        state = next
        text += more
      }
      return encoder.encode(text)
    })
  })

/** A segment as a stream; `onEnd` is told when it is over, and whether its client went away before. */
export const stream = <State>(
  wire: Wire<State>,
  segment: Segment,
  headers: Headers,
  onEnd: (isCut: boolean) => void
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(
    Stream.onExit(events(wire, segment), (exit) => Effect.sync(() => onEnd(Exit.isFailure(exit)))),
    {
      contentType: "text/event-stream; charset=utf-8",
      headers: { ...ofEvents, ...headers }
    }
  )

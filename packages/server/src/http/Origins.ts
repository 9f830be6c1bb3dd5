/** The origins of web pages that may use a server. Default: none. */
import { IncomingMessage } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

/** Origins as browsers send them, e.g. `http://localhost:3000`. */
export type Origins = ReadonlySet<string>

/** A scheme and a host with an optional port: of the web, or of an app such as `vscode-file://vscode-app`. */
const form = /^[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#@*]{1,255}$/i

/** Normalizes an origin to the form that browsers send. Returns `undefined` if the text is not an origin. */
export const read = (text: string): string | undefined => {
  const trimmed = text.trim().replace(/\/$/, "")
  if (!form.test(trimmed)) return undefined
  if (!/^https?:/i.test(trimmed)) return trimmed.toLowerCase()
  return URL.canParse(trimmed) ? new URL(trimmed).origin : undefined
}

/** Returns the origins in an option as a set. */
export const of = (named: ReadonlyArray<string> = []): Origins => new Set(named.map((text) => read(text) ?? text))

/** Returns an origin for use in a message: shortened, with printable characters only. */
export const shown = (origin: string): string => read(origin) ?? "<origin>"

/** The headers of a response to a page that may use the server. */
const headersFor = (origin: string) => ({
  "access-control-allow-origin": origin,
  "access-control-expose-headers": "x-request-id, request-id, x-divisi-run, retry-after",
  vary: "origin"
})

/** Answers a browser that asks whether a page may send a request. */
const preflight = ({ headers }: HttpServerRequest.HttpServerRequest, origin: string) =>
  HttpServerResponse.empty({
    status: 204,
    headers: {
      ...headersFor(origin),
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers": headers["access-control-request-headers"] ?? "*",
      "access-control-max-age": "600",
      ...(headers["access-control-request-private-network"] === "true" && {
        "access-control-allow-private-network": "true"
      })
    }
  })

/** Wraps an application so that only pages of the given origins can use it (CORS). */
export const open =
  (origins: Origins) =>
  <E, R>(
    app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
    request: HttpServerRequest.HttpServerRequest
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> => {
    const { origin } = request.headers
    // A page that opens a WebSocket needs no headers to read it.
    if (origin === undefined || !origins.has(origin) || request.headers.upgrade !== undefined) return app
    const isPreflight = request.method === "OPTIONS" && "access-control-request-method" in request.headers
    if (isPreflight) return Effect.succeed(preflight(request, origin))
    const headers = headersFor(origin)
    if (request.source instanceof IncomingMessage) {
      // Answers that are written to Node's response directly have no other headers.
      const response = NodeHttpServerRequest.toServerResponse(request)
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    }
    return Effect.map(app, HttpServerResponse.setHeaders(headers))
  }

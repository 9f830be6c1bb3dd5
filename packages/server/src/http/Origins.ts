/** CORS for a server: the origins of web pages that may call it. By default, no page may. */
import { IncomingMessage } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

/**
 * Allowed origins in the form that browsers send, e.g. `http://localhost:3000`.
 */
export type Origins = ReadonlySet<string>

/**
 * Matches an origin: a scheme and a host with an optional port. Apps such as VS Code use their own schemes
 * (`vscode-file://vscode-app`).
 */
const form = /^[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#@*]{1,255}$/i

/** Normalizes an origin to the form that browsers send. Returns `undefined` if the text is not an origin. */
export const read = (text: string): string | undefined => {
  const trimmed = text.trim().replace(/\/$/, "")
  if (!form.test(trimmed)) return undefined
  if (!/^https?:/i.test(trimmed)) return trimmed.toLowerCase()
  return URL.canParse(trimmed) ? new URL(trimmed).origin : undefined
}

/**
 * Returns the normalized origins from a server option.
 *
 * @internal
 */
export const of = (named: ReadonlyArray<string> = []): Origins => new Set(named.map((text) => read(text) ?? text))

/**
 * Returns an origin for display in a message, or a placeholder if it is not well-formed.
 *
 * @internal
 */
export const shown = (origin: string): string => read(origin) ?? "<origin>"

/** Returns the CORS response headers for an allowed origin. */
const headersFor = (origin: string) => ({
  "access-control-allow-origin": origin,
  "access-control-expose-headers": "x-request-id, request-id, x-divisi-run, retry-after",
  vary: "origin"
})

/** Responds to a CORS preflight request. */
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

/**
 * Wraps an application so that only pages from the given origins can call it (CORS).
 *
 * @internal
 */
export const open =
  (origins: Origins) =>
  <E, R>(
    app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
    request: HttpServerRequest.HttpServerRequest
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> => {
    const { origin } = request.headers
    // CORS headers are not needed for WebSocket connections.
    if (origin === undefined || !origins.has(origin) || request.headers.upgrade !== undefined) return app
    const isPreflight = request.method === "OPTIONS" && "access-control-request-method" in request.headers
    if (isPreflight) return Effect.succeed(preflight(request, origin))
    const headers = headersFor(origin)
    if (request.source instanceof IncomingMessage) {
      // Responses written directly to Node's response object bypass Effect's headers, so the headers are set on that
      // object.
      const response = NodeHttpServerRequest.toServerResponse(request)
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    }
    return Effect.map(app, HttpServerResponse.setHeaders(headers))
  }

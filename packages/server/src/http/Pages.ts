/**
 * Serves a web app under one path, such as the studio. Its files are served without a key, and its requests come from
 * the server's own origin.
 */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

/** A file of the web app. */
export interface File {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Returns the file at a path relative to the app's root, e.g. `studio.js`, or `undefined` if there is no such file. */
export type Pages = (path: string, acceptedEncodings: string) => File | undefined

/** The path under which the app is served. */
export const root = "/studio"

type Request = HttpServerRequest.HttpServerRequest

const respond =
  (pages: Pages) =>
  ({ headers, url }: Request): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
    const path = url.replace(/[?#].*$/s, "")
    if (path === root) return Effect.succeed(HttpServerResponse.redirect(`${root}/`))
    const found = pages(path.slice(root.length), headers["accept-encoding"] ?? "")
    if (found === undefined) return Effect.succeed(HttpServerResponse.text("Page not found.", { status: 404 }))
    return Effect.succeed(HttpServerResponse.uint8Array(found.body, { status: found.status, headers: found.headers }))
  }

/** Redirects browsers from the server's root to the app. */
const lead =
  (otherwise: Effect.Effect<HttpServerResponse.HttpServerResponse>) =>
  ({ headers }: Request): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
    /\btext\/html\b/.test(headers.accept ?? "") ? Effect.succeed(HttpServerResponse.redirect(`${root}/`)) : otherwise

/** Returns the routes for a web app, or no routes if there is no app. */
export const routes = (
  pages: Pages | undefined,
  otherwise: Effect.Effect<HttpServerResponse.HttpServerResponse>
): ReadonlyArray<HttpRouter.Route<never, never>> =>
  pages === undefined
    ? []
    : [HttpRouter.route("GET", `${root}/*`, respond(pages)), HttpRouter.route("GET", "/", lead(otherwise))]

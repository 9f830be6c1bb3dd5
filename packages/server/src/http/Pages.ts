/** A page below one path, such as the studio: its files need no key, and its requests are those of its own origin. */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

/** A file of a page. */
export interface File {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Returns the file for a path below the root of the page, for example `studio.js`; `undefined` for an unknown path. */
export type Pages = (path: string, acceptedEncodings: string) => File | undefined

/** The path of the page. */
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

/** Leads browsers from the root of the server to the page. */
const lead =
  (otherwise: Effect.Effect<HttpServerResponse.HttpServerResponse>) =>
  ({ headers }: Request): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
    /\btext\/html\b/.test(headers.accept ?? "") ? Effect.succeed(HttpServerResponse.redirect(`${root}/`)) : otherwise

/** The routes of a page; none without one. */
export const routes = (
  pages: Pages | undefined,
  otherwise: Effect.Effect<HttpServerResponse.HttpServerResponse>
): ReadonlyArray<HttpRouter.Route<never, never>> =>
  pages === undefined
    ? []
    : [HttpRouter.route("GET", `${root}/*`, respond(pages)), HttpRouter.route("GET", "/", lead(otherwise))]

/**
 * Serves the studio app and the runs of a source on this machine. The routes under `/v1/runs` have the same format as
 * those of `@divisi/server`.
 *
 * The server has no authentication, so it listens only on a loopback address, accepts only requests to a loopback host
 * name, and rejects pages from other origins.
 */
import { once } from "node:events"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { type RunEvent, Options as Tables, type Transcript } from "@divisi/core"
import * as Assets from "./Assets.ts"
import type { Summary } from "./run/Summary.ts"
import * as Sessions from "./session/Session.ts"

/**
 * Raised by a source or a route if a stored record cannot be read. Clients receive the message, which contains the
 * problem and a remedy.
 */
export class Unreadable extends Error {
  constructor(message: string) {
    super(message)
    this.name = "Unreadable"
  }
}

/** A source of runs for the studio. Its functions reject with {@link Unreadable} if a stored record is damaged. */
export interface Source {
  /** Lists runs, newest first. Returns at most `limit` runs, or all of them by default. */
  readonly list: (limit?: number) => Promise<ReadonlyArray<Summary>>
  /** Returns a run, or `undefined` if the id is unknown. */
  readonly read: (
    id: string
  ) => Promise<{ readonly summary: Summary; readonly transcript: Transcript.Transcript } | undefined>
  /**
   * Returns the events of a run, starting with a given number. Returns `undefined` if the run is unknown or has no
   * events.
   */
  readonly follow: (
    id: string,
    from: number,
    signal: AbortSignal
  ) => Promise<AsyncIterable<{ readonly seq: number; readonly event: RunEvent.RunEvent }> | undefined>
}

/** Options for the server, including the source of its runs. */
export interface Options {
  readonly source: Source
  /** TCP port. 0 selects a free port. Default: 4100. */
  readonly port?: number | undefined
  /** Loopback address to listen on. Default: 127.0.0.1. */
  readonly host?: string | undefined
  /** Called with unexpected errors. The client receives status 500 without the error message. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** Handles additional routes under `/v1/`, e.g. for training runs. Returns `undefined` for an unknown path. */
  readonly route?: ((url: URL) => Promise<unknown>) | undefined
}

/** A listening server. */
export interface StudioServer {
  readonly url: string
  readonly close: () => Promise<void>
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\]|::1)(:\d+)?$/i.test(host)

/** Returns the reason why a request is rejected, or `undefined` if it is allowed. */
const refusal = ({ headers }: http.IncomingMessage): string | undefined => {
  const { host = "", origin } = headers
  if (!isLoopback(host)) return "The studio answers only requests to localhost and 127.0.0.1."
  if (origin !== undefined && origin !== `http://${host}`) return "The studio rejects requests from other web pages."
  const site = headers["sec-fetch-site"]
  const isNavigation = headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document"
  return site === undefined || site === "none" || site === "same-origin" || isNavigation
    ? undefined
    : "The studio rejects requests from other web pages."
}

const errorBody = (type: string, message: string) =>
  JSON.stringify({ error: { message, type, param: null, code: null } })

const send = (response: http.ServerResponse, status: number, body: string): void => {
  response.writeHead(status, {
    ...Assets.securityHeaders,
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store"
  })
  response.end(body)
}

const maxListed = 100

const wholeIn = (url: URL, name: string, otherwise: number): number | undefined => {
  const text = url.searchParams.get(name)
  if (text === null) return otherwise
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** The rest of a list that a client loads page by page. The next page starts after the run `after`. */
interface Rest {
  readonly after: string
  readonly runs: ReadonlyArray<Summary>
}

/** Maximum number of stored list remainders, one for each client that is loading a list. */
const maxRests = 8

/**
 * Creates a paginated reader for a source. Once the second page is requested, the complete list is loaded and used for
 * all further pages.
 */
const pager = (source: Source) => {
  const rests: Array<Rest> = []
  const restAfter = async (after: string): Promise<ReadonlyArray<Summary>> => {
    const known = rests.findIndex((rest) => rest.after === after)
    if (known !== -1) return rests.splice(known, 1)[0]!.runs
    const all = await source.list()
    const at = all.findIndex(({ id }) => id === after)
    return at === -1 ? [] : all.slice(at + 1)
  }
  return async (limit: number, after: string | null) => {
    const runs = after === null ? await source.list(limit + 1) : await restAfter(after)
    const data = runs.slice(0, limit)
    const last_id = data.at(-1)?.id ?? null
    const has_more = runs.length > limit && data.length > 0
    if (after !== null && has_more) {
      rests.push({ after: last_id!, runs: runs.slice(limit) })
      if (rests.length > maxRests) rests.shift()
    }
    return { object: "list", data, has_more, last_id }
  }
}

const list = async (page: ReturnType<typeof pager>, url: URL, response: http.ServerResponse) => {
  const limit = wholeIn(url, "limit", 20)
  if (limit === undefined)
    return send(response, 400, errorBody("invalid_request_error", "limit must be a whole number."))
  send(response, 200, JSON.stringify(await page(Math.min(limit, maxListed), url.searchParams.get("after"))))
}

const unknown = (response: http.ServerResponse, id: string) =>
  send(response, 404, errorBody("not_found_error", `Run "${id.slice(0, 200)}" does not exist.`))

const one = async (source: Source, id: string, response: http.ServerResponse) => {
  const run = await source.read(id)
  if (run === undefined) return unknown(response, id)
  send(response, 200, JSON.stringify({ ...run.summary, transcript: run.transcript }))
}

const follow = async (
  source: Source,
  id: string,
  url: URL,
  request: http.IncomingMessage,
  response: http.ServerResponse
) => {
  const last = request.headers["last-event-id"]
  const from = typeof last === "string" && /^\d{1,15}$/.test(last) ? Number(last) + 1 : (wholeIn(url, "from", 0) ?? 0)
  const abort = new AbortController()
  response.on("close", () => abort.abort())
  const events = await source.follow(id, from, abort.signal)
  if (events === undefined) return unknown(response, id)
  response.writeHead(200, {
    ...Assets.securityHeaders,
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache"
  })
  response.flushHeaders()
  for await (const { event, seq } of events) {
    if (abort.signal.aborted) return
    if (!response.write(`id: ${seq}\ndata: ${JSON.stringify(event)}\n\n`)) {
      await once(response, "drain", { signal: abort.signal }).catch(() => {})
    }
  }
  response.end()
}

/** Maximum number of runs whose costs are added up. */
const maxSession = 500

/** Reads a run. Returns `undefined` for a damaged record. */
const readIntact = (source: Source, { damaged, id }: Summary) =>
  damaged !== undefined
    ? undefined
    : source.read(id).catch((error: unknown) => {
        if (error instanceof Unreadable) return undefined
        throw error
      })

/** Returns the data of the page about costs, or `null` if there are no runs. */
const costs = async (source: Source): Promise<Sessions.Opened | null> => {
  const runs: Array<Transcript.Transcript> = []
  const listed = await source.list(maxSession)
  for (const summary of listed) {
    const run = await readIntact(source, summary)
    if (run !== undefined) runs.push(run.transcript)
  }
  const title = listed.length < maxSession ? "All runs" : `The newest ${maxSession} runs`
  return runs.length === 0 ? null : Sessions.open({ title, runs, unreadable: listed.length - runs.length })
}

const asset = (path: string, request: http.IncomingMessage, response: http.ServerResponse) => {
  const found = Assets.respond(path, String(request.headers["accept-encoding"] ?? ""))
  if (found === undefined) return send(response, 404, errorBody("not_found_error", "Page not found."))
  response.writeHead(found.status, found.headers)
  response.end(request.method === "HEAD" ? undefined : found.body)
}

const answer = async (
  { route, source }: Options,
  page: ReturnType<typeof pager>,
  request: http.IncomingMessage,
  response: http.ServerResponse
) => {
  const refused = refusal(request)
  if (refused !== undefined) return send(response, 403, errorBody("permission_error", refused))
  if (request.method !== "GET" && request.method !== "HEAD")
    return send(response, 405, errorBody("invalid_request_error", "The studio of a folder is read-only."))
  const url = new URL(request.url ?? "/", "http://localhost")
  if (!url.pathname.startsWith("/v1/")) return asset(url.pathname, request, response)
  const names = url.pathname.slice("/v1/".length).split("/").map(decodeURIComponent)
  const [kind, id, part] = names
  if (kind === "runs" && names.length === 1) return list(page, url, response)
  if (kind === "runs" && id !== undefined && names.length === 2) return one(source, id, response)
  if (kind === "runs" && id !== undefined && part === "events") return follow(source, id, url, request, response)
  if (url.pathname === `/${Sessions.path}`) return send(response, 200, JSON.stringify(await costs(source)))
  const more = await route?.(url)
  if (more !== undefined) return send(response, 200, JSON.stringify(more))
  const isRecord = id !== undefined && (kind === "evaluations" || kind === "trainings")
  const missing = isRecord
    ? `The folder has no ${kind.slice(0, -1)} "${id.slice(0, 200)}".`
    : "This is not an endpoint of the studio."
  send(response, 404, errorBody("not_found_error", missing))
}

const table = Tables.table(
  {
    source: Tables.madeBy("a source of runs", "list"),
    port: Tables.whole(0, 65_535),
    host: Tables.name,
    onError: Tables.aFunction,
    route: Tables.aFunction
  } satisfies Tables.ShapeOf<Options>,
  { required: ["source"] }
)

/**
 * Starts a server that listens until it is closed. Rejects if the address is not a loopback address or cannot be used.
 */
export const listen = async (options: Options): Promise<StudioServer> => {
  Tables.check("StudioServer.listen", options, table)
  const { host = "127.0.0.1", onError, port = 4_100 } = options
  if (!isLoopback(host.includes(":") ? `[${host}]` : host)) {
    throw new Error(`The studio of a folder has no keys, so it listens on this machine only, not on ${host}.`)
  }
  Assets.textOf("export.html")
  const page = pager(options.source)
  const server = http.createServer((request, response) => {
    answer(options, page, request, response).catch((error: unknown) => {
      if (response.headersSent) return void response.destroy()
      if ((error as NodeJS.ErrnoException).code === "ENOENT") {
        const gone = "The folder of this studio does not exist. Restore it, or open another with: divisi studio FOLDER"
        return send(response, 503, errorBody("server_error", gone))
      }
      if (error instanceof Unreadable) return send(response, 422, errorBody("unreadable_error", error.message))
      onError?.(error)
      send(response, error instanceof URIError ? 400 : 500, errorBody("server_error", "The request failed."))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, host, resolve)
  })
  const { port: at } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${at}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

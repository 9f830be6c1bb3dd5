/**
 * Resolves the address and secrets of a vendor's API, and creates the `fetch` for calling it. For authors of providers.
 */
import { Options as Tables } from "@divisi/core"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import * as ApiKey from "./ApiKey.ts"
import { unpacked } from "./internal/unpack.ts"
import { Failure, fromConnection, fromThrown, unreadable } from "./VendorError.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Options for resolving the address of an API. */
export interface Options {
  /** Id of the worker, used in errors. */
  readonly worker: string
  /** The base URL. Default: the first of `variables` that is set, otherwise the vendor's own API. */
  readonly baseURL?: string | undefined
  /** The environment variables for the base URL. The first one that is set is used. */
  readonly variables?: ReadonlyArray<string> | undefined
  readonly key?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

const table = Tables.table(
  {
    worker: Tables.name,
    baseURL: Tables.text,
    variables: Tables.listOf(Tables.name),
    key: Tables.text,
    headers: Tables.anObject,
    fetch: Tables.aFunction
  } satisfies Tables.ShapeOf<Options>,
  { required: ["worker"] }
)

/** The resolved address of an API. */
export interface Endpoint {
  /** The base URL without query and trailing slash; `undefined` for the vendor's own API. */
  readonly baseURL: string | undefined
  /** The query of the base URL with its question mark, for clients other than `fetch`; empty if there is no query. */
  readonly query: string
  /** A `fetch` that adds the query of the base URL to each request and does not follow redirects. */
  readonly fetch: typeof globalThis.fetch
  /** Strings that must not appear in errors: the key, headers, and the base URL's query and long parts. */
  readonly secrets: ReadonlyArray<string>
}

// -------------------------------------------------------------------------------------------------------------------
// Base URLs
// -------------------------------------------------------------------------------------------------------------------

const found = ({ baseURL, variables = [] }: Options): { readonly name: string; readonly value: string } | undefined => {
  if (baseURL !== undefined) return { name: "baseURL", value: baseURL }
  return variables.map((name) => ({ name, value: process.env[name] ?? "" })).find(({ value }) => value.trim() !== "")
}

const read = (options: Options): URL | undefined => {
  const base = found(options)
  if (base === undefined) return undefined
  const refused = (why: string) => new TypeError(`${options.worker}: the base URL (${base.name}) ${why}.`)
  const text = base.value.trim()
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw refused("must begin with http:// or https://")
  if (url.username !== "" || url.password !== "") {
    throw refused('contains a user name or password. Pass credentials as "apiKey" or in "headers"')
  }
  return url
}

/**
 * Minimum length of a query value that is redacted. Shorter values are unlikely to be secret and may be needed to
 * understand an error.
 */
const shortestValue = 6

/** Whether a path segment may be a key, judging by its length and a digit. */
const mayBeKey = (part: string): boolean => part.length >= 20 && /\d/.test(part) && !/[^\w.~%-]/.test(part)

const secretsOf = ({ headers = {}, key = "" }: Options, url: URL | undefined): ReadonlyArray<string> => {
  const query = [...(url?.searchParams.values() ?? [])].filter((value) => value.length >= shortestValue)
  const path = (url?.pathname.split("/") ?? []).filter(mayBeKey)
  // "Bearer …" is repeated without its first word, too.
  const own = Object.values(headers).flatMap((value) => [value, ...value.split(" ").slice(1)])
  return [key, ...query, ...path, ...own.filter((value) => value.length >= shortestValue)]
}

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Returns the host to which a response redirects. */
const target = (response: Response, asked: string): string => {
  const location = response.redirected ? response.url : (response.headers.get("location") ?? "")
  if (location === "" || !URL.canParse(location, asked)) return "nowhere"
  const { host, protocol } = new URL(location, asked)
  return `${protocol}//${host}`
}

const refuseRedirect = (response: Response, asked: string): Failure => {
  response.body?.cancel().catch(() => undefined)
  return unreadable(
    `it redirects to ${target(response, asked)}, which is not followed`,
    "if the API is there, set baseURL"
  )
}

/** Maximum number of bytes read from an error response. */
const longestError = 1024 * 1024

/** Reads the start of a body that may never end. */
const beginning = async (body: ReadableStream<Uint8Array>): Promise<Blob> => {
  const pieces: Array<Uint8Array<ArrayBuffer>> = []
  const reader = body.getReader()
  const read = unpacked(async () => (await reader.read()).value)
  let length = 0
  for (let piece = await read(); piece !== undefined; piece = await read()) {
    pieces.push(piece as Uint8Array<ArrayBuffer>)
    length += piece.length
    if (length > longestError) break
  }
  reader.cancel().catch(() => undefined)
  return new Blob(pieces)
}

/** Truncates the body of an error response. */
const shortened = async ({ body, headers, status }: Response): Promise<Response> =>
  new Response(body === null ? null : await beginning(body), { status, headers })

const urlOf = (input: string | URL | Request): string => (input instanceof Request ? input.url : String(input))

const hostOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).host : undefined)

const unconnected = (error: unknown, url: string, secrets: ReadonlyArray<string>): Failure =>
  new Failure(fromThrown(error, (error) => fromConnection(error, { host: hostOf(url), secrets })))

const withQuery = (input: string | URL | Request, query: URLSearchParams): string | URL | Request => {
  if (input instanceof Request || query.size === 0) return input
  const url = new URL(input)
  for (const [name, value] of query) url.searchParams.append(name, value)
  return url
}

/**
 * Creates a `fetch` that does not follow redirects, because the key, headers and prompt are meant only for the
 * configured server. A redirect fails with a {@link VendorError.Failure} that names the host.
 *
 * **Details**
 *
 * At most 1 MB of an unsuccessful response is read. If the connection fails, the error names the host and says what to
 * do, unless the request was aborted. Pass it to clients that are not created by a provider.
 *
 * **Example**
 *
 * ```ts no-run
 * import { Endpoint } from "@divisi/provider-kit"
 *
 * const response = await Endpoint.fetchWithoutRedirects()("https://llm.example.org/v1/models")
 * ```
 */
export const fetchWithoutRedirects =
  (
    fetch?: typeof globalThis.fetch,
    query: URLSearchParams = new URLSearchParams(),
    secrets: ReadonlyArray<string> = []
  ): typeof globalThis.fetch =>
  async (input, init) => {
    const url = urlOf(input)
    const sent = (fetch ?? globalThis.fetch)(withQuery(input, query), { ...init, redirect: "manual" })
    const response = await sent.catch((error: unknown) => {
      throw init?.signal?.aborted ? error : unconnected(error, url, secrets)
    })
    const isRedirect = response.redirected || response.type === "opaqueredirect" || redirects.has(response.status)
    if (isRedirect) throw refuseRedirect(response, url)
    return response.ok ? response : shortened(response)
  }

/** An unsuccessful response. */
export interface Refused {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; `undefined` if it is not JSON. */
  readonly body: unknown
}

/** A common mistake in base URLs, recognized by the path of a request, and how to fix it. */
interface Hint {
  readonly pattern: RegExp
  readonly says: (part: string) => string
}

/** Endpoint paths that are often pasted as part of a base URL. */
const calls =
  "chat/completions|completions|responses|messages|embeddings|models|models/[^/:]+:(?:streamG|g)enerateContent"

/** The first matching hint applies. Patterns are matched against the host and path. */
const hints: ReadonlyArray<Hint> = [
  {
    pattern: /^[^/]+\/api\/(?!.*v\d)()(?=.*(?:completions|responses|messages)$)/,
    says: () => "the base URL is under /api: for Ollama, end it with /v1 instead, otherwise with /api/v1"
  },
  {
    pattern: new RegExp(`/(${calls})/(?:v\\d\\w*/)?(?:${calls})$`),
    says: (path) => `the base URL contains the path of an endpoint: remove /${path}`
  },
  {
    pattern: /\/(v\d+\w*)\/\1(?:\/|$)/,
    says: (version) => `the base URL and the path both contain /${version}: remove it from the base URL`
  },
  {
    pattern: /^[^/]+\.azure\.(?:com|us|cn)\/(?!openai\/v1\/)()/,
    says: () => "Azure's API without an api-version is under /openai/v1: end the base URL with it"
  },
  {
    pattern: /^generativelanguage\.googleapis\.com\/(?!.*\/openai\/)()(?=.*(?:completions|responses|messages)$)/,
    says: () => "Google's Chat Completions API is under /v1beta/openai: end the base URL with it"
  },
  {
    pattern: /^(?!.*\/v\d)()/,
    says: () => "the base URL has no version: if the API is under /v1, append /v1"
  }
]

/**
 * Returns the host and the path of a URL for display. The query and long parts of the path may be keys.
 *
 * @internal
 */
export const shownAddress = (url: string): string | undefined => {
  if (!URL.canParse(url)) return undefined
  const { host, pathname } = new URL(url)
  const path = pathname.split("/").map((part) => (mayBeKey(part) ? "…" : part))
  return `${host}${path.join("/")}`.slice(0, longestShown)
}

/** Maximum length of a displayed address. */
const longestShown = 200

/**
 * Returns a hint about the address of a request that got 404, or a page instead of an answer.
 *
 * @internal
 */
export const hintOf = (url: string): string | undefined => {
  if (!URL.canParse(url)) return undefined
  const { hostname, pathname } = new URL(url)
  const place = `${hostname}${pathname}`.slice(0, longestAddress)
  for (const { pattern, says } of hints) {
    const found = pattern.exec(place)
    if (found !== null) return says(found[1] ?? "")
  }
  return undefined
}

/** Maximum length of an address that is examined. */
const longestAddress = 2_000

/** Statuses for an unknown path or an unsupported method. */
const noSuchPath: ReadonlySet<number> = new Set([404, 405])

const hinted = (reason: WorkerErrorReason, status: number, url: string): WorkerErrorReason => {
  const hint = noSuchPath.has(status) && reason._tag === "InvalidRequest" ? hintOf(url) : undefined
  return hint === undefined ? reason : { ...reason, detail: `${reason.detail ?? `status ${status}`} (${hint})` }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Returns a `fetch` that fails on an unsuccessful response, with the reason from `reasonOf`. This is needed because
 * SDKs omit parts of error responses and fail on some bodies. If `key` was refused, the error names its variable or
 * option.
 */
export const refusing =
  (
    fetch: typeof globalThis.fetch,
    reasonOf: (refused: Refused) => WorkerErrorReason,
    key: ApiKey.Sent
  ): typeof globalThis.fetch =>
  async (input, init) => {
    const response = await fetch(input, init)
    if (response.ok) return response
    const text = await response.text()
    const { headers, status } = response
    const reason = reasonOf({ status, headers, text, body: parsed(text) })
    const url = urlOf(input)
    throw new Failure(ApiKey.explain(hinted(reason, status, url), key, hostOf(url) ?? "this server"))
  }

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Removes trailing slashes without a regular expression, which would take quadratic time. */
const withoutSlashes = (address: string): string => {
  let end = address.length
  while (address[end - 1] === "/") end--
  return address.slice(0, end)
}

/**
 * Reads the address of an API.
 *
 * **Details**
 *
 * Throws a `TypeError` if the base URL is invalid or contains a user name or password. This happens when the worker is
 * created, before anything is sent. The message does not contain the URL.
 *
 * **Example**
 *
 * ```ts
 * import { Endpoint } from "@divisi/provider-kit"
 *
 * const endpoint = Endpoint.make({ worker: "acme:tiny", baseURL: "https://llm.example.org/v1/?token=hunter2" })
 * endpoint.baseURL // => "https://llm.example.org/v1"
 * endpoint.secrets // => ["", "hunter2"]
 * ```
 */
export const make = (options: Options): Endpoint => {
  Tables.check("Endpoint.make", options, table)
  const url = read(options)
  const secrets = secretsOf(options, url)
  return {
    baseURL: url && withoutSlashes(`${url.origin}${url.pathname}`),
    query: url?.search ?? "",
    fetch: fetchWithoutRedirects(options.fetch, url?.searchParams, secrets),
    secrets
  }
}

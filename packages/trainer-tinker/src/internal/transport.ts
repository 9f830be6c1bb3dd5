/**
 * Sends HTTP requests to a server of the Tinker API and decides when to retry them.
 *
 * Bodies are read leniently: an empty 204 labeled as JSON, a 500 in plain text, or a proxy's HTML page. If a reply is
 * lost, its request may have been executed; the error records this in {@link Errors.TinkerError.afterLostReply}.
 */
import { Elapsed, FailedCall } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import { VendorJson as Json, VendorError } from "@divisi/provider-kit"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Errors from "../TinkerError.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A request to send. */
export interface Outgoing {
  /** Name shown in messages. Default: the last part of the path. */
  readonly call?: string | undefined
  readonly method?: "GET" | "POST" | "DELETE" | undefined
  /** A path below `/api/v1/`, or a complete URL. */
  readonly path: string
  readonly body?: string | Uint8Array | undefined
  readonly contentType?: string | undefined
  readonly accept?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly timeoutMillis?: number | undefined
}

/** A reply, with any status. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array
  /** The parsed body, if it is valid JSON. */
  readonly json: unknown
}

/** When to retry a request. */
export interface Retry {
  /**
   * Delay before the first retry. It doubles with each further retry, up to `mostMillis`, and varies randomly by a
   * quarter.
   */
  readonly firstMillis: number
  readonly mostMillis: number
  /** Maximum time for which a request is retried, measured from its first attempt. */
  readonly patienceMillis: number
}

/** Settings for all exchanges. */
export interface Settings {
  /** Base URL without a trailing slash. */
  readonly baseUrl: string
  readonly timeoutMillis: number
  readonly retry: Retry
  readonly fetch: typeof fetch
  /** The value of `X-API-Key`; `undefined` for a server without keys. */
  readonly credential: Effect.Effect<Redacted.Redacted<string> | undefined, Errors.TinkerError>
  /** Called if the credential was rejected. Returns whether another attempt with a new one is possible. */
  readonly refused: Effect.Effect<boolean>
  /** Strings that must not appear in errors. */
  readonly secrets: () => ReadonlyArray<string>
}

// -------------------------------------------------------------------------------------------------------------------
// One exchange
// -------------------------------------------------------------------------------------------------------------------

const callOf = ({ call, path }: Outgoing) => call ?? path.split("/").at(-1) ?? path

const parsed = (bytes: Uint8Array, contentType: string | null): unknown => {
  if (bytes.length === 0 || contentType?.includes("protobuf")) return undefined
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

const causeOf = (cause: unknown): string => {
  const { cause: inner, message } = cause as {
    readonly cause?: { code?: string | undefined; message?: string | undefined } | undefined
    message?: string | undefined
  }
  return inner?.code ?? inner?.message ?? message ?? String(cause)
}

const headersOf = (outgoing: Outgoing, key: Redacted.Redacted<string> | undefined) =>
  defined({
    accept: outgoing.accept ?? "application/json",
    "content-type": outgoing.body && (outgoing.contentType ?? "application/json"),
    "x-api-key": key && Redacted.value(key),
    ...outgoing.headers
  })

/** Sends a request once. Fails only if there is no answer, or if it does not arrive in time. */
export const exchange = (settings: Settings, outgoing: Outgoing): Effect.Effect<Reply, Errors.TinkerError> =>
  Effect.gen(function* () {
    const key = yield* settings.credential
    const { body, method = "POST", path, timeoutMillis = settings.timeoutMillis } = outgoing
    const unreachable = (detail: string) => Errors.make(callOf(outgoing), { _tag: "Unreachable", detail })
    return yield* Effect.tryPromise({
      try: async (signal) => {
        const response = await settings.fetch(`${settings.baseUrl}/api/v1/${path}`, {
          method,
          headers: headersOf(outgoing, key),
          redirect: "manual",
          signal,
          body: (body ?? null) as string | null
        })
        const bytes = new Uint8Array(await response.arrayBuffer())
        const { headers, status } = response
        return { status, headers, bytes, json: parsed(bytes, headers.get("content-type")) }
      },
      catch: (cause) =>
        unreachable(
          `${settings.baseUrl} cannot be reached (${VendorError.detail(causeOf(cause), settings.secrets())}): is the server running?`
        )
    }).pipe(
      Effect.timeoutOrElse({
        duration: timeoutMillis,
        orElse: () =>
          Effect.fail(unreachable(`${settings.baseUrl} did not answer within ${Elapsed.inSeconds(timeoutMillis)}.`))
      })
    )
  })

// -------------------------------------------------------------------------------------------------------------------
// Replies that are refusals
// -------------------------------------------------------------------------------------------------------------------

/** Formats an entry in a list of validation errors: its location and message. */
const faultOf = (fault: unknown): string => {
  const { loc, msg } = Json.fields(fault)
  const place = Json.items(loc).filter((key) => typeof key === "string" || typeof key === "number")
  return `${place.join(".") || "body"}: ${Json.text(msg) ?? "refused"}`
}

const detailOf = ({ bytes, json, status }: Reply): string => {
  const { detail, error, message } = Json.fields(json)
  if (Array.isArray(detail)) return detail.map(faultOf).join("; ")
  const said = Json.text(detail) ?? Json.text(error) ?? Json.text(message)
  return said ?? (new TextDecoder().decode(bytes.subarray(0, 4_000)) || `status ${status}`)
}

/** Converts an unsuccessful reply to an error. */
export const refusal = (
  settings: Settings,
  outgoing: Outgoing,
  reply: Reply,
  nowMillis: number,
  afterLostReply = false
): Errors.TinkerError => {
  const after = FailedCall.retryAfterMillis((name) => reply.headers.get(name), nowMillis)
  const detail = `${VendorError.detail(detailOf(reply), settings.secrets())} (status ${reply.status})`
  return Errors.make(callOf(outgoing), Errors.reasonOfStatus(reply.status, detail, after), afterLostReply)
}

const isSuccess = ({ status }: Reply) => (status >= 200 && status < 300) || status === 302

/** Whether a reply justifies a retry. Status 409 and 425 are excluded, because their meaning depends on the call. */
const isWorthRepeating = (reply: Reply): boolean => {
  const { status } = reply
  if (reply.headers.get("x-should-retry") === "false") return false
  return status === 408 || status === 429 || status >= 500 || reply.headers.get("x-should-retry") === "true"
}

// -------------------------------------------------------------------------------------------------------------------
// Repeating
// -------------------------------------------------------------------------------------------------------------------

/** Returns the delay before attempt `attempt`, where 1 is the first retry. */
export const waitMillis = ({ firstMillis, mostMillis }: Retry, attempt: number): Effect.Effect<number> =>
  Effect.map(Random.next, (share) => Math.min(firstMillis * 2 ** (attempt - 1), mostMillis) * (0.75 + share / 4))

const longestAdvice = 60_000

/**
 * Sends a request until there is a final answer or the time limit is reached.
 *
 * **Details**
 *
 * Every attempt sends the same bytes, so a server that numbers requests executes them only once.
 */
export const request = (
  settings: Settings,
  outgoing: Outgoing,
  onRateLimited: Effect.Effect<void> = Effect.void
): Effect.Effect<Reply, Errors.TinkerError> =>
  Effect.gen(function* () {
    const { retry } = settings
    const started = yield* Clock.currentTimeMillis
    let afterLostReply = false
    let hasRenewed = false
    for (let attempt = 1; ; attempt++) {
      const result = yield* Effect.result(exchange(settings, outgoing))
      const now = yield* Clock.currentTimeMillis
      const reply = result._tag === "Success" ? result.success : undefined
      if (reply !== undefined && isSuccess(reply)) return reply
      const error =
        result._tag === "Failure" ? result.failure : refusal(settings, outgoing, result.success, now, afterLostReply)
      if (reply?.status === 401 && !hasRenewed && (yield* settings.refused)) {
        hasRenewed = true
        continue
      }
      if (result._tag === "Failure" && result.failure.reason._tag !== "Unreachable") return yield* error
      if (reply !== undefined && !isWorthRepeating(reply)) return yield* error
      // Status 429 means that nothing was executed; all other failures leave this open.
      if (reply?.status === 429) yield* onRateLimited
      else afterLostReply = true
      const advised = error.reason._tag === "RateLimited" ? error.reason.retryAfterMillis : undefined
      const wait = advised === undefined ? yield* waitMillis(retry, attempt) : Math.min(advised, longestAdvice)
      if (now - started + wait > retry.patienceMillis) return yield* error
      yield* Effect.sleep(wait)
    }
  })

/**
 * One HTTP exchange with a server of the Tinker API, and when to send it again.
 *
 * Bodies are read tolerantly: an empty 204 that claims to be JSON, a 500 in plain text, a proxy's page. A reply that is
 * lost may belong to a request that was carried out, so it is remembered whether that happened: see
 * {@link Errors.TinkerError.afterLostReply}.
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
  /** For people: the last part of the path by default. */
  readonly call?: string | undefined
  readonly method?: "GET" | "POST" | "DELETE" | undefined
  /** Below `/api/v1/`, or a whole address. */
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
  /** The body as JSON, if it is valid JSON. */
  readonly json: unknown
}

/** When to send again. */
export interface Retry {
  /** The first wait; each further one is twice as long, up to `mostMillis`, and varied by a quarter. */
  readonly firstMillis: number
  readonly mostMillis: number
  /** The maximum time for which a request is retried, from its first attempt on. */
  readonly patienceMillis: number
}

/** The settings of every exchange. */
export interface Settings {
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly timeoutMillis: number
  readonly retry: Retry
  readonly fetch: typeof fetch
  /** The value of `X-API-Key`; absent for a server without keys. */
  readonly credential: Effect.Effect<Redacted.Redacted<string> | undefined, Errors.TinkerError>
  /** Called if the credential was rejected. Returns whether a new one is worth another attempt. */
  readonly refused: Effect.Effect<boolean>
  /** Texts that must not show in errors. */
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

/** Sends once. Fails only if there was no answer, or not in time. */
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
          Effect.fail(unreachable(`${settings.baseUrl} gave no answer in ${Elapsed.inSeconds(timeoutMillis)}.`))
      })
    )
  })

// -------------------------------------------------------------------------------------------------------------------
// Replies that are refusals
// -------------------------------------------------------------------------------------------------------------------

/** One fault of a validator's list: where it is, and what it is. */
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

/** 409 and 425 are not for here: what they mean depends on the call. */
const isWorthRepeating = (reply: Reply): boolean => {
  const { status } = reply
  if (reply.headers.get("x-should-retry") === "false") return false
  return status === 408 || status === 429 || status >= 500 || reply.headers.get("x-should-retry") === "true"
}

// -------------------------------------------------------------------------------------------------------------------
// Repeating
// -------------------------------------------------------------------------------------------------------------------

/** The wait before attempt `attempt` (1 is the first repetition). */
export const waitMillis = ({ firstMillis, mostMillis }: Retry, attempt: number): Effect.Effect<number> =>
  Effect.map(Random.next, (share) => Math.min(firstMillis * 2 ** (attempt - 1), mostMillis) * (0.75 + share / 4))

const longestAdvice = 60_000

/**
 * Sends until there is an answer that will not change, or patience ends.
 *
 * **Details**
 *
 * The request is the same bytes each time, so that servers which number their requests carry it out once.
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
      // 429 says that nothing was done; all others leave it open.
      if (reply?.status === 429) yield* onRateLimited
      else afterLostReply = true
      const advised = error.reason._tag === "RateLimited" ? error.reason.retryAfterMillis : undefined
      const wait = advised === undefined ? yield* waitMillis(retry, attempt) : Math.min(advised, longestAdvice)
      if (now - started + wait > retry.patienceMillis) return yield* error
      yield* Effect.sleep(wait)
    }
  })

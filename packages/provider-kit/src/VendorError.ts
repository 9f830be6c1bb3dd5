/**
 * Maps vendors' error responses to the reasons of a `WorkerError`, for providers that use HTTP directly or through a
 * client that exposes the vendor's response.
 *
 * If there is a status, it determines the reason. Codes and messages distinguish refusals with the same status, and are
 * the only evidence for an error inside a stream. A provider that knows its vendor's codes checks them first.
 */
import { FailedCall } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import { presentable } from "./internal/presentable.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A vendor's error response. */
export type Refusal = FailedCall.FailedCall

/** Additional context for interpreting an error. */
export interface Surroundings {
  /**
   * Strings to redact, such as the API key; empty ones are ignored. Anything that looks like a key is also redacted.
   */
  readonly secrets?: ReadonlyArray<string> | undefined
  /** Current time in milliseconds since the Unix epoch, used if `retry-after` is a date. */
  readonly nowMillis: number
}

// -------------------------------------------------------------------------------------------------------------------
// Details
// -------------------------------------------------------------------------------------------------------------------

/**
 * Formats a vendor's message for display: a single truncated line without secrets, markup or terminal control
 * characters. Error pages, and requests quoted in errors, can be megabytes long.
 *
 * **Details**
 *
 * A secret of at least 8 characters is also found with spaces between its letters, URL-encoded and in base64. User
 * names and query strings in URLs are also redacted, and so are strings that look like keys.
 *
 * **Example**
 *
 * ```ts
 * import { VendorError } from "@divisi/provider-kit"
 *
 * VendorError.detail("<h1>No\n  entry</h1> for hunter2", ["hunter2"]) // => "No entry for <hidden>"
 * VendorError.detail("at http://me:pw@host/v1?token=1", []) // => "at http://<hidden>@host/v1?<hidden>"
 * ```
 */
export const detail = (text: string, secrets: ReadonlyArray<string> = []): string => presentable(text, secrets)

// -------------------------------------------------------------------------------------------------------------------
// Reasons
// -------------------------------------------------------------------------------------------------------------------

/** Returns the presentable part of a vendor's message, or `undefined` if nothing remains. */
const shown = (text: string, secrets: ReadonlyArray<string> | undefined): string | undefined => {
  const said = detail(text, secrets)
  return said === "" ? undefined : said
}

/**
 * Returns the reason for an error response.
 *
 * **Example**
 *
 * ```ts
 * import { VendorError } from "@divisi/provider-kit"
 *
 * const header = (name: string) => (name === "retry-after" ? "2" : undefined)
 * const reason = VendorError.fromRefusal({ status: 429, message: "Slow down.", header }, { nowMillis: 0 })
 * reason // => { _tag: "RateLimited", retryAfterMillis: 2000, detail: "Slow down." }
 * VendorError.fromRefusal({ message: "server_error" }, { nowMillis: 0 })._tag // => "Overloaded"
 * ```
 */
export const fromRefusal = (refusal: Refusal, { nowMillis, secrets }: Surroundings): WorkerErrorReason =>
  FailedCall.reasonOf(refusal, nowMillis, shown(refusal.message, secrets))

// -------------------------------------------------------------------------------------------------------------------
// Exceptions
// -------------------------------------------------------------------------------------------------------------------

/** An exception that contains the reason why the call failed. */
export class Failure extends Error {
  readonly reason: WorkerErrorReason

  constructor(reason: WorkerErrorReason) {
    // The vendor's message is not used, because SDKs search messages for strings such as "timeout", and then throw a
    // different error.
    super("The call failed.")
    this.reason = reason
  }
}

/**
 * Returns the failure of an unreadable answer; `what` describes the problem without the vendor's text. If `remedy` is
 * set, the call is not retried, because a retry would fail in the same way.
 */
export const unreadable = (what: string, remedy?: string): Failure =>
  new Failure({ _tag: "Malformed", detail: what, ...(remedy !== undefined && { remedy }) })

const otherShape: WorkerErrorReason = { _tag: "Malformed", detail: "the response does not match this API" }

/** Whether the JavaScript engine threw this error because a value had an unexpected type. */
const isOfShape = (error: unknown): boolean =>
  (error instanceof TypeError || error instanceof RangeError) &&
  error.cause === undefined &&
  /^(?:Cannot |undefined |null |Invalid (?:string|array) length|Maximum call stack|Reduce of empty)|is not (?:a function|an object|defined|a constructor|(?:async )?iterable)/.test(
    error.message
  )

/** Messages that indicate a broken bundle or installation, regardless of the error class. */
const ofBundles = /^Dynamic require of |^Cannot find (?:module|package) |^Package subpath /

const bundleCodes = /^(?:ERR_)?(?:MODULE_NOT_FOUND|REQUIRE_|PACKAGE_|UNKNOWN_BUILTIN|UNSUPPORTED_DIR)/

/**
 * Whether an error was caused by the program, its bundle or its installation, such as a missing module or an undefined
 * name, and not by the vendor's response. A `TypeError` does not count, because an SDK may throw it for an unexpected
 * response.
 */
const isOfProgram = (error: unknown): boolean =>
  error instanceof ReferenceError ||
  (error instanceof Error &&
    (bundleCodes.test(String((error as { readonly code?: unknown }).code ?? "")) || ofBundles.test(error.message)))

/**
 * Returns the reason for an exception from `fetch` or from reading its response: a status, a network error, a timeout,
 * or invalid JSON. A programming error is a `Defect`, because the vendor did not reject anything. Anything else is a
 * request that could not be made, which a retry cannot fix.
 */
export const fromException = (error: unknown, { secrets }: Pick<Surroundings, "secrets">): WorkerErrorReason => {
  const detail = error instanceof Error ? error.message : String(error)
  const reason: WorkerErrorReason = isOfProgram(error)
    ? { _tag: "Defect", detail }
    : (FailedCall.fromThrown(error) ?? { _tag: "InvalidRequest", detail })
  return defined({ ...reason, detail: shown(reason.detail ?? "", secrets) }) as WorkerErrorReason
}

/** Commands that start local model servers, by their default port. */
const starts: Readonly<Record<number, string>> = { 11434: "ollama serve", 1234: "lms server start" }

const isThisMachine = (address: string): boolean => address === "::1" || address.startsWith("127.")

/** A failed connection: what happened, and what to do if the general advice is too vague. */
interface Disconnected {
  readonly detail: string
  readonly remedy?: string | undefined
}

const online = "check that this machine is online, and the host name in the base URL"
const proxied = "check the connection. Behind a proxy, set HTTPS_PROXY and NODE_USE_ENV_PROXY=1"

/** Failures for which the error code is more helpful than the message, which may be as vague as "fetch failed". */
const byCode: ReadonlyArray<readonly [codes: RegExp, what: (host: string) => string, remedy: string]> = [
  [/^ENOTFOUND$/, (host) => `the host ${host} is unknown`, online],
  [/^EAI_AGAIN$/, (host) => `the DNS server did not resolve ${host}`, online],
  [/^E(?:NET|HOST)(?:UNREACH|DOWN)$/, (host) => `${host} cannot be reached over this machine's network`, online],
  [/^(?:ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, (host) => `${host} did not accept the connection in time`, proxied],
  [
    /CERT|^UNABLE_TO_/,
    (host) => `the certificate of ${host} is not trusted`,
    "if a proxy inspects the traffic, set NODE_EXTRA_CA_CERTS to the file with its certificate"
  ]
]

const isText = (value: unknown): value is string => typeof value === "string"

/** Describes a refused connection. */
const refusedAt = (address: string, port: number): Disconnected => {
  const detail = `no server is listening on ${address.includes(":") ? `[${address}]` : address}:${port}`
  if (!isThisMachine(address)) return { detail }
  const start = starts[port]
  return { detail, remedy: start === undefined ? "start the server" : `start it with "${start}"` }
}

const disconnected = (error: unknown, host: string | undefined): Disconnected => {
  const { address, code, errors, hostname, message, name, port } = (error ?? {}) as Readonly<Record<string, unknown>>
  // A name with several addresses: each has its error.
  if (Array.isArray(errors) && errors.length > 0) return disconnected(errors.at(-1), host)
  if (code === "ECONNREFUSED" && isText(address) && typeof port === "number") return refusedAt(address, port)
  const place = isText(hostname) ? hostname : host
  const row = isText(code) && place !== undefined ? byCode.find(([codes]) => codes.test(code)) : undefined
  if (row !== undefined && place !== undefined) return { detail: row[1](place), remedy: row[2] }
  const said = [message, code, name].find((text) => isText(text) && text !== "") ?? String(error)
  return { detail: place === undefined || String(said).includes(place) ? String(said) : `${place}: ${said}` }
}

/**
 * Returns the reason for a failed connection to `host`. The innermost cause is specific; the outer ones contain only
 * "fetch failed".
 */
export const fromConnection = (
  error: unknown,
  { host, secrets }: Pick<Surroundings, "secrets"> & { readonly host?: string | undefined }
): WorkerErrorReason => {
  const inner = FailedCall.causesOf(error).at(-1)
  const { remedy, ...failed } = disconnected(inner ?? error, host)
  const _tag = /TIMEOUT|TIMEDOUT/.test(String(inner?.code)) ? "Timeout" : "Network"
  return defined({ _tag, detail: detail(failed.detail, secrets), remedy }) as WorkerErrorReason
}

/**
 * Returns the reason for any value that a call threw: the reason of a {@link Failure} among its causes, otherwise the
 * result of `map`. If `map` throws as well, or if code throws while it reads a response (`isReading`), the vendor's
 * data had an unknown shape. This is the vendor's error, not an error in the request.
 */
export const fromThrown = (
  error: unknown,
  map: (error: unknown) => WorkerErrorReason,
  isReading = false
): WorkerErrorReason => {
  try {
    const failure = FailedCall.causesOf(error).find((one) => one instanceof Failure)
    return failure?.reason ?? (isReading && isOfShape(error) ? otherShape : map(error))
  } catch {
    return otherShape
  }
}

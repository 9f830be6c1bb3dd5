/**
 * Classifies failed calls by the status, code or message (in that order) that vendor SDKs and HTTP clients attach to
 * their errors.
 *
 * Providers call {@link reasonOf} for an error response from a vendor. {@link fromThrown} classifies any value thrown
 * by a worker.
 */
import { defined } from "../Fields.ts"
import { messageOf } from "../Thrown.ts"
import { readReset } from "./Allowance.ts"
import { durationMillis, meaningOfWords, vendorCodes } from "./vendorWords.ts"
import type { WorkerErrorReason } from "./Worker.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Returns the value of a response header. `name` is lowercase. */
export type Header = (name: string) => string | null | undefined

/** The available information about a failed call. */
export interface FailedCall {
  /** HTTP status code. Undefined for an error sent within a stream. */
  readonly status?: number | undefined
  /** The vendor's error message. May be displayed. */
  readonly message: string
  /** Error codes, error types and the response body. Used only for classification and never displayed. */
  readonly codes?: string | undefined
  readonly header?: Header | undefined
}

type Tag = WorkerErrorReason["_tag"]

// -------------------------------------------------------------------------------------------------------------------
// Errors of vendors
// -------------------------------------------------------------------------------------------------------------------

/** Maximum number of characters to search for known phrases. */
const searched = 4_000

/**
 * Returns the reason that an error code indicates regardless of the status. Multiple codes are separated by newlines.
 */
const tagOfCodes = ({ codes = "" }: FailedCall): Tag | undefined => {
  const code = codes
    .slice(0, searched)
    .split("\n")
    .find((one) => Object.hasOwn(vendorCodes, one))
  return code === undefined ? undefined : vendorCodes[code]
}

const tagOfWords = ({ codes = "", message }: FailedCall): Tag | undefined =>
  meaningOfWords(`${message.slice(0, searched)}\n${codes.slice(0, searched)}`)

const tagOfStatus: Readonly<Record<number, Tag>> = {
  401: "Authentication",
  402: "Quota",
  403: "Authentication",
  408: "Timeout",
  409: "Overloaded",
  // Sent by Bedrock when the model fails, and by Groq when its capacity is exhausted.
  424: "Overloaded",
  425: "Overloaded",
  498: "Overloaded",
  // The request was cancelled by Google or by an intermediate proxy.
  499: "Overloaded",
  504: "Timeout",
  524: "Timeout"
}

/** Reasons that the message of a rejected request may indicate. Some vendors report an invalid key with status 400. */
const ofRequests: ReadonlySet<Tag | undefined> = new Set<Tag>([
  "ContextTooLong",
  "ContentFiltered",
  "Quota",
  "Authentication",
  "RateLimited"
])

/**
 * Classifies a failed call by its most specific evidence: first the code, then the status, then the message if the
 * status is ambiguous.
 */
const tagOf = (call: FailedCall): Tag => {
  const { status } = call
  const coded = tagOfCodes(call)
  if (status === undefined) return coded ?? tagOfWords(call) ?? "Overloaded"
  if (status < 300) return coded ?? "Malformed"
  const said = tagOfWords(call)
  // Some vendors send quota codes for per-minute limits, and vice versa. Status 429 never refers to an individual
  // request.
  if (status === 429) return said === "Quota" || coded === "Quota" ? "Quota" : "RateLimited"
  if (coded !== undefined) return coded
  // Gateways also use 403 for moderated content and for accounts without credit.
  if (status === 403 && (said === "ContentFiltered" || said === "Quota" || said === "RateLimited")) return said
  // A proxy may pass the vendor's rejection of a prompt on as a failed dependency.
  if (status === 424 && said === "ContextTooLong") return said
  const known = tagOfStatus[status]
  if (known !== undefined) return known
  if (status >= 500) return said === "ContextTooLong" ? said : "Overloaded"
  if (said !== undefined && ofRequests.has(said)) return said
  return status === 413 ? "ContextTooLong" : "InvalidRequest"
}

const finite = (value: number): number | undefined => (Number.isSafeInteger(value) ? value : undefined)

const count = (pattern: RegExp, text: string): number | undefined => {
  const found = pattern.exec(text)
  const digits = found?.[1] ?? found?.[2]
  return digits === undefined ? undefined : finite(Number(digits.replaceAll(",", "")))
}

/** Extracts the token counts from an error message, such as "210000 tokens > 200000 maximum". */
const sizes = (message: string) => {
  const text = message.slice(0, searched)
  const contextTokens = count(
    /> ?(\d[\d,]{2,})|(?:context (?:length|window|size)|maximum)[^\d]{0,60}?(\d[\d,]{2,})/i,
    text
  )
  const neededTokens = count(/(\d[\d,]{2,}) tokens? >|(?:resulted in|requested) (\d[\d,]{2,})/i, text)
  return { contextTokens, neededTokens }
}

/** Durations with units that some servers send instead of seconds, such as `7s`, `500ms` or `1m30s`. */
const duration = /^\s*(?:\d{1,9}(?:\.\d{1,9})?(?:ms|[hms])){1,4}\s*$/

/** A number of seconds, also with its unit as a word, or repeated because a proxy added the header again. */
const seconds = /^\s*(\d+(?:\.\d+)?)\s*(?:$|,|sec(?:ond)?s?\s*$)/i

/** The start of a date. `Date.parse` alone finds one in almost any text that contains a number. */
const date = /^\s*(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? |\d{4}-\d\d-\d\d)/i

/** The smallest number of seconds that is a Unix timestamp, and not a delay. */
const firstTimestamp = 1e9

/**
 * Returns the delay requested by the `retry-after-ms` or `retry-after` header (in seconds, with units, or as a date or
 * Unix timestamp), in milliseconds. If neither is present and valid, it is the time until an exhausted limit resets
 * (`x-ratelimit-remaining: 0`), or `undefined`.
 */
export const retryAfterMillis = (header: Header, nowMillis: number): number | undefined => {
  const number = (text: string | null | undefined) => seconds.exec(text ?? "")?.[1]
  const ms = number(header("retry-after-ms"))
  if (ms !== undefined) return finite(Math.ceil(Number(ms)))
  const after = header("retry-after") ?? ""
  const wait = Number(number(after) ?? Number.NaN)
  if (wait < firstTimestamp) return finite(Math.ceil(wait * 1000))
  if (duration.test(after)) return finite(Math.ceil(durationMillis(after.trim())!))
  const reset = header("x-ratelimit-remaining") === "0" ? (header("x-ratelimit-reset") ?? "") : ""
  const text = wait >= firstTimestamp || date.test(after) ? after : reset
  const millis = text === "" ? undefined : readReset(text, nowMillis)
  return millis === undefined || millis === 0 ? undefined : finite(Math.ceil(millis))
}

/**
 * Returns the reason why a vendor rejected a call. The status takes precedence. Codes and phrases disambiguate errors
 * with the same status, and are the only evidence for errors sent within a stream. `detail` is included in the returned
 * reason.
 */
export const reasonOf = (call: FailedCall, nowMillis: number, detail?: string): WorkerErrorReason => {
  const _tag = tagOf(call)
  if (_tag === "ContextTooLong") return defined({ _tag, ...sizes(call.message), detail })
  if (_tag !== "RateLimited" && _tag !== "Overloaded") return defined({ _tag, detail })
  const millis = call.header === undefined ? undefined : retryAfterMillis(call.header, nowMillis)
  return defined({ _tag, retryAfterMillis: millis, detail })
}

// -------------------------------------------------------------------------------------------------------------------
// Thrown values
// -------------------------------------------------------------------------------------------------------------------

/** Error fields that may contain a reason, as set by `fetch`, undici, Node, axios, got, and vendor SDKs. */
type Thrown = {
  readonly [Field in
    | "name"
    | "message"
    | "code"
    | "status"
    | "statusCode"
    | "statusText"
    | "headers"
    | "responseHeaders"
    | "response"
    | "$metadata"
    | "httpStatusCode"
    | "cause"]?: unknown
}

const isObject = (value: unknown): value is Thrown => typeof value === "object" && value !== null

/** Returns an error and its chain of causes, outermost first. */
export const causesOf = (error: unknown): ReadonlyArray<Thrown> => {
  const causes: Array<Thrown> = []
  for (let next = error; isObject(next) && causes.length < 8; next = next.cause) causes.push(next)
  return causes
}

const isStatus = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 400 && value <= 599

const statusOf = (error: Thrown): number | undefined => {
  const { response, $metadata } = error
  const said = [error.status, error.statusCode, error.code]
  if (isObject(response)) said.push(response.status, response.statusCode)
  if (isObject($metadata)) said.push($metadata.httpStatusCode)
  return said
    .map((value) => (typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value))
    .find(isStatus)
}

/**
 * Extracts an HTTP status from a message, e.g. "503", "HTTP 503", "Request failed with status code 429", "(500)
 * Internal Server Error".
 */
const statusInWords = (message: string): number | undefined => {
  const found = /(?:^|\b(?:https?(?:\/[\d.]+)?|status|status code|error|code)[ :=(]{1,3}|\()([45]\d\d)(?![\w.])/i.exec(
    message.slice(0, searched)
  )
  return found === null ? undefined : Number(found[1])
}

const headerOf = (error: Thrown): Header | undefined => {
  const headers =
    error.headers ?? error.responseHeaders ?? (isObject(error.response) ? error.response.headers : undefined)
  if (!isObject(headers)) return undefined
  const read = (headers as { readonly get?: unknown }).get
  return (name) => {
    const value = typeof read === "function" ? read.call(headers, name) : (headers as Record<string, unknown>)[name]
    return typeof value === "string" || typeof value === "number" ? String(value) : undefined
  }
}

/** Matches error codes related to connections, but not those related to files. */
const networkCode =
  /^(?:E(?:CONN|PIPE|AI_|HOST|NET|NOTFOUND|PROTO|TIMEDOUT|SOCKET)\w*|UND_ERR_\w+|ERR_(?:NETWORK|SOCKET|STREAM|HTTP2|TLS|SSL|INTERNET|CONNECTION)\w*|\w*CERT\w*)$/

const connection =
  /fetch failed|failed to fetch|network|terminated|socket|premature close|connection (?:error|refused|reset|closed)|\bE(?:CONN[A-Z]+|PIPE|NOTFOUND|AI_AGAIN)\b/i

const timeoutWords = /TIMEDOUT|TIMEOUT|ECONNABORTED/

/** Returns the innermost system error code, such as `ENOTFOUND`. */
const systemCode = (causes: ReadonlyArray<Thrown>): string | undefined =>
  causes.map(({ code }) => code).findLast((code): code is string => typeof code === "string" && networkCode.test(code))

const engineErrors: ReadonlyArray<unknown> = ["TypeError", "RangeError", "ReferenceError", "EvalError", "URIError"]

/**
 * Classifies an error by its name and message, as a last resort. Errors thrown by the JavaScript engine indicate bugs,
 * regardless of their message.
 */
const tagOfThrown = (causes: ReadonlyArray<Thrown>, message: string): Tag | undefined => {
  const names = causes.map(({ name }) => (typeof name === "string" ? name : ""))
  if (names.some((name) => name === "TimeoutError" || name === "AbortError")) return "Timeout"
  const code = systemCode(causes)
  if (code !== undefined) return timeoutWords.test(code) ? "Timeout" : "Network"
  if (names[0] === "SyntaxError") return "Malformed"
  const isEngines = engineErrors.includes(names[0])
  if (isEngines && !(names[0] === "TypeError" && connection.test(message))) return undefined
  const codes = causes.map(({ code }) => (typeof code === "string" ? code : "")).join(" ")
  // Splits SDK error names such as `RateLimitError` and `APIConnectionTimeoutError` into words.
  const named = names.join(" ").replaceAll(/([a-z])([A-Z])/g, "$1 $2")
  const said = { message: `${message}\n${named}`, codes }
  return (
    tagOfWords(said) ?? (timeoutWords.test(message) ? "Timeout" : connection.test(said.message) ? "Network" : undefined)
  )
}

/** Maximum length of a displayed message. Error pages can be megabytes long. */
const shown = 600

/**
 * Returns the error message, extended with that of the innermost cause, because the outer message may be as vague as
 * "fetch failed".
 */
const sayOf = (message: string, causes: ReadonlyArray<Thrown>): string => {
  const inner = causes.at(-1)
  const more = causes.length < 2 ? undefined : messageOf(inner)
  const code = systemCode(causes)
  const said = more === undefined || more === "" || message.includes(more) ? message : `${message}: ${more}`
  return (code === undefined || said.includes(code) ? said : `${said}: ${code}`).slice(0, shown)
}

/** Returns an error's message, or the status and status text of a thrown response. */
const wordsOf = (error: unknown): string => {
  const { message, status, statusText } = isObject(error) ? error : {}
  return message === undefined && typeof statusText === "string" ? `${status} ${statusText}`.trim() : messageOf(error)
}

/**
 * Classifies a thrown value. Returns `undefined` if the reason is unknown, which usually indicates a bug in the code
 * that threw.
 *
 * **Details**
 *
 * A status on the error or one of its causes takes precedence, followed by connection error codes, the error's name,
 * and finally phrases in the message, including "503" or "ECONNRESET". Never throws.
 *
 * **Example**
 *
 * ```ts
 * import { FailedCall } from "@divisi/core"
 *
 * const reset = Object.assign(new Error("socket hang up"), { code: "ECONNRESET" })
 * FailedCall.fromThrown(new TypeError("fetch failed", { cause: reset }))?._tag // => "Network"
 * FailedCall.fromThrown(new Error("503 Service Unavailable"))?._tag // => "Overloaded"
 * FailedCall.fromThrown(new Error("no such model")) // => undefined
 * ```
 */
export const fromThrown = (error: unknown, nowMillis = Date.now()): WorkerErrorReason | undefined => {
  try {
    return recognised(error, nowMillis)
  } catch {
    return undefined
  }
}

const recognised = (error: unknown, nowMillis: number): WorkerErrorReason | undefined => {
  const causes = causesOf(error)
  const message = wordsOf(error)
  const detail = sayOf(message, causes)
  const answered = causes.find((cause) => statusOf(cause) !== undefined)
  const status = answered === undefined ? undefined : statusOf(answered)
  const read = (status: number) => {
    const { code } = answered ?? {}
    const codes = typeof code === "string" ? code : undefined
    return reasonOf({ status, message, codes, header: answered && headerOf(answered) }, nowMillis, detail)
  }
  if (status !== undefined) return read(status)
  const _tag = tagOfThrown(causes, message)
  // Phrases about a connection or a limit are more reliable than a number nearby.
  const inWords =
    _tag === undefined || _tag === "Overloaded" || _tag === "InvalidRequest" ? statusInWords(message) : undefined
  const isEngines = isObject(error) && engineErrors.includes(error.name)
  if (inWords !== undefined && !isEngines) return read(inWords)
  return _tag === undefined ? undefined : { _tag, detail }
}

/**
 * Maps vendors' refusals to the reasons of a `WorkerError`: for providers that speak HTTP themselves, or through a
 * client that passes on the vendor's answer.
 *
 * The status decides, if there is one. Codes and words distinguish refusals that share a status, and are all there is
 * for an error inside a stream. A provider that knows its vendor's codes looks at them first.
 */
import { defined } from "@divisi/core/Fields"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import { presentable } from "./internal/presentable.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A vendor's refusal. */
export interface Refusal {
  /** Absent for an error inside a stream. */
  readonly status?: number | undefined
  /** The vendor's message, for people. */
  readonly message: string
  /** Codes, types and the body, if they say more than the message; never shown. */
  readonly codes?: string | undefined
  /** Gives the value of a header by its name in lower case. */
  readonly header?: ((name: string) => string | null | undefined) | undefined
}

/** What is known besides the error. */
export interface Surroundings {
  /** Texts to hide, such as the API key; empty ones are ignored. Anything that looks like a key is hidden, too. */
  readonly secrets?: ReadonlyArray<string> | undefined
  /** The current time in milliseconds since 1970, for a retry-after that is a date. */
  readonly nowMillis: number
}

// -------------------------------------------------------------------------------------------------------------------
// Details
// -------------------------------------------------------------------------------------------------------------------

/**
 * A vendor's message on one line, short and without secrets, mark-up and characters that act on a terminal: error pages,
 * and requests repeated in an error, can be megabytes long.
 *
 * **Details**
 *
 * A secret of at least 8 characters is also found with spaces between its letters, in a URL's escapes and in base64;
 * users and queries of URLs, and what looks like a key, are hidden as well.
 *
 * **Example**
 *
 * ```ts
 * import * as VendorError from "@divisi/provider-kit/VendorError"
 *
 * VendorError.detail("<h1>No\n  entry</h1> for hunter2", ["hunter2"]) // => "No entry for <hidden>"
 * VendorError.detail("at http://me:pw@host/v1?token=1", []) // => "at http://<hidden>@host/v1?<hidden>"
 * ```
 */
export const detail = (text: string, secrets: ReadonlyArray<string> = []): string => presentable(text, secrets)

const finite = (value: number): number | undefined => (Number.isSafeInteger(value) ? value : undefined)

/**
 * When to retry, in milliseconds from now: `retry-after-ms`, or `retry-after` in seconds or as a date. `undefined` if
 * the header is absent or cannot be read.
 */
export const retryAfterMillis = (
  header: (name: string) => string | null | undefined,
  nowMillis: number
): number | undefined => {
  const wait = (text: string | null | undefined) =>
    /^\s*\d+(?:\.\d+)?\s*$/.test(text ?? "") ? Number(text) : undefined
  const millis = wait(header("retry-after-ms"))
  if (millis !== undefined) return finite(Math.ceil(millis))
  const after = header("retry-after")
  const seconds = wait(after)
  if (seconds !== undefined) return finite(Math.ceil(seconds * 1000))
  const date = Date.parse(after ?? "")
  return Number.isNaN(date) || date < nowMillis ? undefined : date - nowMillis
}

// -------------------------------------------------------------------------------------------------------------------
// Reasons
// -------------------------------------------------------------------------------------------------------------------

type Tag = WorkerErrorReason["_tag"]

/** How many characters are searched for words. */
const searched = 4_000

const tooLong =
  /context_length_exceeded|context (?:length|window|size)|prompt is too long|input (?:is )?too long|exceeds? the maximum (?:number of tokens|context)|too many (?:input )?tokens/i

const words: ReadonlyArray<readonly [RegExp, Tag]> = [
  [tooLong, "ContextTooLong"],
  [/insufficient_quota|exceeded your current quota|credit balance|billing|payment required/i, "Quota"],
  [/content_policy|content.?filter|content management policy|safety system|prohibited_content/i, "ContentFiltered"],
  [/rate.?limit|too many requests|resource_exhausted/i, "RateLimited"],
  [/overloaded|unavailable|at capacity|server_error|internal (?:server )?error|api_error/i, "Overloaded"],
  [/timed? ?out|timeout|deadline_exceeded/i, "Timeout"],
  [/invalid_api_key|authentication_error|unauthorized|permission_error/i, "Authentication"],
  [/invalid_request|not_found|unsupported/i, "InvalidRequest"]
]

const tagOfWords = ({ codes = "", message }: Refusal): Tag | undefined => {
  const all = `${message.slice(0, searched)}\n${codes.slice(0, searched)}`
  return words.find(([pattern]) => pattern.test(all))?.[1]
}

const tagOfStatus: Readonly<Record<number, Tag>> = {
  401: "Authentication",
  402: "Quota",
  403: "Authentication",
  408: "Timeout",
  409: "Overloaded",
  413: "ContextTooLong",
  504: "Timeout",
  524: "Timeout"
}

/** The reasons that the words of a refused request may give. */
const ofRequests: ReadonlySet<Tag | undefined> = new Set<Tag>(["ContextTooLong", "ContentFiltered", "Quota"])

const tagOf = (refusal: Refusal): Tag => {
  const { status } = refusal
  if (status === undefined) return tagOfWords(refusal) ?? "Overloaded"
  const known = tagOfStatus[status]
  if (known !== undefined) return known
  if (status >= 500) return "Overloaded"
  if (status < 300) return "Malformed"
  const said = tagOfWords(refusal)
  if (status === 429) return said === "Quota" ? "Quota" : "RateLimited"
  return said !== undefined && ofRequests.has(said) ? said : "InvalidRequest"
}

const count = (pattern: RegExp, text: string): number | undefined => {
  const found = pattern.exec(text)
  const digits = found?.[1] ?? found?.[2]
  return digits === undefined ? undefined : finite(Number(digits.replaceAll(",", "")))
}

/** The sizes that a vendor names, e.g. "210000 tokens > 200000 maximum". */
const sizes = (message: string) => {
  const text = message.slice(0, searched)
  const contextTokens = count(
    /> ?(\d[\d,]{2,})|(?:context (?:length|window|size)|maximum)[^\d]{0,60}?(\d[\d,]{2,})/i,
    text
  )
  const neededTokens = count(/(\d[\d,]{2,}) tokens? >|(?:resulted in|requested) (\d[\d,]{2,})/i, text)
  return { contextTokens, neededTokens }
}

/**
 * The reason of a refusal.
 *
 * **Example**
 *
 * ```ts
 * import * as VendorError from "@divisi/provider-kit/VendorError"
 *
 * const header = (name: string) => (name === "retry-after" ? "2" : undefined)
 * const reason = VendorError.fromRefusal({ status: 429, message: "Slow down.", header }, { nowMillis: 0 })
 * reason // => { _tag: "RateLimited", retryAfterMillis: 2000, detail: "Slow down." }
 * VendorError.fromRefusal({ message: "server_error" }, { nowMillis: 0 })._tag // => "Overloaded"
 * ```
 */
export const fromRefusal = (refusal: Refusal, { nowMillis, secrets }: Surroundings): WorkerErrorReason => {
  const _tag = tagOf(refusal)
  const said = detail(refusal.message, secrets)
  const shown = said === "" ? undefined : said
  if (_tag === "ContextTooLong") return defined({ _tag, ...sizes(refusal.message), detail: shown })
  if (_tag !== "RateLimited" && _tag !== "Overloaded") return defined({ _tag, detail: shown })
  const millis = refusal.header === undefined ? undefined : retryAfterMillis(refusal.header, nowMillis)
  return defined({ _tag, retryAfterMillis: millis, detail: shown })
}

// -------------------------------------------------------------------------------------------------------------------
// Exceptions
// -------------------------------------------------------------------------------------------------------------------

/** An exception that says itself why the call failed. */
export class Failure extends Error {
  readonly reason: WorkerErrorReason

  constructor(reason: WorkerErrorReason) {
    // None of the vendor's words: SDKs look for some in the message, e.g. "timeout", and throw another error instead.
    super("The call failed.")
    this.reason = reason
  }
}

/** The failure of an answer that cannot be read; `what` says what is wrong with it, in no words of the vendor's. */
export const unreadable = (what: string): Failure => new Failure({ _tag: "Malformed", detail: what })

/** An error and its causes, from the outside in. */
const chain = function* (error: unknown): Generator<object> {
  for (let next = error, depth = 0; typeof next === "object" && next !== null && depth < 8; depth++) {
    yield next
    next = "cause" in next ? next.cause : undefined
  }
}

const connection = /fetch|network|terminated|socket|premature close|connect/i

const otherShape: WorkerErrorReason = { _tag: "Malformed", detail: "what came is of another shape than this API's" }

/** What the engine says of a value of another shape than the code that reads it expects. */
const isOfShape = (error: unknown): boolean =>
  (error instanceof TypeError || error instanceof RangeError) &&
  error.cause === undefined &&
  /^(?:Cannot |undefined |null |Invalid (?:string|array) length|Maximum call stack|Reduce of empty)|is not (?:a function|an object|defined|a constructor|(?:async )?iterable)/.test(
    error.message
  )

/** The innermost system error code, e.g. `ENOTFOUND`. */
const systemCode = (error: unknown): string | undefined =>
  [...chain(error)].map((one) => ("code" in one ? one.code : undefined)).findLast((code) => typeof code === "string")

/**
 * The reason of an exception from `fetch` or from a reader of its answer: the network, a time limit, a text that is not
 * JSON. Anything else is a mistake in the code, which a retry cannot fix.
 */
export const fromException = (error: unknown, { secrets }: Pick<Surroundings, "secrets">): WorkerErrorReason => {
  const message = error instanceof Error ? error.message : String(error)
  const code = systemCode(error)
  const said = detail(code === undefined || message.includes(code) ? message : `${message}: ${code}`, secrets)
  const shown = said === "" ? {} : { detail: said }
  if (error instanceof SyntaxError) return { _tag: "Malformed", ...shown }
  const name = error instanceof Error ? error.name : ""
  if (name === "TimeoutError" || name === "AbortError") return { _tag: "Timeout", ...shown }
  const isNetwork = code !== undefined || (error instanceof TypeError && connection.test(message))
  return { _tag: isNetwork ? "Network" : "InvalidRequest", ...shown }
}

/**
 * The reason of a connection that failed: the innermost cause says what happened to it, the outer ones only "fetch
 * failed".
 */
export const fromConnection = (error: unknown, { secrets }: Pick<Surroundings, "secrets">): WorkerErrorReason => {
  const inner = [...chain(error)].at(-1)
  const code = systemCode(inner)
  const message = inner instanceof Error ? inner.message || code || inner.name : String(error)
  return { _tag: /TIMEOUT/.test(code ?? "") ? "Timeout" : "Network", detail: detail(message, secrets) }
}

/**
 * The reason of whatever a call has thrown: a {@link Failure} among its causes, else what `map` makes of it. A `map` that
 * throws as well has met something of a shape that it does not know. So has code that throws while it reads an answer
 * (`isReading`): that is the vendor's fault, and no mistake in the request.
 */
export const fromThrown = (
  error: unknown,
  map: (error: unknown) => WorkerErrorReason,
  isReading = false
): WorkerErrorReason => {
  try {
    const failure = [...chain(error)].find((one) => one instanceof Failure)
    return failure?.reason ?? (isReading && isOfShape(error) ? otherShape : map(error))
  } catch {
    return otherShape
  }
}

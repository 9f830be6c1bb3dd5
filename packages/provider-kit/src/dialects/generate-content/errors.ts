/**
 * Maps Google's error responses to a `WorkerErrorReason`. Only Google's own formats are handled here; `Errors` reads
 * all others.
 */
import { FailedCall } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import type { Refused } from "../../Endpoint.ts"
import * as VendorError from "../../VendorError.ts"
import * as Json from "../../VendorJson.ts"
import * as Errors from "../errors.ts"

type Tag = WorkerErrorReason["_tag"]

/** The available information about an error response. */
export interface Facts {
  /** The HTTP status. If omitted, the code in the body is used. */
  readonly status?: number | undefined
  /** The object in `error`, or the value received instead. */
  readonly body: unknown
  readonly headers?: Headers | undefined
  /** The current time in milliseconds, to convert a retry-after date in the headers to a delay. */
  readonly nowMillis?: number | undefined
}

/** The parsed parts of an error. */
interface Refusal {
  readonly message: string
  /** The `google.rpc` status, such as `RESOURCE_EXHAUSTED`. */
  readonly status: string
  /** The `google.rpc` details of the error. */
  readonly details: ReadonlyArray<Json.Fields>
  /** Whether the error contains another vendor's code for an account without credit. */
  readonly hasNoCredit: boolean
}

/** https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto */
const statusOfRpc: Readonly<Record<string, number>> = {
  CANCELLED: 499,
  UNKNOWN: 500,
  INVALID_ARGUMENT: 400,
  DEADLINE_EXCEEDED: 504,
  NOT_FOUND: 404,
  PERMISSION_DENIED: 403,
  UNAUTHENTICATED: 401,
  RESOURCE_EXHAUSTED: 429,
  FAILED_PRECONDITION: 400,
  ABORTED: 409,
  OUT_OF_RANGE: 400,
  UNIMPLEMENTED: 501,
  INTERNAL: 500,
  UNAVAILABLE: 503
}

const read = (body: unknown, told: Errors.ErrorDetails): Refusal => {
  const status = told.codes.find((code) => Object.hasOwn(statusOfRpc, code)) ?? ""
  return {
    message: Errors.messageOf(told),
    status,
    details: Json.items(Json.fields(body).details).map(Json.fields),
    hasNoCredit: told.codes.some((code) => /^(?:insufficient_|billing_)/.test(code))
  }
}

/** Returns the names of the exceeded quotas, from `QuotaFailure` or `ErrorInfo` (google-gemini/gemini-cli#10925). */
const quotasOf = ({ details }: Refusal): ReadonlyArray<unknown> =>
  details.flatMap(({ metadata, violations }) => [
    Json.fields(metadata).quota_limit,
    ...Json.items(violations).map((one) => Json.fields(one).quotaId)
  ])

/**
 * Whether a daily quota is exceeded. Google uses status 429 for limits per minute and per day, and a retry helps only
 * with the former.
 */
const isOfTheDay = (refusal: Refusal): boolean =>
  quotasOf(refusal).some((quota) => /PerDay/i.test(Json.text(quota) ?? "")) ||
  /limit: 0\b|\bper day\b/i.test(refusal.message.slice(0, 4000))

const isOfKey = ({ details, message }: Refusal): boolean =>
  details.some(({ reason }) => /^API_KEY_/.test(Json.text(reason) ?? "")) ||
  /api key (?:not valid|expired|not found)/i.test(message)

/** Returns the error tag for cases specific to Google; `undefined` if the status and the text suffice. */
const tagOf = (status: number | undefined, refusal: Refusal): Tag | undefined => {
  const { message } = refusal
  // Google's message mentions a quota in both cases. Other vendors have a code for an account without credit.
  if (status === 429 && !refusal.hasNoCredit) return isOfTheDay(refusal) ? "Quota" : "RateLimited"
  if (status !== 400) return undefined
  if (isOfKey(refusal)) return "Authentication"
  if (/token count .{0,40}exceeds the maximum/i.test(message)) return "ContextTooLong"
  return refusal.status === "FAILED_PRECONDITION" && /billing/i.test(message) ? "Quota" : undefined
}

/** Parses "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)." */
const contextOf = (message: string) => {
  const [needed, context] = [...message.slice(0, 4000).matchAll(/\((\d{1,15})\)/g)].map(([, digits]) => Number(digits))
  return defined({ neededTokens: needed, contextTokens: context })
}

const withDelay = (
  reason: WorkerErrorReason,
  { headers, nowMillis = 0 }: Facts,
  told: Errors.ErrorDetails
): WorkerErrorReason => {
  if (reason._tag !== "RateLimited" && reason._tag !== "Overloaded") return reason
  const after = FailedCall.retryAfterMillis((name) => headers?.get(name), nowMillis) ?? told.retryAfterMillis
  return defined({ ...reason, retryAfterMillis: after }) as WorkerErrorReason
}

/** Returns the most specific status. If a gateway forwards an error, this is the status of the original error. */
const statusOf = (given: number | undefined, inBody: number | undefined): number | undefined =>
  given === undefined || given < 300 || given === 500 || given === 502 ? (inBody ?? given) : given

/** Returns the reason for an error response. */
export const reasonOf = (facts: Facts): WorkerErrorReason => {
  const told = Errors.read(facts.body)
  const refusal = read(facts.body, told)
  const { message } = refusal
  const status = statusOf(facts.status, told.status ?? Json.meaning(statusOfRpc, refusal.status))
  const detail = status === undefined ? message : `${status} ${message}`.trim()
  const _tag = tagOf(status, refusal)
  if (_tag === "ContextTooLong") return { _tag, detail, ...contextOf(message) }
  const codes = told.codes.join("\n")
  const reason: WorkerErrorReason =
    _tag === undefined
      ? { ...VendorError.fromRefusal(defined({ status, message, codes }), { nowMillis: 0 }), detail }
      : { _tag, detail }
  return withDelay(reason, facts, told)
}

const errorOf = (body: unknown): unknown => {
  const [first = body] = Json.items(body)
  return Json.fields(first).error ?? first
}

/**
 * Returns the reason for an HTTP error response. Some gateways wrap the error in a list or return an HTML page.
 *
 * @internal
 */
export const reasonOfRefused = ({ body, headers, status, text }: Refused): WorkerErrorReason =>
  reasonOf({ status, body: errorOf(body) ?? text, headers, nowMillis: Date.now() })

/**
 * Returns the reason for an error received in a stream or instead of an answer.
 *
 * @internal
 */
export const reasonOfEvent = (error: unknown): WorkerErrorReason => {
  const told = Errors.read(error)
  const isSilent = told.status === undefined && told.words.length === 0 && told.codes.length === 0
  return isSilent ? { _tag: "Malformed", detail: "the response failed without a reason" } : reasonOf({ body: error })
}

/**
 * Maps Google's error responses to a `WorkerErrorReason`. Handles only Google's own formats; all others are read by
 * `Errors`.
 */
import { FailedCall } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import type { Refused } from "../../Endpoint.ts"
import * as VendorError from "../../VendorError.ts"
import * as Json from "../../VendorJson.ts"
import * as Errors from "../errors.ts"

type Tag = WorkerErrorReason["_tag"]

/** The known facts about an error response. */
export interface Facts {
  /** The HTTP status. If absent, the code in the body is used. */
  readonly status?: number | undefined
  /** The object under `error`, or any value found instead. */
  readonly body: unknown
  readonly headers?: Headers | undefined
  /** The base time for a retry-after date in the headers. */
  readonly nowMillis?: number | undefined
}

/** A refusal, as far as it can be read. */
interface Refusal {
  readonly message: string
  /** The status of `google.rpc`, e.g. `RESOURCE_EXHAUSTED`. */
  readonly status: string
  /** Its `google.rpc` details. */
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

const read = (body: unknown, told: Errors.Told): Refusal => {
  const status = told.codes.find((code) => Object.hasOwn(statusOfRpc, code)) ?? ""
  return {
    message: Errors.messageOf(told),
    status,
    details: Json.items(Json.fields(body).details).map(Json.fields),
    hasNoCredit: told.codes.some((code) => /^(?:insufficient_|billing_)/.test(code))
  }
}

/** The names of the quotas that are exceeded: of `QuotaFailure`, or of `ErrorInfo` (google-gemini/gemini-cli#10925). */
const quotasOf = ({ details }: Refusal): ReadonlyArray<unknown> =>
  details.flatMap(({ metadata, violations }) => [
    Json.fields(metadata).quota_limit,
    ...Json.items(violations).map((one) => Json.fields(one).quotaId)
  ])

/** A 429 stands for limits per minute and per day alike; waiting helps only with the first. */
const isOfTheDay = (refusal: Refusal): boolean =>
  quotasOf(refusal).some((quota) => /PerDay/i.test(Json.text(quota) ?? "")) ||
  /limit: 0\b|\bper day\b/i.test(refusal.message.slice(0, 4000))

const isOfKey = ({ details, message }: Refusal): boolean =>
  details.some(({ reason }) => /^API_KEY_/.test(Json.text(reason) ?? "")) ||
  /api key (?:not valid|expired|not found)/i.test(message)

/** Returns the tag specific to Google's refusals; `undefined` if the status and the text are sufficient. */
const tagOf = (status: number | undefined, refusal: Refusal): Tag | undefined => {
  const { message } = refusal
  // Google's words speak of a quota in either case. Other vendors have a code for an account without credit.
  if (status === 429 && !refusal.hasNoCredit) return isOfTheDay(refusal) ? "Quota" : "RateLimited"
  if (status !== 400) return undefined
  if (isOfKey(refusal)) return "Authentication"
  if (/token count .{0,40}exceeds the maximum/i.test(message)) return "ContextTooLong"
  return refusal.status === "FAILED_PRECONDITION" && /billing/i.test(message) ? "Quota" : undefined
}

/** "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)." */
const contextOf = (message: string) => {
  const [needed, context] = [...message.slice(0, 4000).matchAll(/\((\d{1,15})\)/g)].map(([, digits]) => Number(digits))
  return defined({ neededTokens: needed, contextTokens: context })
}

const withDelay = (
  reason: WorkerErrorReason,
  { headers, nowMillis = 0 }: Facts,
  told: Errors.Told
): WorkerErrorReason => {
  if (reason._tag !== "RateLimited" && reason._tag !== "Overloaded") return reason
  const after = FailedCall.retryAfterMillis((name) => headers?.get(name), nowMillis) ?? told.retryAfterMillis
  return defined({ ...reason, retryAfterMillis: after }) as WorkerErrorReason
}

/** The status that says most: of a gateway's own failure, the one that it passes on. */
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

/** Returns the reason for an HTTP error response. Some gateways put the error into a list or return an HTML page. */
export const reasonOfRefused = ({ body, headers, status, text }: Refused): WorkerErrorReason =>
  reasonOf({ status, body: errorOf(body) ?? text, headers, nowMillis: Date.now() })

/** Returns the reason for an error in a stream or instead of an answer. */
export const reasonOfEvent = (error: unknown): WorkerErrorReason => {
  const told = Errors.read(error)
  const isSilent = told.status === undefined && told.words.length === 0 && told.codes.length === 0
  return isSilent ? { _tag: "Malformed", detail: "the response failed without a reason" } : reasonOf({ body: error })
}

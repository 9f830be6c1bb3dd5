/** Maps Google's refusals to a `WorkerErrorReason`: what only Google says; all other forms are read as everywhere. */
import { defined } from "@divisi/core/Fields"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import type { Refused } from "../../Endpoint.ts"
import * as VendorError from "../../VendorError.ts"
import * as Json from "../../VendorJson.ts"
import * as Errors from "../errors.ts"

type Tag = WorkerErrorReason["_tag"]

/** What is known about a refusal. */
export interface Facts {
  /** The HTTP status; the body's own code counts where it is absent. */
  readonly status?: number | undefined
  /** The object under `error`, or whatever came in its place. */
  readonly body: unknown
  readonly headers?: Headers | undefined
  /** What a retry-after date of the headers is counted from. */
  readonly nowMillis?: number | undefined
}

/** A refusal, as far as it can be read. */
interface Refusal {
  readonly message: string
  /** The status of `google.rpc`, e.g. `RESOURCE_EXHAUSTED`. */
  readonly status: string
  /** Its `google.rpc` details. */
  readonly details: ReadonlyArray<Json.Fields>
}

const read = (body: unknown, message: string): Refusal => {
  const { details, status } = Json.fields(body)
  return { message, status: Json.text(status) ?? "", details: Json.items(details).map(Json.fields) }
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

/** What only Google's refusals say; nothing where the status and the words say it all. */
const tagOf = (status: number, refusal: Refusal): Tag | undefined => {
  const { message } = refusal
  if (status === 429) return isOfTheDay(refusal) ? "Quota" : "RateLimited"
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
  const after = VendorError.retryAfterMillis((name) => headers?.get(name), nowMillis) ?? told.retryAfterMillis
  return defined({ ...reason, retryAfterMillis: after }) as WorkerErrorReason
}

/** The reason of a refusal. */
export const reasonOf = (facts: Facts): WorkerErrorReason => {
  const told = Errors.read(facts.body)
  const message = Errors.messageOf(told)
  const refusal = read(facts.body, message)
  const inBody = told.status ?? Json.meaning(statusOfRpc, refusal.status)
  const ownStatus = facts.status !== undefined && facts.status >= 300 && facts.status !== 502
  const status = (ownStatus ? facts.status : inBody) ?? facts.status ?? 500
  const detail = `${status} ${message}`.trim()
  const _tag = tagOf(status, refusal)
  if (_tag === "ContextTooLong") return { _tag, detail, ...contextOf(message) }
  const reason: WorkerErrorReason =
    _tag === undefined
      ? {
          ...VendorError.fromRefusal({ status, message, codes: told.codes.join("\n") }, { nowMillis: 0 }),
          detail
        }
      : { _tag, detail }
  return withDelay(reason, facts, told)
}

const errorOf = (body: unknown): unknown => {
  const [first = body] = Json.items(body)
  return Json.fields(first).error ?? first
}

/** The reason of an HTTP refusal. Some gateways put the error into a list, or write a page. */
export const reasonOfRefused = ({ body, headers, status, text }: Refused): WorkerErrorReason =>
  reasonOf({ status, body: errorOf(body) ?? text, headers, nowMillis: Date.now() })

/** The reason of an error within a stream, or in place of an answer. */
export const reasonOfEvent = (error: unknown): WorkerErrorReason => {
  const told = Errors.read(error)
  const isSilent = told.status === undefined && told.words.length === 0 && told.codes.length === 0
  return isSilent ? { _tag: "Malformed", detail: "the answer failed, and nothing says why" } : reasonOf({ body: error })
}

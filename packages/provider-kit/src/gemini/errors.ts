/** Maps Google's refusals (status, body and headers) to a `WorkerErrorReason`: one pure function. */

import { defined } from "@divisi/core/Fields"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import type { Refused } from "../Endpoint.ts"
import * as VendorError from "../VendorError.ts"
import * as Json from "../VendorJson.ts"

type Tag = WorkerErrorReason["_tag"]

/** What is known about a refusal. */
export interface Facts {
  /** The HTTP status; the body's own code counts where it is absent. */
  readonly status?: number | undefined
  /** The object under `error`, as it came. */
  readonly body: unknown
  readonly headers?: Headers | undefined
  /** What a retry-after date of the headers is counted from. */
  readonly nowMillis?: number | undefined
}

/** The object under `error`, as far as it can be read. */
interface Refusal {
  readonly message: string
  readonly status: string
  readonly code: number | undefined
  /** Its `google.rpc` details. */
  readonly details: ReadonlyArray<Json.Fields>
}

const read = (body: unknown): Refusal => {
  const { code, details, message, status } = Json.fields(body)
  return {
    message: Json.text(message) ?? Json.text(body) ?? "",
    status: Json.text(status) ?? "",
    code: Json.count(code),
    details: Json.items(details).map(Json.fields)
  }
}

const tagOfStatus: Readonly<Record<number, Tag>> = {
  401: "Authentication",
  402: "Quota",
  403: "Authentication",
  408: "Timeout",
  409: "Overloaded",
  504: "Timeout"
}

/** A 429 stands for limits per minute and per day alike; waiting helps only with the first. */
const tagOfExhausted = ({ details, message }: Refusal): Tag => {
  const quotas = details.flatMap(({ violations }) => Json.items(violations).map((one) => Json.fields(one).quotaId))
  const isOfTheDay = quotas.some((quota) => /PerDay/i.test(Json.text(quota) ?? ""))
  return isOfTheDay || /limit: 0\b/.test(message) ? "Quota" : "RateLimited"
}

const tagOfInvalid = ({ details, message, status }: Refusal): Tag => {
  if (details.some(({ reason }) => /^API_KEY_/.test(Json.text(reason) ?? ""))) return "Authentication"
  if (/api key (not valid|expired|not found)/i.test(message)) return "Authentication"
  if (/token count .{0,40}exceeds the maximum/i.test(message)) return "ContextTooLong"
  return status === "FAILED_PRECONDITION" && /billing/i.test(message) ? "Quota" : "InvalidRequest"
}

const tagOf = (status: number, refusal: Refusal): Tag => {
  if (status === 429) return tagOfExhausted(refusal)
  const known = tagOfStatus[status]
  if (known !== undefined) return known
  if (status >= 500) return "Overloaded"
  return status >= 400 ? tagOfInvalid(refusal) : "Malformed"
}

/** The `RetryInfo` of the body, e.g. `34.5s`. */
const inBody = ({ details }: Refusal): number | undefined => {
  const [delay] = details.flatMap(({ retryDelay }) => Json.text(retryDelay) ?? [])
  const millis = Math.ceil(Number.parseFloat(delay ?? "") * 1000)
  return Number.isSafeInteger(millis) ? Json.count(millis) : undefined
}

/** When to retry: by a header, or by the body. */
const retryAfterMillis = ({ headers, nowMillis = 0 }: Facts, refusal: Refusal): number | undefined =>
  VendorError.retryAfterMillis((name) => headers?.get(name), nowMillis) ?? inBody(refusal)

/** "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)." */
const contextOf = (message: string) => {
  const [needed, context] = [...message.slice(0, 4000).matchAll(/\((\d{1,15})\)/g)].map(([, digits]) => Number(digits))
  return defined({ neededTokens: needed, contextTokens: context })
}

/** The reason of a refusal. */
export const reasonOf = (facts: Facts): WorkerErrorReason => {
  const refusal = read(facts.body)
  const status = facts.status ?? refusal.code ?? 500
  const _tag = tagOf(status, refusal)
  const detail = `${status} ${refusal.message || refusal.status}`
  if (_tag === "ContextTooLong") return { _tag, detail, ...contextOf(refusal.message) }
  return _tag === "RateLimited" || _tag === "Overloaded"
    ? defined({ _tag, detail, retryAfterMillis: retryAfterMillis(facts, refusal) })
    : { _tag, detail }
}

/** The reason of an HTTP refusal. Some gateways put the error into a list, or write a page. */
export const reasonOfRefused = ({ body, headers, status, text }: Refused): WorkerErrorReason => {
  const [first = body] = Json.items(body)
  return reasonOf({ status, body: Json.fields(first).error ?? first ?? text, headers, nowMillis: Date.now() })
}

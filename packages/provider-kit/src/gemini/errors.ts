/** Maps Google's refusals (status, body and headers) to a `WorkerErrorReason`: one pure function. */

import { defined } from "@divisi/core/Fields"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import * as VendorError from "../VendorError.ts"

type Tag = WorkerErrorReason["_tag"]

/** One of the `google.rpc` details of an error. */
interface Detail {
  readonly "@type"?: string | undefined
  readonly reason?: string | undefined
  readonly retryDelay?: string | undefined
  readonly violations?: ReadonlyArray<{ readonly quotaId?: string | undefined }> | undefined
}

/** The object under `error`. */
export interface ErrorBody {
  readonly code?: number | undefined
  readonly status?: string | undefined
  readonly message?: string | undefined
  readonly details?: ReadonlyArray<Detail> | undefined
}

/** What is known about a refusal. */
export interface Facts {
  /** The HTTP status; the body's own code counts where it is absent. */
  readonly status?: number | undefined
  readonly body: ErrorBody
  readonly headers?: Headers | undefined
  /** What a retry-after date of the headers is counted from. */
  readonly nowMillis?: number | undefined
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
const tagOfExhausted = ({ details = [], message = "" }: ErrorBody): Tag => {
  const isOfTheDay = details.some(({ violations = [] }) =>
    violations.some(({ quotaId = "" }) => /PerDay/i.test(quotaId))
  )
  return isOfTheDay || /limit: 0\b/.test(message) ? "Quota" : "RateLimited"
}

const tagOfInvalid = ({ details = [], message = "", status }: ErrorBody): Tag => {
  if (details.some(({ reason = "" }) => /^API_KEY_/.test(reason))) return "Authentication"
  if (/api key (not valid|expired|not found)/i.test(message)) return "Authentication"
  if (/token count .*exceeds the maximum/i.test(message)) return "ContextTooLong"
  return status === "FAILED_PRECONDITION" && /billing/i.test(message) ? "Quota" : "InvalidRequest"
}

const tagOf = (status: number, body: ErrorBody): Tag => {
  if (status === 429) return tagOfExhausted(body)
  const known = tagOfStatus[status]
  if (known !== undefined) return known
  if (status >= 500) return "Overloaded"
  return status >= 400 ? tagOfInvalid(body) : "Malformed"
}

const inBody = ({ details = [] }: ErrorBody): number | undefined => {
  const seconds = Number.parseFloat(details.find(({ retryDelay }) => retryDelay !== undefined)?.retryDelay ?? "")
  return seconds >= 0 ? Math.ceil(seconds * 1000) : undefined
}

/** When to retry: by a header, or by the `RetryInfo` of the body, e.g. `34.5s`. */
const retryAfterMillis = ({ body, headers, nowMillis = 0 }: Facts): number | undefined =>
  VendorError.retryAfterMillis((name) => headers?.get(name), nowMillis) ?? inBody(body)

/** "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)." */
const contextOf = (message: string) => {
  const [needed, context] = [...message.matchAll(/\((\d+)\)/g)].map(([, digits]) => Number(digits))
  return defined({ neededTokens: needed, contextTokens: context })
}

/** The reason of a refusal. */
export const reasonOf = (facts: Facts): WorkerErrorReason => {
  const { body } = facts
  const status = facts.status ?? body.code ?? 500
  const _tag = tagOf(status, body)
  const detail = `${status} ${body.message ?? body.status ?? ""}`
  if (_tag === "ContextTooLong") return { _tag, detail, ...contextOf(body.message ?? "") }
  return _tag === "RateLimited" || _tag === "Overloaded"
    ? defined({ _tag, detail, retryAfterMillis: retryAfterMillis(facts) })
    : { _tag, detail }
}

/** The innermost cause says what happened to the connection; the outer ones say only "fetch failed". */
export const ofConnection = (error: unknown): WorkerErrorReason => {
  let inner = error
  while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause
  const code = typeof inner === "object" && inner !== null && "code" in inner ? String(inner.code) : ""
  const detail = inner instanceof Error && inner.message !== "" ? inner.message : code || String(inner)
  return { _tag: /TIMEOUT/.test(code) ? "Timeout" : "Network", detail }
}

/** Maps whatever the SDK throws to a `WorkerErrorReason`: one pure function. */
import { APIConnectionError, APIConnectionTimeoutError, APIError } from "@anthropic-ai/sdk"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import * as VendorError from "@divisi/provider-kit/VendorError"
import * as Json from "@divisi/provider-kit/VendorJson"

type Tag = WorkerErrorReason["_tag"]

/** From https://platform.claude.com/docs/en/api/errors. */
const tagOfType: Readonly<Record<string, Tag>> = {
  rate_limit_error: "RateLimited",
  overloaded_error: "Overloaded",
  api_error: "Overloaded",
  conflict_error: "Overloaded",
  timeout_error: "Timeout",
  authentication_error: "Authentication",
  permission_error: "Authentication",
  billing_error: "Quota",
  not_found_error: "InvalidRequest",
  request_too_large: "InvalidRequest"
}

const tagOfStatus: Readonly<Record<number, Tag>> = {
  401: "Authentication",
  402: "Quota",
  403: "Authentication",
  408: "Timeout",
  409: "Overloaded",
  429: "RateLimited",
  504: "Timeout"
}

/** One type stands for many mistakes; only the message distinguishes them. */
const tagOfWords = (message: string): Tag => {
  if (/prompt is too long|exceed(s)? (the )?context/i.test(message)) return "ContextTooLong"
  if (/content filter/i.test(message)) return "ContentFiltered"
  return /credit balance|usage limits/i.test(message) ? "Quota" : "InvalidRequest"
}

const tagOf = (status: number | undefined, type: unknown, message: string): Tag => {
  const known = Json.meaning(tagOfType, type) ?? tagOfStatus[status ?? 0]
  if (known !== undefined) return known
  return status !== undefined && status >= 500 ? "Overloaded" : tagOfWords(message.slice(0, 4000))
}

/** "prompt is too long: 208310 tokens > 200000 maximum". */
const contextOf = (message: string) => {
  const [, needed, context] = /(\d{1,15}) tokens > (\d{1,15})/.exec(message) ?? []
  return needed === undefined || context === undefined
    ? {}
    : { neededTokens: Number(needed), contextTokens: Number(context) }
}

/** What is known about a refusal. */
interface Facts {
  readonly status?: number | undefined
  readonly headers?: Headers | undefined
  /** The body, or the event: `{ type: "error", error: { type, message } }`. */
  readonly body: unknown
  /** What is said where the body says nothing. */
  readonly message: string
}

const ofRefusal = ({ body, headers, message, status }: Facts, now: number): WorkerErrorReason => {
  const error = Json.fields(Json.fields(body).error)
  const detail = Json.text(error.message) ?? message
  const _tag = tagOf(status, error.type, detail)
  if (_tag === "ContextTooLong") return { _tag, ...contextOf(detail), detail }
  const after = VendorError.retryAfterMillis((name) => headers?.get(name), now)
  return (_tag === "RateLimited" || _tag === "Overloaded") && after !== undefined
    ? { _tag, retryAfterMillis: after, detail }
    : { _tag, detail }
}

/** The reason of an error event in a stream. */
export const reasonOfEvent = (event: Json.Fields): WorkerErrorReason => {
  const { message, type } = Json.fields(event.error)
  return Json.text(message) === undefined && Json.text(type) === undefined
    ? { _tag: "Malformed", detail: "the answer failed, and nothing says why" }
    : ofRefusal({ body: event, message: "" }, 0)
}

const ofApi = ({ error: body, headers, message, status }: APIError, now: number): WorkerErrorReason =>
  ofRefusal({ body, headers, message, status }, now)

/** The reason of a failed call. */
export const toReason = (error: unknown, surroundings: VendorError.Surroundings): WorkerErrorReason => {
  if (error instanceof APIConnectionTimeoutError) return { _tag: "Timeout", detail: error.message }
  if (error instanceof APIConnectionError) return VendorError.fromConnection(error, surroundings)
  if (error instanceof APIError) return ofApi(error, surroundings.nowMillis)
  return VendorError.fromException(error, surroundings)
}

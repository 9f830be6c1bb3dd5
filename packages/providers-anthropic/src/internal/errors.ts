/** Maps the vendor's errors, and whatever the SDK throws, to a `WorkerErrorReason`. */
import { APIConnectionError, APIConnectionTimeoutError } from "@anthropic-ai/sdk"
import { defined } from "@divisi/core/Fields"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import type * as Endpoint from "@divisi/provider-kit/Endpoint"
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
const tagOfWords = (message: string): Tag | undefined => {
  if (/prompt is too long|exceed(s)? (the )?context/i.test(message)) return "ContextTooLong"
  if (/content filter/i.test(message)) return "ContentFiltered"
  return /credit balance|usage limits/i.test(message) ? "Quota" : undefined
}

/** What nobody knows is the vendor's fault in a stream, and the request's in a refusal of it. */
const tagOf = (status: number | undefined, type: unknown, message: string): Tag => {
  const known = Json.meaning(tagOfType, type) ?? tagOfStatus[status ?? 0]
  if (known !== undefined) return known
  if (status !== undefined && status >= 500) return "Overloaded"
  return tagOfWords(message.slice(0, 4000)) ?? (status === undefined ? "Overloaded" : "InvalidRequest")
}

/** "prompt is too long: 208310 tokens > 200000 maximum". */
const contextOf = (message: string) => {
  const [, needed, context] = /(\d{1,15}) tokens > (\d{1,15})/.exec(message) ?? []
  return needed === undefined || context === undefined
    ? {}
    : { neededTokens: Number(needed), contextTokens: Number(context) }
}

/** The reason of an error: `{ type: "error", error: { type, message } }`, as a body or as an event of a stream. */
const reasonOf = (body: unknown, text: string, refused?: Endpoint.Refused): WorkerErrorReason => {
  const { error = body } = Json.fields(body)
  const { message, type } = Json.fields(error)
  const detail = Json.text(message) ?? Json.text(error) ?? text
  const _tag = tagOf(refused?.status, type, detail)
  if (_tag === "ContextTooLong") return { _tag, ...contextOf(detail), detail }
  if (_tag !== "RateLimited" && _tag !== "Overloaded") return { _tag, detail }
  const after = refused && VendorError.retryAfterMillis((name) => refused.headers.get(name), Date.now())
  return defined({ _tag, retryAfterMillis: after, detail })
}

/** The reason of an HTTP refusal. */
export const reasonOfRefused = (refused: Endpoint.Refused): WorkerErrorReason =>
  reasonOf(refused.body, refused.text, refused)

/** The reason of an error event in a stream. */
export const reasonOfEvent = (event: Json.Fields): WorkerErrorReason => {
  const { message, type } = Json.fields(event.error)
  return Json.text(message) === undefined && Json.text(type) === undefined
    ? { _tag: "Malformed", detail: "the answer failed, and nothing says why" }
    : reasonOf(event, "")
}

/** The reason of a failed call, from what the SDK threw. */
export const toReason = (error: unknown, surroundings: VendorError.Surroundings): WorkerErrorReason => {
  if (error instanceof APIConnectionTimeoutError) return { _tag: "Timeout", detail: error.message }
  return error instanceof APIConnectionError
    ? VendorError.fromConnection(error, surroundings)
    : VendorError.fromException(error, surroundings)
}

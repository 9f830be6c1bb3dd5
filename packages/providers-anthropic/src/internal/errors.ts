/** Maps whatever the SDK throws to a `WorkerErrorReason`: one pure function. */
import { AnthropicError, APIConnectionError, APIConnectionTimeoutError, APIError } from "@anthropic-ai/sdk"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import * as VendorError from "@divisi/provider-kit/VendorError"

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

const tagOf = (error: APIError, message: string): Tag => {
  const known = tagOfType[error.type ?? ""] ?? tagOfStatus[error.status ?? 0]
  if (known !== undefined) return known
  return error.status !== undefined && error.status >= 500 ? "Overloaded" : tagOfWords(message)
}

/** "prompt is too long: 208310 tokens > 200000 maximum". */
const contextOf = (message: string) => {
  const [, needed, context] = /(\d+) tokens > (\d+)/.exec(message) ?? []
  return needed === undefined || context === undefined
    ? {}
    : { neededTokens: Number(needed), contextTokens: Number(context) }
}

const ofApi = (error: APIError, now: number): WorkerErrorReason => {
  const detail = error.apiMessage ?? error.message
  const _tag = tagOf(error, detail)
  if (_tag === "ContextTooLong") return { _tag, ...contextOf(detail), detail }
  const after = VendorError.retryAfterMillis((name) => error.headers?.get(name), now)
  if ((_tag === "RateLimited" || _tag === "Overloaded") && after !== undefined) {
    return { _tag, retryAfterMillis: after, detail }
  }
  return { _tag, detail }
}

/** The innermost cause says what happened to the connection; the outer ones say only "fetch failed". */
const causeOf = (error: unknown): string => {
  let inner = error
  while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause
  return inner instanceof Error
    ? inner.message || String((inner as { code?: unknown }).code ?? inner.name)
    : String(inner)
}

/** The reason of a failed call. `now` is what a retry-after date is counted from. */
export const toReason = (error: unknown, now: number): WorkerErrorReason => {
  if (error instanceof APIConnectionTimeoutError) return { _tag: "Timeout", detail: error.message }
  if (error instanceof APIConnectionError) return { _tag: "Network", detail: causeOf(error) }
  if (error instanceof APIError) return ofApi(error, now)
  if (error instanceof SyntaxError) return { _tag: "Malformed", detail: "an event is not JSON" }
  if (error instanceof AnthropicError) return { _tag: "Malformed", detail: error.message }
  return { _tag: "Network", detail: causeOf(error) }
}

/**
 * The formats in which servers report each kind of error: type and code in OpenAI's protocols, type in Anthropic's.
 * `Errors` is the inverse: it reads these formats and those of other servers.
 *
 * Sources: https://developers.openai.com/api/docs/guides/error-codes and
 * https://platform.claude.com/docs/en/api/errors, read in November 2026.
 */

/** Kinds of errors that a server reports. */
export type Kind =
  | "invalid-request"
  | "context-too-long"
  | "authentication"
  | "permission"
  | "not-found"
  | "method-not-allowed"
  | "too-large"
  /** An unknown `Content-Encoding`. */
  | "unsupported-encoding"
  | "rate-limit"
  | "quota"
  /** A bug or a misconfiguration of the server. */
  | "server"
  /** A worker failed, or its answer was truncated. A retry may succeed. */
  | "upstream"
  /** A provider rejected the server's key, account or model. Only the operator can fix this. */
  | "upstream-account"
  /** A provider's filter rejected the content of the request. */
  | "content-filtered"
  /** No worker is currently available. A retry may succeed. */
  | "overloaded"
  | "timeout"

/** How an error kind is reported in each protocol. */
export interface Form {
  readonly status: number
  /** `error.type` and `error.code` in OpenAI's protocols. */
  readonly openai: readonly [type: string, code: string | null]
  /** `error.type` in the Messages API. */
  readonly messages: string
}

const form = (status: number, type: string, code: string | null, messages: string): Form => ({
  status,
  openai: [type, code],
  messages
})

/** The reported format of each error kind. */
export const forms: { readonly [K in Kind]: Form } = {
  "invalid-request": form(400, "invalid_request_error", null, "invalid_request_error"),
  "context-too-long": form(400, "invalid_request_error", "context_length_exceeded", "invalid_request_error"),
  authentication: form(401, "invalid_request_error", "invalid_api_key", "authentication_error"),
  permission: form(403, "invalid_request_error", "permission_denied", "permission_error"),
  "not-found": form(404, "invalid_request_error", "not_found", "not_found_error"),
  "method-not-allowed": form(405, "invalid_request_error", "method_not_allowed", "invalid_request_error"),
  "too-large": form(413, "invalid_request_error", "request_too_large", "request_too_large"),
  "unsupported-encoding": form(415, "invalid_request_error", "unsupported_encoding", "invalid_request_error"),
  "rate-limit": form(429, "rate_limit_error", "rate_limit_exceeded", "rate_limit_error"),
  quota: form(429, "insufficient_quota", "insufficient_quota", "billing_error"),
  server: form(500, "server_error", "server_error", "api_error"),
  upstream: form(502, "server_error", "upstream_error", "api_error"),
  "upstream-account": form(502, "server_error", "upstream_unavailable", "api_error"),
  "content-filtered": form(400, "invalid_request_error", "content_filter", "invalid_request_error"),
  overloaded: form(503, "server_error", "overloaded", "overloaded_error"),
  timeout: form(504, "server_error", "timeout", "timeout_error")
}

/**
 * The message that Anthropic's clients recognize as a conversation exceeding the context window; they then shorten it.
 */
export const tooLong = "prompt is too long"

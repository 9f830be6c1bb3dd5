/**
 * How servers of the vendors' protocols report errors: the type and the code of OpenAI's errors, and the type of
 * Anthropic's, by the kind of error. `Errors` is the way back: it reads these forms and those of all other servers.
 *
 * Sources: https://developers.openai.com/api/docs/guides/error-codes and https://platform.claude.com/docs/en/api/errors,
 * read in November 2026.
 */

/** Kinds of errors. */
export type Kind =
  | "invalid-request"
  | "context-too-long"
  | "authentication"
  | "permission"
  | "not-found"
  | "too-large"
  /** A `Content-Encoding` that is not known. */
  | "unsupported-encoding"
  | "rate-limit"
  | "quota"
  /** A mistake of the server itself, or of its configuration. */
  | "server"
  /** A worker failed, or its answer broke off: a retry can help. */
  | "upstream"
  /** A provider refuses the server's own key, account or model: only its operator can help. */
  | "upstream-account"
  /** A provider's filter refused the content of the request. */
  | "content-filtered"
  /** No worker can take the request now: a retry can help. */
  | "overloaded"
  | "timeout"

/** How an error of a kind is reported. */
export interface Form {
  readonly status: number
  /** `error.type` and `error.code` of OpenAI's protocols. */
  readonly openai: readonly [type: string, code: string | null]
  /** `error.type` of Messages. */
  readonly messages: string
}

const form = (status: number, type: string, code: string | null, messages: string): Form => ({
  status,
  openai: [type, code],
  messages
})

/** The form of each kind. */
export const forms: { readonly [K in Kind]: Form } = {
  "invalid-request": form(400, "invalid_request_error", null, "invalid_request_error"),
  "context-too-long": form(400, "invalid_request_error", "context_length_exceeded", "invalid_request_error"),
  authentication: form(401, "invalid_request_error", "invalid_api_key", "authentication_error"),
  permission: form(403, "invalid_request_error", "permission_denied", "permission_error"),
  "not-found": form(404, "invalid_request_error", "not_found", "not_found_error"),
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

/** Anthropic's clients recognize a conversation that is too long by these words, and then shorten it. */
export const tooLong = "prompt is too long"

/** Errors as Anthropic's clients know them. */
import type { ApiError, Kind } from "../wire/ApiError.ts"
import type { JsonObject } from "../wire/Json.ts"

const types: { readonly [K in Kind]: string } = {
  "invalid-request": "invalid_request_error",
  "context-too-long": "invalid_request_error",
  authentication: "authentication_error",
  permission: "permission_error",
  "not-found": "not_found_error",
  "too-large": "request_too_large",
  "unsupported-encoding": "invalid_request_error",
  "rate-limit": "rate_limit_error",
  quota: "billing_error",
  server: "api_error",
  upstream: "api_error",
  "upstream-account": "api_error",
  "content-filtered": "invalid_request_error",
  overloaded: "overloaded_error",
  timeout: "timeout_error"
}

/** Anthropic's clients tell a conversation that is too long by these words, and then shorten it. */
const messageOf = ({ kind, message }: ApiError): string =>
  kind === "context-too-long" && !/prompt is too long/i.test(message) ? `prompt is too long: ${message}` : message

/** What clients tell a thread by that is not kept: they send the whole conversation then. */
const detailsOf = ({ field, kind }: ApiError): JsonObject =>
  kind === "not-found" && field === "thread.previous_message_id" ? { details: { error_code: "thread_not_found" } } : {}

/** The body of an error. */
export const errorBody = (error: ApiError): JsonObject => ({
  type: "error",
  error: { type: types[error.kind], message: messageOf(error), ...detailsOf(error) }
})

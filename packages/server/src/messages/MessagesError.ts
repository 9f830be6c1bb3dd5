/** Errors in Anthropic's format. */
import { Dialects } from "@divisi/provider-kit"
import type { ApiError } from "../wire/ApiError.ts"
import type { JsonObject } from "../wire/Json.ts"

const messageOf = ({ kind, message }: ApiError): string =>
  kind === "context-too-long" && !message.toLowerCase().includes(Dialects.Failures.tooLong)
    ? `${Dialects.Failures.tooLong}: ${message}`
    : message

/** Returns the error code that indicates an unknown thread. Clients then send the complete conversation. */
const detailsOf = ({ field, kind }: ApiError): JsonObject =>
  kind === "not-found" && field === "thread.previous_message_id" ? { details: { error_code: "thread_not_found" } } : {}

/** Returns the body for an error. */
export const errorBody = (error: ApiError): JsonObject => ({
  type: "error",
  error: { type: Dialects.Failures.forms[error.kind].messages, message: messageOf(error), ...detailsOf(error) },
  // The request id is sent in a header instead.
  request_id: null
})

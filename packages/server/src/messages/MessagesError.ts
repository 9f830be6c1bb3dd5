/** Errors as Anthropic's clients know them. */
import { Dialects } from "@divisi/provider-kit"
import type { ApiError } from "../wire/ApiError.ts"
import type { JsonObject } from "../wire/Json.ts"

const messageOf = ({ kind, message }: ApiError): string =>
  kind === "context-too-long" && !message.toLowerCase().includes(Dialects.Failures.tooLong)
    ? `${Dialects.Failures.tooLong}: ${message}`
    : message

/** The detail by which clients recognize that a thread is not stored; they then send the whole conversation. */
const detailsOf = ({ field, kind }: ApiError): JsonObject =>
  kind === "not-found" && field === "thread.previous_message_id" ? { details: { error_code: "thread_not_found" } } : {}

/** The body of an error. */
export const errorBody = (error: ApiError): JsonObject => ({
  type: "error",
  error: { type: Dialects.Failures.forms[error.kind].messages, message: messageOf(error), ...detailsOf(error) },
  // The header has it.
  request_id: null
})

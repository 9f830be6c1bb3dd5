/** Maps whatever the SDK throws, and errors inside a stream, to a `WorkerErrorReason`. Pure. */

import type { WorkerErrorReason } from "@divisi/core/Worker"
import type * as Endpoint from "@divisi/provider-kit/Endpoint"
import * as VendorError from "@divisi/provider-kit/VendorError"
import * as Json from "@divisi/provider-kit/VendorJson"
import { APIConnectionError, APIConnectionTimeoutError, APIError } from "openai"

/**
 * What OpenAI's codes mean, for those without words that all vendors use. Source: the schema ResponseErrorCode of
 * https://github.com/openai/openai-openapi.
 */
const meanings: Readonly<Record<string, string>> = {
  invalid_prompt: "content_policy",
  bio_policy: "content_policy",
  cyber_policy: "content_policy",
  misalignment_policy_violation: "content_policy",
  exceed_context_size_error: "context_length_exceeded"
}

/** The codes of an error object, in a body or in a stream. */
const codesOf = ({ code, type }: Json.Fields): string =>
  [Json.text(code), Json.text(type)]
    .flatMap((one) => (one === undefined ? [] : [one, Json.meaning(meanings, one) ?? ""]))
    .join("\n")

/** OpenRouter refuses a flagged text with the status of a forbidden key. */
const isFlagged = (status: number | undefined, message: string) =>
  status === 403 && /\b(?:flagged|moderation)\b/i.test(message)

/** The reason of an HTTP refusal. */
export const reasonOfRefused = (
  { body, headers, status, text }: Endpoint.Refused,
  surroundings: VendorError.Surroundings
): WorkerErrorReason => {
  const { error = body } = Json.fields(body)
  const object = Json.fields(error)
  const message = Json.text(object.message) ?? Json.text(error) ?? text
  const codes = codesOf(object)
  const header = (name: string) => headers.get(name)
  return isFlagged(status, message)
    ? { _tag: "ContentFiltered", detail: VendorError.detail(message, surroundings.secrets) }
    : VendorError.fromRefusal({ status, message, codes, header }, surroundings)
}

/** The reason of a failed call, from what the SDK threw. */
export const reasonOf = (error: unknown, surroundings: VendorError.Surroundings): WorkerErrorReason => {
  if (error instanceof APIConnectionTimeoutError) return { _tag: "Timeout" }
  if (error instanceof APIConnectionError) return VendorError.fromConnection(error, surroundings)
  if (!(error instanceof APIError)) return VendorError.fromException(error, surroundings)
  const { error: body, headers = new Headers(), message, status } = error
  return reasonOfRefused({ status: status ?? 500, headers, text: message, body }, surroundings)
}

/** The reason of a failed answer, from the error that ends it: an object, or words alone. */
export const reasonOfObject = (error: unknown): WorkerErrorReason => {
  const object = Json.fields(error)
  const message = Json.text(error) ?? Json.text(object.message) ?? ""
  const codes = codesOf(object)
  return message === "" && codes === ""
    ? { _tag: "Malformed", detail: "the answer failed, and nothing says why" }
    : VendorError.fromRefusal({ message, codes }, { nowMillis: 0 })
}

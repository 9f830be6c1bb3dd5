/** Maps whatever the SDK throws, and errors inside a stream, to a `WorkerErrorReason`. Pure. */

import type { WorkerErrorReason } from "@divisi/core/Worker"
import * as VendorError from "@divisi/provider-kit/VendorError"
import { APIConnectionError, APIConnectionTimeoutError, APIError } from "openai"

/** An error object, in a body or in a stream. */
interface ErrorObject {
  readonly code?: unknown
  readonly type?: unknown
  readonly message?: unknown
}

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

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

const codesOf = ({ code, type }: ErrorObject): string =>
  [text(code), text(type)].flatMap((one) => (one === undefined ? [] : [one, meanings[one] ?? ""])).join("\n")

/** OpenRouter refuses a flagged text with the status of a forbidden key. */
const isFlagged = (status: number | undefined, message: string) =>
  status === 403 && /\b(?:flagged|moderation)\b/i.test(message)

const ofApi = (error: APIError, surroundings: VendorError.Surroundings): WorkerErrorReason => {
  const { headers, status } = error
  const object: ErrorObject = (error.error as ErrorObject | undefined) ?? {}
  const message = text(object.message) ?? error.message.replace(`${status} `, "")
  const codes = codesOf(object)
  const header = (name: string) => headers?.get(name)
  return isFlagged(status, message)
    ? { _tag: "ContentFiltered", detail: VendorError.detail(message, surroundings.secrets) }
    : VendorError.fromRefusal({ status, message, codes, header }, surroundings)
}

/** The innermost cause says what happened to the connection; the outer ones say only "fetch failed". */
const causeOf = (error: Error): string => {
  let inner: unknown = error
  while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause
  return inner instanceof Error ? inner.message || inner.name : String(inner)
}

/** The reason of a failed call, from what the SDK threw. */
export const reasonOf = (error: unknown, surroundings: VendorError.Surroundings): WorkerErrorReason => {
  if (error instanceof APIConnectionTimeoutError) return { _tag: "Timeout" }
  if (error instanceof APIConnectionError) {
    return { _tag: "Network", detail: VendorError.detail(causeOf(error), surroundings.secrets) }
  }
  return error instanceof APIError ? ofApi(error, surroundings) : VendorError.fromException(error, surroundings)
}

/** The reason of a failed answer, from the error object that ends it. */
export const reasonOfObject = (
  error: ErrorObject | null | undefined,
  surroundings: VendorError.Surroundings
): WorkerErrorReason =>
  VendorError.fromRefusal({ message: text(error?.message) ?? "", codes: codesOf(error ?? {}) }, surroundings)

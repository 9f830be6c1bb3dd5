/** Whatever the SDK throws, and whatever a stream says went wrong, as a reason that the runtime knows. Pure. */

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
 * What OpenAI's codes mean where they do not say it in words that all vendors use. Source: the schema ResponseErrorCode
 * of https://github.com/openai/openai-openapi.
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

/** OpenRouter refuses a flagged text as if the key were not allowed to ask. */
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

/** The innermost cause says what happened to a connection; what is around it says "fetch failed". */
const causeOf = (error: Error): string => {
  let inner: unknown = error
  while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause
  return inner instanceof Error ? inner.message || inner.name : String(inner)
}

/** Why a call failed, from whatever the SDK threw. */
export const reasonOf = (error: unknown, surroundings: VendorError.Surroundings): WorkerErrorReason => {
  if (error instanceof APIConnectionTimeoutError) return { _tag: "Timeout" }
  if (error instanceof APIConnectionError) {
    return { _tag: "Network", detail: VendorError.detail(causeOf(error), surroundings.secrets) }
  }
  return error instanceof APIError ? ofApi(error, surroundings) : VendorError.fromException(error, surroundings)
}

/** Why an answer failed, from the error object that is its end. */
export const reasonOfObject = (
  error: ErrorObject | null | undefined,
  surroundings: VendorError.Surroundings
): WorkerErrorReason =>
  VendorError.fromRefusal({ message: text(error?.message) ?? "", codes: codesOf(error ?? {}) }, surroundings)

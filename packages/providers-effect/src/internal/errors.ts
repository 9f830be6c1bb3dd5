/** Maps the reasons of an `AiError` to those of a `WorkerError`. */

import { defined } from "@divisi/core/Fields"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import { VendorError } from "@divisi/provider-kit"
import * as AiError from "effect/ai/AiError"
import * as Duration from "effect/Duration"
import * as Redacted from "effect/Redacted"

type Tag = WorkerErrorReason["_tag"]

/** The reason used if the vendor's status and message are not decisive. */
const tags: { readonly [Name in AiError.AiErrorReason["_tag"]]?: Tag | undefined } = {
  RateLimitError: "RateLimited",
  QuotaExhaustedError: "Quota",
  AuthenticationError: "Authentication",
  ContentPolicyError: "ContentFiltered",
  InternalProviderError: "Overloaded",
  InvalidResponseError: "Malformed",
  InvalidOutputError: "Malformed",
  StructuredOutputError: "Malformed"
}

/** Reasons for which the vendor's status and message are more specific. */
const vague: ReadonlySet<string> = new Set([
  "InvalidRequestError",
  "InternalProviderError",
  "RateLimitError",
  "UnknownError"
])

/** Returns the reason for a failed call. */
export const reasonOf = (error: unknown, surroundings: VendorError.Surroundings): WorkerErrorReason =>
  VendorError.fromThrown(error, (error) => mapped(error, surroundings), true)

const mapped = (error: unknown, surroundings: VendorError.Surroundings): WorkerErrorReason => {
  if (AiError.isAiError(error)) return fromReason(error.reason, surroundings)
  if (AiError.isAiErrorReason(error)) return fromReason(error, surroundings)
  if (!(error instanceof Error)) return fromPart(error, surroundings)
  const reason = VendorError.fromException(error, surroundings)
  // Effect has specific errors for invalid requests. Any other error comes from a model that cannot parse its vendor's
  // events.
  return reason._tag === "InvalidRequest" ? otherShape : reason
}

const otherShape: WorkerErrorReason = { _tag: "Malformed", detail: "an event does not match this API" }

/** Returns the reason for an error within a stream. */
const fromPart = (error: unknown, surroundings: VendorError.Surroundings): WorkerErrorReason => {
  const said = typeof error === "string" ? error : wordsOf(error)
  return VendorError.fromRefusal({ message: said, codes: JSON.stringify(error) ?? "" }, surroundings)
}

const fromReason = (reason: AiError.AiErrorReason, surroundings: VendorError.Surroundings): WorkerErrorReason => {
  if (reason._tag === "NetworkError") {
    const detail = VendorError.detail(reason.description ?? reason.message, surroundings.secrets)
    // Effect's client retains the error from `fetch`, for example for a redirect that is not followed.
    return VendorError.fromThrown(reason.cause, (cause) =>
      reason.reason === "TransportError"
        ? VendorError.fromConnection(cause ?? reason, surroundings)
        : { _tag: "InvalidRequest", detail }
    )
  }
  const { body, response } = ("http" in reason ? reason.http : undefined) ?? {}
  const header = (name: string) => {
    const value = response?.headers[name]
    return Redacted.isRedacted(value) ? Redacted.value(value) : value
  }
  const message = saidOf(reason, body)
  const refusal = { status: response?.status, message, codes: body, header }
  const heard = VendorError.fromRefusal(refusal, surroundings)
  const known = tags[reason._tag]
  if (vague.has(reason._tag) && response !== undefined) return heard
  const detail = VendorError.detail(message, surroundings.secrets)
  const wait = reason._tag === "RateLimitError" ? reason.retryAfter : undefined
  return defined({
    _tag: known ?? "InvalidRequest",
    retryAfterMillis: wait && Duration.toMillis(wait),
    detail: detail === "" ? undefined : detail
  }) as WorkerErrorReason
}

/** Returns the vendor's message, if the response body contains one. */
const saidOf = (reason: AiError.AiErrorReason, body: string | undefined): string => {
  const words = body === undefined ? "" : wordsOf(parsed(body))
  if (words !== "") return words
  if (!("description" in reason) || reason.description === undefined) return reason.message
  const parameter = reason._tag === "InvalidRequestError" ? reason.parameter : undefined
  return parameter === undefined ? reason.description : `${parameter}: ${reason.description}`
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the message in a vendor's error: `{ message }`, often nested in `{ error }`. */
const wordsOf = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return ""
  if ("error" in value) return typeof value.error === "string" ? value.error : wordsOf(value.error)
  return "message" in value && typeof value.message === "string" ? value.message : ""
}

/**
 * Maps errors thrown by an AI SDK model, or emitted in its stream, to the reasons of a `WorkerError`. The AI SDK passes
 * on the status, codes and message from every vendor.
 */
import { AISDKError, APICallError } from "@ai-sdk/provider"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import { Dialects, VendorJson as Json, VendorError } from "@divisi/provider-kit"

/** Returns the reason for a failed call. */
export const reasonOf = (error: unknown, surroundings: VendorError.Surroundings): WorkerErrorReason =>
  VendorError.fromThrown(error, (error) => mapped(error, surroundings), true)

const otherShape: WorkerErrorReason = { _tag: "Malformed", detail: "an event does not match this API" }

const mapped = (error: unknown, surroundings: VendorError.Surroundings): WorkerErrorReason => {
  if (APICallError.isInstance(error)) return fromCall(error, surroundings)
  if (AISDKError.isInstance(error)) return ofSdk(error, surroundings)
  if (!(error instanceof Error)) return fromStream(error, surroundings)
  const reason = VendorError.fromException(error, surroundings)
  // The AI SDK has specific errors for invalid requests. Any other error comes from a model that cannot parse its
  // vendor's events.
  return reason._tag === "InvalidRequest" ? otherShape : reason
}

const fromCall = (error: APICallError, surroundings: VendorError.Surroundings): WorkerErrorReason => {
  const { message, responseBody, responseHeaders = {}, statusCode, url } = error
  const host = URL.canParse(url) ? new URL(url).host : undefined
  if (statusCode === undefined) return VendorError.fromConnection(error, { host, secrets: surroundings.secrets })
  const headers = new Headers(responseHeaders)
  const text = responseBody || message
  const refused = { status: statusCode, headers, text, body: parsed(text) }
  const reason = Dialects.Errors.reasonOfRefused(refused, surroundings)
  return reason._tag === "Authentication"
    ? { ...reason, remedy: `check the API key that its AI SDK provider sends to ${host ?? "the vendor"}` }
    : reason
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const names: Readonly<Record<string, "Malformed" | "Authentication">> = {
  AI_InvalidResponseDataError: "Malformed",
  AI_EmptyResponseBodyError: "Malformed",
  AI_NoContentGeneratedError: "Malformed",
  AI_LoadAPIKeyError: "Authentication"
}

/** Returns the reason for one of the AI SDK's own errors, which concern either the response or the request. */
const ofSdk = ({ message, name }: AISDKError, { secrets }: VendorError.Surroundings): WorkerErrorReason => {
  if (name === "AI_JSONParseError") return { _tag: "Malformed", detail: "the response is not JSON" }
  // The message contains all schema errors and all of the vendor's data.
  if (name === "AI_TypeValidationError") return otherShape
  return { _tag: Json.meaning(names, name) ?? "InvalidRequest", detail: VendorError.detail(message, secrets) }
}

/** Returns the reason for an error within a stream, which is a string or an object in the vendor's format. */
const fromStream = (error: unknown, surroundings: VendorError.Surroundings): WorkerErrorReason =>
  Dialects.Errors.reasonOfEvent(error, surroundings)

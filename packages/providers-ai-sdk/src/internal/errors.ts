/**
 * Maps what a model of the AI SDK throws, or puts into its stream, to the reasons of a `WorkerError`. The AI SDK passes
 * on the status, codes and words of every vendor.
 */
import { AISDKError, APICallError } from "@ai-sdk/provider"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import { Dialects, VendorJson as Json, VendorError } from "@divisi/provider-kit"

/** Why a call failed. */
export const reasonOf = (error: unknown, surroundings: VendorError.Surroundings): WorkerErrorReason =>
  VendorError.fromThrown(error, (error) => mapped(error, surroundings), true)

const otherShape: WorkerErrorReason = { _tag: "Malformed", detail: "an event does not match this API" }

const mapped = (error: unknown, surroundings: VendorError.Surroundings): WorkerErrorReason => {
  if (APICallError.isInstance(error)) return fromCall(error, surroundings)
  if (AISDKError.isInstance(error)) return ofSdk(error, surroundings)
  if (!(error instanceof Error)) return fromStream(error, surroundings)
  const reason = VendorError.fromException(error, surroundings)
  // About a request the AI SDK has errors of its own. Any other is of a model that cannot read its vendor's events.
  return reason._tag === "InvalidRequest" ? otherShape : reason
}

const fromCall = (error: APICallError, surroundings: VendorError.Surroundings): WorkerErrorReason => {
  const { message, responseBody, responseHeaders = {}, statusCode } = error
  if (statusCode === undefined) return { _tag: "Network", detail: VendorError.detail(message, surroundings.secrets) }
  const headers = new Headers(responseHeaders)
  const text = responseBody || message
  return Dialects.Errors.reasonOfRefused({ status: statusCode, headers, text, body: parsed(text) }, surroundings)
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

/** The AI SDK's own errors: each is about the response, or else about the request. */
const ofSdk = ({ message, name }: AISDKError, { secrets }: VendorError.Surroundings): WorkerErrorReason => {
  if (name === "AI_JSONParseError") return { _tag: "Malformed", detail: "the response is not JSON" }
  // Its message contains the schema's complaints and all of the vendor's data.
  if (name === "AI_TypeValidationError") return otherShape
  return { _tag: Json.meaning(names, name) ?? "InvalidRequest", detail: VendorError.detail(message, secrets) }
}

/** A vendor's errors inside a stream are texts or objects of its own. */
const fromStream = (error: unknown, surroundings: VendorError.Surroundings): WorkerErrorReason =>
  Dialects.Errors.reasonOfEvent(error, surroundings)

/**
 * Maps what a model of the AI SDK throws, or puts into its stream, to the reasons of a `WorkerError`. The AI SDK passes
 * on the status, codes and words of every vendor.
 */
import { AISDKError, APICallError } from "@ai-sdk/provider"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import * as VendorError from "@divisi/provider-kit/VendorError"

const fields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {}

const joined = (texts: ReadonlyArray<unknown>) => texts.filter((text) => typeof text === "string").join("\n")

/** Why a call failed. */
export const reasonOf = (error: unknown, surroundings: VendorError.Surroundings): WorkerErrorReason => {
  if (APICallError.isInstance(error)) return fromCall(error, surroundings)
  if (AISDKError.isInstance(error)) return ofSdk(error, surroundings)
  return error instanceof Error ? VendorError.fromException(error, surroundings) : fromStream(error, surroundings)
}

const fromCall = (error: APICallError, surroundings: VendorError.Surroundings): WorkerErrorReason => {
  const { message, responseBody, responseHeaders = {}, statusCode } = error
  if (statusCode === undefined) return { _tag: "Network", detail: VendorError.detail(message, surroundings.secrets) }
  const header = (name: string) => responseHeaders[name]
  return VendorError.fromRefusal({ status: statusCode, message, codes: responseBody, header }, surroundings)
}

const names: Readonly<Record<string, "Malformed" | "Authentication">> = {
  AI_JSONParseError: "Malformed",
  AI_TypeValidationError: "Malformed",
  AI_InvalidResponseDataError: "Malformed",
  AI_EmptyResponseBodyError: "Malformed",
  AI_NoContentGeneratedError: "Malformed",
  AI_LoadAPIKeyError: "Authentication"
}

/** The AI SDK's own errors: each is about the response, or else about the request. */
const ofSdk = ({ message, name }: AISDKError, { secrets }: VendorError.Surroundings): WorkerErrorReason => ({
  _tag: names[name] ?? "InvalidRequest",
  detail: VendorError.detail(message, secrets)
})

/** A vendor's errors inside a stream are texts or objects of its own. */
const fromStream = (error: unknown, surroundings: VendorError.Surroundings): WorkerErrorReason => {
  if (typeof error === "string") return VendorError.fromRefusal({ message: error }, surroundings)
  const { code, message, status, type } = fields(error)
  return VendorError.fromRefusal({ message: joined([message]), codes: joined([code, type, status]) }, surroundings)
}

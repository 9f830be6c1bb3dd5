/** Maps exceptions of the SDK to a `WorkerErrorReason`, as a pure function. */

import type { WorkerErrorReason } from "@divisi/core/Worker"
import { Dialects, VendorError } from "@divisi/provider-kit"
import { APIConnectionError, APIConnectionTimeoutError, APIError } from "openai"

/** Returns the reason why a call failed, from the SDK's exception. */
export const reasonOf = (error: unknown, surroundings: VendorError.Surroundings): WorkerErrorReason => {
  if (error instanceof APIConnectionTimeoutError) return { _tag: "Timeout" }
  if (error instanceof APIConnectionError) return VendorError.fromConnection(error, surroundings)
  if (!(error instanceof APIError)) return VendorError.fromException(error, surroundings)
  const { error: body, headers = new Headers(), message, status } = error
  return Dialects.Errors.reasonOfRefused({ status: status ?? 500, headers, text: message, body }, surroundings)
}

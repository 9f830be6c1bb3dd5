/** Maps the vendor's error responses and the SDK's exceptions to a `WorkerErrorReason`. */
import { APIConnectionError, APIConnectionTimeoutError } from "@anthropic-ai/sdk"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import { Dialects, type Endpoint, VendorError } from "@divisi/provider-kit"

/** Returns the reason for an HTTP error response. */
export const reasonOfRefused = (refused: Endpoint.Refused): WorkerErrorReason =>
  Dialects.Errors.reasonOfRefused(refused, { nowMillis: Date.now() })

/** Returns the reason why a call failed, from the SDK's exception. */
export const toReason = (error: unknown, surroundings: VendorError.Surroundings): WorkerErrorReason => {
  if (error instanceof APIConnectionTimeoutError) return { _tag: "Timeout", detail: error.message }
  return error instanceof APIConnectionError
    ? VendorError.fromConnection(error, surroundings)
    : VendorError.fromException(error, surroundings)
}

/** Maps the vendor's refusals, and whatever the SDK throws, to a `WorkerErrorReason`. */
import { APIConnectionError, APIConnectionTimeoutError } from "@anthropic-ai/sdk"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import { Dialects, type Endpoint, VendorError } from "@divisi/provider-kit"

/** The reason of an HTTP refusal. */
export const reasonOfRefused = (refused: Endpoint.Refused): WorkerErrorReason =>
  Dialects.Errors.reasonOfRefused(refused, { nowMillis: Date.now() })

/** The reason of a failed call, from what the SDK threw. */
export const toReason = (error: unknown, surroundings: VendorError.Surroundings): WorkerErrorReason => {
  if (error instanceof APIConnectionTimeoutError) return { _tag: "Timeout", detail: error.message }
  return error instanceof APIConnectionError
    ? VendorError.fromConnection(error, surroundings)
    : VendorError.fromException(error, surroundings)
}

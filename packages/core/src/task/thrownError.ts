/** Converts values thrown by worker implementations to a `WorkerError`. */
import { messageOf } from "../Thrown.ts"
import * as FailedCall from "./FailedCall.ts"
import { WorkerError } from "./Worker.ts"

/**
 * Converts any value that a worker implementation threw or failed with to a `WorkerError`. The reason is derived from
 * the value if possible, and is a `Defect` otherwise. The original value is available as `cause`.
 */
export const errorOfThrown = (worker: string, cause: unknown): WorkerError => {
  try {
    if (cause instanceof WorkerError) return cause
    const { _tag, reason, usage } = cause as WorkerError
    // The error may originate from another copy of this package.
    if (_tag === "WorkerError") return new WorkerError({ worker, reason, usage, cause })
  } catch {}
  const reason = FailedCall.fromThrown(cause) ?? { _tag: "Defect", detail: messageOf(cause) }
  return new WorkerError({ worker, reason, cause })
}

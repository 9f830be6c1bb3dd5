/** Converts values thrown by worker code to `WorkerError`. */
import { messageOf } from "../Thrown.ts"
import * as FailedCall from "./FailedCall.ts"
import { WorkerError } from "./Worker.ts"

/**
 * Converts anything that a worker's code threw or failed with to a `WorkerError`. If the value indicates a reason, it
 * is classified by it; otherwise it is a defect. The thrown value is the `cause`.
 */
export const errorOfThrown = (worker: string, cause: unknown): WorkerError => {
  try {
    if (cause instanceof WorkerError) return cause
    const { _tag, reason, usage } = cause as WorkerError
    // Another copy of this package may be loaded, too.
    if (_tag === "WorkerError") return new WorkerError({ worker, reason, usage, cause })
  } catch {}
  const reason = FailedCall.fromThrown(cause) ?? { _tag: "Defect", detail: messageOf(cause) }
  return new WorkerError({ worker, reason, cause })
}

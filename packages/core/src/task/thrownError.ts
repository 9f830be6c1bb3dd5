/** What the code of workers throws, as an error of the worker. */
import { messageOf } from "../Thrown.ts"
import * as FailedCall from "./FailedCall.ts"
import { WorkerError } from "./Worker.ts"

/**
 * The error of a worker whose code threw, or failed with, anything. What says why is taken for what it is; the rest is a
 * defect. What was thrown stays its `cause`.
 */
export const errorOfThrown = (worker: string, cause: unknown): WorkerError => {
  try {
    if (cause instanceof WorkerError) return cause
    const { _tag, reason, usage } = cause as WorkerError
    // Another copy of this package may be loaded beside it.
    if (_tag === "WorkerError") return new WorkerError({ worker, reason, usage, cause })
  } catch {}
  const reason = FailedCall.fromThrown(cause) ?? { _tag: "Defect", detail: messageOf(cause) }
  return new WorkerError({ worker, reason, cause })
}

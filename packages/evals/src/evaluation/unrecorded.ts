/** Errors for calls that have no recorded answer in offline mode. */
import { text } from "@divisi/core/Message"
import { WorkerError, type WorkerRequest } from "@divisi/core/Worker"

/** Creates the error for such a call. It is not retried. */
export const unrecorded = (call: {
  readonly worker: string
  readonly request: Pick<WorkerRequest, "messages">
}): WorkerError => {
  const { request, worker } = call
  const last = text(request.messages.at(-1)).replace(/\s+/g, " ").slice(0, 80)
  const detail = `no answer is recorded for "${last}"`
  const remedy = "record the run first, or use the same pool, tasks and settings"
  return new WorkerError({ worker, reason: { _tag: "InvalidRequest", detail, remedy } })
}

/** Unrecorded calls: without a network they cannot be answered. */
import { text } from "@divisi/core/Message"
import { WorkerError, type WorkerRequest } from "@divisi/core/Worker"

/** Why such a call fails; it is not tried again. */
export const unrecorded = (call: {
  readonly worker: string
  readonly request: Pick<WorkerRequest, "messages">
}): WorkerError => {
  const { request, worker } = call
  const last = text(request.messages.at(-1)).replace(/\s+/g, " ").slice(0, 80)
  const detail = `nothing is recorded for "${last}", so it cannot be answered offline. Record the run first, or use the same pool, tasks and settings`
  return new WorkerError({ worker, reason: { _tag: "InvalidRequest", detail } })
}

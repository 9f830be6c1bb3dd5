/** Calls that nobody has recorded: without a network they have no answer. */
import type { Message } from "@divisi/core/Task"
import { WorkerError } from "@divisi/core/Worker"

/** Why such a call fails; it is not tried again. */
export const unrecorded = (worker: string, messages: ReadonlyArray<Message>): WorkerError => {
  const last = (messages.at(-1)?.content ?? "").replace(/\s+/g, " ").slice(0, 80)
  const detail = `nothing is recorded for "${last}", so it has no answer without a network. Record the run first, or give the same pool, tasks and settings`
  return new WorkerError({ worker, reason: { _tag: "InvalidRequest", detail } })
}

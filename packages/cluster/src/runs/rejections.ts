/**
 * Decides what happens to a run that fails because a vendor rejects this server's key or account. Another server may
 * have a valid key, so the run is not over.
 */
import type { Journal } from "@divisi/core"
import type { WorkerErrorReason } from "@divisi/core/Worker"

/** Number of rejections in a row after which a server leaves, and of a run's attempts after which it fails. */
const maxRejections = 3

/** `again`: this server repeats the run. `leave`: it leaves the cluster, and another server continues the run. */
export type Decision = "again" | "leave"

/** Whether a vendor has rejected the key or the account. */
export const isRejection = ({ _tag }: WorkerErrorReason): boolean => _tag === "Authentication" || _tag === "Quota"

/**
 * Whether calls of a run were rejected and neither answered nor retried afterwards. If a server leaves before such a run
 * ends, its rejections would otherwise remain failures on the next server, whose key may be valid.
 */
export const isPending = (entries: ReadonlyArray<Journal.Entry>): boolean => {
  const steps = new Set<string>()
  for (const entry of entries) {
    if (entry.type === "resumed") steps.clear()
    if (entry.type !== "failed" && entry.type !== "answered" && entry.type !== "found") continue
    const step = entry.call.slice(0, entry.call.lastIndexOf("/"))
    if (entry.type !== "failed") steps.delete(step)
    else if (isRejection(entry.reason)) steps.add(step)
  }
  return steps.size > 0
}

/** The record of a server's rejected runs. */
export interface Rejections {
  /** Records that a run was answered, which shows that the keys of its workers are valid. */
  readonly answered: () => void
  /** Decides about a rejected run that this server has attempted before. Returns `undefined` if the run fails. */
  readonly decide: (message: string, attempts: number) => Decision | undefined
}

/** Creates the record of a server. `leave` is called once, with the rejection that makes the server leave. */
export const make = (leave: (message: string) => void): Rejections => {
  let hasAnswered = false
  let inRow = 0
  let isLeaving = false
  return {
    answered: () => {
      hasAnswered = true
      inRow = 0
    },
    decide: (message, attempts) => {
      inRow += 1
      if (!isLeaving && (!hasAnswered || inRow >= maxRejections)) {
        isLeaving = true
        leave(message)
      }
      if (isLeaving) return "leave"
      return attempts + 1 < maxRejections ? "again" : undefined
    }
  }
}

/** The owner of a run. */
import type { RunEvent } from "@divisi/core"

/** Returns the owner in the first event of a run. The server adds it to each run. */
export const ownerIn = (first: RunEvent.RunEvent | undefined): unknown =>
  first?.type === "run-started" ? first.task.metadata?.owner : undefined

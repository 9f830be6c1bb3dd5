/** The owner of a run. */
import type { RunEvent } from "@divisi/core"

/** The owner that the first event of a run names; the server gives it to each. */
export const ownerIn = (first: RunEvent.RunEvent | undefined): unknown =>
  first?.type === "run-started" ? first.task.metadata?.owner : undefined

/** Reads the owner of a run. */
import type { RunEvent } from "@divisi/core"

/** Returns the owner stored in a run's first event. The server adds it to every run. */
export const ownerIn = (first: RunEvent.RunEvent | undefined): unknown =>
  first?.type === "run-started" ? first.task.metadata?.owner : undefined

/** Formats the progress of a run as lines of text. */
import { EventLine, type RunEvent } from "@divisi/core"

/** Returns the line for an event; `undefined` for minor events and those of nested runs. */
export const progressOf = (event: RunEvent.RunEvent, runId: string | undefined): string | undefined =>
  event.runId === runId ? EventLine.of(event) : undefined

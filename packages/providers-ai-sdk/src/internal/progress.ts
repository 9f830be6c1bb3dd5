/** The progress of a run, in lines for people. */
import { EventLine, type RunEvent } from "@divisi/core"

/** The line of an event; `undefined` for minor events and those of nested runs. */
export const progressOf = (event: RunEvent.RunEvent, runId: string | undefined): string | undefined =>
  event.runId === runId ? EventLine.of(event) : undefined

/** Where a step stands among those of its run and of the runs that are nested in it, as a text. */
import type { RunEvent } from "@divisi/core"

/** The place of a step, behind what stands before the steps of its run. */
export const of = (path: string, { round, step }: { readonly round: number; readonly step: number }): string =>
  `${path}${round}.${step}`

/** Tells of each event what stands before the steps of its run: nothing, or the step that it is nested in, and a slash. */
export const paths = () => {
  const known = new Map<string, string>()
  return (event: RunEvent.RunEvent): string => {
    if (event.type === "run-started" && event.parent !== undefined) {
      known.set(event.runId, `${of(known.get(event.parent.runId) ?? "", event.parent)}/`)
    }
    return known.get(event.runId) ?? ""
  }
}

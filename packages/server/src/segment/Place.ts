/** Text addresses for steps, including steps in nested runs. */
import type { RunEvent } from "@divisi/core"

/** Returns the address of a step: the path prefix of its run, the round, and the step. */
export const of = (path: string, { round, step }: { readonly round: number; readonly step: number }): string =>
  `${path}${round}.${step}`

/**
 * Returns a function that maps each event to the path prefix of its run: empty, or the parent step followed by a slash.
 */
export const paths = () => {
  /** Created by the first nested run. */
  let known: Map<string, string> | undefined
  return (event: RunEvent.RunEvent): string => {
    if (event.type === "run-started" && event.parent !== undefined) {
      known ??= new Map()
      known.set(event.runId, `${of(known.get(event.parent.runId) ?? "", event.parent)}/`)
    }
    return known?.get(event.runId) ?? ""
  }
}

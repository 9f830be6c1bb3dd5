/** The address of a step among the steps of its run and of nested runs, as a text. */
import type { RunEvent } from "@divisi/core"

/** Returns the address of a step, after the path before the steps of its run. */
export const of = (path: string, { round, step }: { readonly round: number; readonly step: number }): string =>
  `${path}${round}.${step}`

/** Returns for each event the path before the steps of its run: empty, or the parent step and a slash. */
export const paths = () => {
  const known = new Map<string, string>()
  return (event: RunEvent.RunEvent): string => {
    if (event.type === "run-started" && event.parent !== undefined) {
      known.set(event.runId, `${of(known.get(event.parent.runId) ?? "", event.parent)}/`)
    }
    return known.get(event.runId) ?? ""
  }
}

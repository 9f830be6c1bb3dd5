/** Determines how a failed step is reassigned to another worker. */
import type { Policy } from "../policy/Policy.ts"
import * as Resilience from "../run/Resilience.ts"
import type { RunSettings } from "../run/RunSettings.ts"
import { lostDetail } from "./reports.ts"

const isLost = ({ error: { reason } }: Resilience.Failure): boolean =>
  reason._tag === "Timeout" && reason.detail === lostDetail

/**
 * Returns the reassignment rule for a run. With `onUnconfirmedCall: "reassign"`, a step whose call was lost is assigned
 * to the next worker; with `"fail"`, it is not reassigned. An explicit `reassign` takes precedence.
 */
export const reassignOf = ({
  onUnconfirmedCall,
  policy,
  reassign
}: RunSettings & { readonly policy?: Policy | undefined }): Resilience.Reassign => {
  const rule = reassign ?? (policy?.failover === false ? "never" : "next")
  if (onUnconfirmedCall === "reassign" && rule === "never") {
    return (failure) => (isLost(failure) ? Resilience.next(failure) : undefined)
  }
  if (onUnconfirmedCall === "fail" && reassign === undefined && rule === "next") {
    return (failure) => (isLost(failure) ? undefined : Resilience.next(failure))
  }
  return rule
}

/** The rule by which a failed step goes to another worker. */
import type { Policy } from "../policy/Policy.ts"
import * as Resilience from "../run/Resilience.ts"
import type { RunSettings } from "../run/RunSettings.ts"
import { lostDetail } from "./call.ts"

const isLost = ({ error: { reason } }: Resilience.Failure): boolean =>
  reason._tag === "Timeout" && reason.detail === lostDetail

/**
 * The rule of a run by which the steps of failed workers go to others. With `onUnconfirmedCall: "reassign"`, a step whose call was
 * lost goes to the next worker, and with `"fail"` to none, unless `reassign` says otherwise.
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

/** The event `round-revised`: the policy has decided how to handle answers that failed their checks. */
import { defined } from "../Fields.ts"
import type { EarlierStep } from "../workflow/Workflow.ts"
import type { OpenRound } from "./OpenRecord.ts"
import type { Stamped } from "./RunEvent.ts"

/**
 * Emitted when the policy has decided how to handle answers that failed their checks: continue with the workflow, stop
 * with the answer of a step, or write a new plan. A new plan starts the next round.
 */
export interface RoundRevised {
  readonly type: "round-revised"
  readonly round: number
  /** Zero-based index of the revision within its round. */
  readonly index: number
  readonly policy: string
  readonly decision: "go-on" | "stop" | "re-plan"
  /** The step whose answer is used. Set if the policy stops the run. */
  readonly answer?: EarlierStep
  readonly notes: ReadonlyArray<string>
  readonly durationMillis: number
}

export const fold = (round: OpenRound, event: Stamped<RoundRevised>): void => {
  const { answer, at, decision, durationMillis, notes, policy } = event
  round.revisions ??= []
  round.revisions.push(defined({ at, policy, decision, answer, notes, durationMillis }))
}

/** Returns the attributes of the span event. */
export const attributesOf = ({ decision, policy }: RoundRevised) => ({
  "divisi.policy": policy,
  "divisi.decision": decision
})

/** Returns the line for the event, or `undefined` if the policy continues. */
export const line = ({ answer, decision, policy }: RoundRevised): string | undefined => {
  if (decision === "re-plan") return `${policy} writes a new plan.`
  return decision === "stop" && answer !== undefined
    ? `${policy} stops with the answer of step ${answer.step + 1}.`
    : undefined
}

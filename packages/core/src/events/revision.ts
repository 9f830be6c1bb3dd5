/** `round-revised`: answers failed their checks, and the policy decided what to do. */
import { defined } from "../Fields.ts"
import type { EarlierStep } from "../workflow/Workflow.ts"
import type { OpenRound } from "./OpenRecord.ts"
import type { Stamped } from "./RunEvent.ts"

/**
 * The policy's decision after answers failed their checks: it continues with its workflow, stops with the answer of a
 * step, or plans again. A new plan starts the next round.
 */
export interface RoundRevised {
  readonly type: "round-revised"
  readonly round: number
  /** The index of this revision within its round, from 0. */
  readonly index: number
  readonly policy: string
  readonly decision: "go-on" | "stop" | "re-plan"
  /** The step whose answer is used; present if the policy stops. */
  readonly answer?: EarlierStep
  readonly notes: ReadonlyArray<string>
  readonly durationMillis: number
}

export const fold = (round: OpenRound, event: Stamped<RoundRevised>): void => {
  const { answer, at, decision, durationMillis, notes, policy } = event
  round.revisions ??= []
  round.revisions.push(defined({ at, policy, decision, answer, notes, durationMillis }))
}

/** The attributes of its span event. */
export const attributesOf = ({ decision, policy }: RoundRevised) => ({
  "divisi.policy": policy,
  "divisi.decision": decision
})

/** Returns the event's line, or `undefined` if the policy continues. */
export const line = ({ answer, decision, policy }: RoundRevised): string | undefined => {
  if (decision === "re-plan") return `${policy} writes a new plan.`
  return decision === "stop" && answer !== undefined
    ? `${policy} stops with the answer of step ${answer.step + 1}.`
    : undefined
}

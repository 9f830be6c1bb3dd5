/** `workflow-proposed`: the policy has planned a round. */
import type { Step, Workflow } from "../workflow/Workflow.ts"
import type { Attributes } from "./Attributes.ts"
import { oneLine } from "./EventText.ts"
import { type OpenRound, waiting } from "./OpenRecord.ts"
import type { PoolMember, Stamped } from "./RunEvent.ts"

/** The workflow of a round, before it runs. */
export interface WorkflowProposed {
  readonly type: "workflow-proposed"
  readonly round: number
  /** The name of the policy that wrote it, which may be a fallback. */
  readonly policy: string
  /** Empty if the policy answers directly or confirms the previous answer. */
  readonly workflow: Workflow
  /** The policy's own answer, without calls to workers. */
  readonly answer?: string
  /**
   * Whether the run ends with this round. If `false`, its answer is a draft. If absent, the settings of the run decide.
   */
  readonly isLast?: boolean
  /** The notes of the policy's `Policy.Proposal`. */
  readonly notes: ReadonlyArray<string>
  /** The probability of this plan, if the policy samples. */
  readonly probability?: number
  /**
   * The duration of planning since the start of the round. A cached completion that is charged adds its original
   * duration.
   */
  readonly durationMillis: number
}

export const fold = (round: OpenRound, event: Stamped<WorkflowProposed>, pool: ReadonlyArray<PoolMember>): void => {
  round.policy = event.policy
  round.plannedAt = event.at
  round.planningMillis = event.durationMillis
  round.workflow = event.workflow
  round.notes = event.notes
  if (event.answer !== undefined) round.isOwn = true
  if (event.isLast !== undefined) round.isLast = event.isLast
  if (event.probability !== undefined) round.probability = event.probability
  round.steps = event.workflow.steps.map(({ worker }, step) => waiting(step, pool[worker]?.id ?? "self"))
}

export const describe = (span: Attributes, { answer, policy, workflow }: WorkflowProposed, content: boolean): void => {
  span.attribute("divisi.policy", policy)
  if (content) span.attribute("divisi.workflow", JSON.stringify(workflow))
  if (answer !== undefined) span.attribute("divisi.own_answer", true)
  span.attribute("divisi.steps", workflow.steps.length)
}

const sees = (access: Step["access"]): string => {
  if (access === "all") return ", sees all before it"
  return access.length === 0 ? "" : `, sees ${access.map((step) => step + 1).join(", ")}`
}

/** Returns a line for the plan and one for each of its steps. */
export const lines = ({ answer, policy, workflow }: WorkflowProposed): string => {
  if (answer !== undefined) return `Answer of ${policy} itself, without a plan`
  const steps = workflow.steps.map(
    ({ access, subtask, worker }, index) =>
      `  ${index + 1}. worker ${worker}${sees(access)}: ${oneLine(subtask === "" ? "the question" : subtask)}`
  )
  return [`Plan of ${policy}:`, ...steps].join("\n")
}

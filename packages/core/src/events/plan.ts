/** The event `workflow-proposed`: the policy has planned a round. */
import type { Step, Workflow } from "../workflow/Workflow.ts"
import type { Attributes } from "./Attributes.ts"
import { oneLine } from "./EventText.ts"
import { type OpenRound, waiting } from "./OpenRecord.ts"
import type { PoolMember, Stamped } from "./RunEvent.ts"

/** Emitted when the policy has planned a round, before the plan runs. */
export interface WorkflowProposed {
  readonly type: "workflow-proposed"
  readonly round: number
  /** Name of the policy that wrote the plan. May be a fallback. */
  readonly policy: string
  /** The plan. Empty if the policy answers directly or confirms the previous answer. */
  readonly workflow: Workflow
  /** The policy's own answer, given without calling a worker. */
  readonly answer?: string
  /**
   * Whether the run ends after this round. If `false`, the round's answer is a draft. If undefined, the run's settings
   * apply.
   */
  readonly isLast?: boolean
  /** Notes from the policy's `Policy.Proposal`. */
  readonly notes: ReadonlyArray<string>
  /** Probability of this plan, if the policy samples. */
  readonly probability?: number
  /**
   * Time from the start of the round until the plan was complete, in milliseconds. For cache hits that are charged,
   * includes the original duration.
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
  if (access === "all") return ", sees all earlier steps"
  return access.length === 0 ? "" : `, sees ${access.map((step) => step + 1).join(", ")}`
}

/** Formats the plan as one line, followed by one line for each step. */
export const lines = ({ answer, policy, workflow }: WorkflowProposed): string => {
  if (answer !== undefined) return `Answer by ${policy}, without a plan`
  const steps = workflow.steps.map(
    ({ access, subtask, worker }, index) =>
      `  ${index + 1}. worker ${worker}${sees(access)}: ${oneLine(subtask === "" ? "the question" : subtask)}`
  )
  return [`Plan by ${policy}:`, ...steps].join("\n")
}

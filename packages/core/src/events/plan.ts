/** `workflow-proposed`: the policy has planned a round. */
import type { Step, Workflow } from "../workflow/Workflow.ts"
import type { Attributes } from "./Attributes.ts"
import { oneLine } from "./EventText.ts"
import { type OpenRound, waiting } from "./OpenRecord.ts"
import type { PoolMember, Stamped } from "./RunEvent.ts"

/** The workflow of a round, about to be run. */
export interface WorkflowProposed {
  readonly type: "workflow-proposed"
  readonly round: number
  /** The policy that wrote it: a fallback has its own name. */
  readonly policy: string
  /** Without steps if the policy answers itself or confirms the previous answer. */
  readonly workflow: Workflow
  /** The policy's own answer; it calls no worker. */
  readonly answer?: string
  /** Whether the run ends with this round. `false`: its answer is a draft. Absent: the settings of the run decide. */
  readonly isLast?: boolean
  /** Those of its `Policy.Proposal`. */
  readonly notes: ReadonlyArray<string>
  /** How likely this choice was, if the policy samples. */
  readonly probability?: number
  /** From the start of the round; a cached completion that is charged as if made adds the time that it took. */
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

/** A line for the plan and one for each of its steps. */
export const lines = ({ answer, policy, workflow }: WorkflowProposed): string => {
  if (answer !== undefined) return `Answer of ${policy} itself, without a plan`
  const steps = workflow.steps.map(
    ({ access, subtask, worker }, index) =>
      `  ${index + 1}. worker ${worker}${sees(access)}: ${oneLine(subtask === "" ? "the question" : subtask)}`
  )
  return [`Plan of ${policy}:`, ...steps].join("\n")
}

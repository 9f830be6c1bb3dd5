/** A workflow that is about to run, with everything that its steps need. */
import type { Policy, Previous } from "../policy/Policy.ts"
import type { Equipment } from "../run/Equipment.ts"
import * as Resilience from "../run/Resilience.ts"
import type { RunBudget, RunSettings, ToolAccess, WorkerSettings } from "../run/RunSettings.ts"
import type { Checks } from "../task/Check.ts"
import type { Task } from "../task/Task.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import type { Workflow } from "../workflow/Workflow.ts"
import { lostDetail } from "./reports.ts"
import type { Kept } from "./reserved.ts"
import type { State } from "./round.ts"
import type { Delegate } from "./step.ts"

/** Settings for running steps. */
export interface Settings {
  readonly worker: WorkerSettings
  readonly reassign: Resilience.Reassign
  /** How to handle a step that failed after all retries: inform the steps that depend on it, or end the run. */
  readonly onStepFailure: "report" | "end"
  /** Whether rejected credentials end the run, regardless of `reassign` and `onStepFailure`. */
  readonly onAuthenticationFailure: "report" | "end"
  /** The steps that may call tools. */
  readonly toolAccess: ToolAccess
  /** Maximum number of items that run concurrently. */
  readonly itemsAtOnce: number
}

export interface Plan {
  readonly task: Task
  readonly pool: WorkerPool
  readonly workflow: Workflow
  /** The steps to run. If undefined, all steps run. */
  readonly wanted?: ReadonlySet<number> | undefined
  readonly round: number
  readonly previous?: Previous | undefined
  readonly settings: Settings
  /** Seed for this round. Sent to workers only if `sendSeed` is set. */
  readonly seed: number
  readonly sendSeed: boolean
  /** The run's tools and output format. */
  readonly equipment: Equipment
  /** Named checks for the steps, and the minimum score for passing a critic's check. */
  readonly checks: Checks
  readonly threshold: number
  /** Whether another round may start early. If not, a failed check does not hold back any step. */
  readonly mayRevise: boolean
  /** Set if the Conductor is a worker in its own pool. */
  readonly delegate?: Delegate | undefined
  /** Set if part of the budget is reserved for the answering step. */
  readonly kept?: Kept | undefined
}

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

/** Returns the named checks available to a workflow: those of the run, and those of the workflow's author. */
export const checksOf = ({ options: { checks = noChecks } }: State, author: Policy): Checks =>
  author.checks === undefined ? checks : { ...checks, ...author.checks }

export const noChecks: Checks = {}

/** Whether plans are admitted as a whole. Nested runs do not admit plans, because they have no separate budget. */
export const admitsPlans = ({ depth, options }: Pick<State, "depth" | "options">): boolean =>
  depth === 0 && (options.budget as RunBudget | undefined)?.admit === "plan"

/** A workflow that is about to run, with everything that its steps need. */
import type { Previous } from "../policy/Policy.ts"
import type { Equipment } from "../run/Equipment.ts"
import type { Reassign } from "../run/Resilience.ts"
import type { ToolAccess, WorkerSettings } from "../run/RunSettings.ts"
import type { Checks } from "../task/Check.ts"
import type { Task } from "../task/Task.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import type { Workflow } from "../workflow/Workflow.ts"
import type { Kept } from "./reserved.ts"
import type { Delegate } from "./step.ts"

/** How steps are run. */
export interface Settings {
  readonly worker: WorkerSettings
  readonly reassign: Reassign
  /**
   * The consequence if a step fails after all retries: the failure is shown to the steps that depend on it, or the run
   * ends.
   */
  readonly onStepFailure: "report" | "end"
  /** Whether refused credentials end the run, regardless of `reassign` and `onStepFailure`. */
  readonly onAuthenticationFailure: "report" | "end"
  /** The steps that receive the tools. */
  readonly toolAccess: ToolAccess
  /** The maximum number of concurrent items. */
  readonly itemsAtOnce: number
}

export interface Plan {
  readonly task: Task
  readonly pool: WorkerPool
  readonly workflow: Workflow
  /** The steps to run; absent if all are. */
  readonly wanted?: ReadonlySet<number> | undefined
  readonly round: number
  readonly previous?: Previous | undefined
  readonly settings: Settings
  /** The seed of this round; it is sent to the workers only if `sendSeed` is set. */
  readonly seed: number
  readonly sendSeed: boolean
  /** The run's tools, and the shape of its answer. */
  readonly equipment: Equipment
  /** The checks of its steps by name, and the score that passes a check by a critic. */
  readonly checks: Checks
  readonly threshold: number
  /** Whether another round may start early. If not, a failed check does not hold back any step. */
  readonly mayRevise: boolean
  /** Present if the Conductor is a worker of its own pool. */
  readonly delegate?: Delegate | undefined
  /** Present if a part of the budget is reserved for the step that answers. */
  readonly kept?: Kept | undefined
}

/** Returns the name of a worker. As a worker of its own pool, the Conductor is named `self`. */
export const workerName = ({ pool }: Pick<Plan, "pool">, ordinal: number): string => pool.workers[ordinal]?.id ?? "self"

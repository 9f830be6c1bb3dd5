/** The part of a budget that is reserved for the answering step (`budget.keep`). */
import type { StepAnswer } from "../workflow/StepMessages.ts"
import type { Plan } from "./plan.ts"
import type { StepError } from "./step.ts"

/** A reservation that lets the answering step run even if the budget has stopped the other steps. */
export interface Kept {
  readonly step: number
  /** Releases the reserved budget when the step starts. */
  readonly release: () => void
}

/**
 * Returns the result of a failed step. If the answering step runs on its reservation, steps that exceeded the budget
 * are presented to it as not run.
 */
export const failedAnswer = ({ kept }: Plan, error: StepError): StepAnswer | undefined =>
  kept !== undefined && error._tag === "BudgetExceeded"
    ? undefined
    : { type: "failed", message: error.message, cause: error }

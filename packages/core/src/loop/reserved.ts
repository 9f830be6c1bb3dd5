/** The part of a budget that is reserved for the answering step (`budget.keep`). */
import type { StepAnswer } from "../workflow/StepMessages.ts"
import type { Plan } from "./plan.ts"
import type { StepError } from "./step.ts"

/** A reservation that lets the answering step run even if the budget has stopped the other steps. */
export interface Kept {
  readonly step: number
  /** Releases the reserved budget when the step starts. */
  readonly release: () => void
  /** Reserves the text around the answers of a step's items, once the items are known. */
  readonly unfolded: (step: number, items: ReadonlyArray<string>) => void
  /** Reserves the longest answer of an item before its call. */
  readonly begin: (step: number) => void
  /** Replaces this reservation with the item's answer. */
  readonly end: (step: number, answer: StepAnswer | undefined) => void
}

/**
 * Returns the result of a failed step. If a limit stopped it while an answer that failed its check was being replaced,
 * the result is that answer (`before`). If the answering step runs on its reservation, steps that exceeded the budget
 * without an answer are presented to it as not run.
 */
export const failedAnswer = (
  { kept }: Plan,
  error: StepError,
  before: StepAnswer | undefined
): StepAnswer | undefined => {
  const isLimit = error._tag === "BudgetExceeded"
  if (isLimit && (before !== undefined || kept !== undefined)) return before
  return { type: "failed", message: error.message, cause: error }
}

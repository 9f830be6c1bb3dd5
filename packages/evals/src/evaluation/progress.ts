/** The progress of an evaluation, on one machine or on several. */

/** Progress of an evaluation, reported between samples. */
export interface Progress {
  /** Number of planned samples that are done. */
  readonly done: number
  readonly planned: number
  /** Number of samples that were already done at the start. */
  readonly resumed: number
  readonly missing: number
  readonly elapsedMillis: number
  /** Estimated remaining time in milliseconds at the current rate. `undefined` until a rate is known. */
  readonly leftMillis: number | undefined
  readonly paidUsd: number
  /** Remaining budget in USD. `undefined` without a limit. */
  readonly moneyLeftUsd: number | undefined
}

/**
 * Estimates the remaining time from the samples finished since the start, and the remaining budget from the payments.
 */
export const progressOf = ({
  maxCostUsd,
  ...known
}: Omit<Progress, "leftMillis" | "moneyLeftUsd"> & { readonly maxCostUsd: number | undefined }): Progress => {
  const { done, elapsedMillis, paidUsd, planned, resumed } = known
  return {
    ...known,
    leftMillis: done > resumed ? (elapsedMillis / (done - resumed)) * (planned - done) : undefined,
    moneyLeftUsd: maxCostUsd === undefined ? undefined : Math.max(0, maxCostUsd - paidUsd)
  }
}

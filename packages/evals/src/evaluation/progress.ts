/** The progress of an evaluation, on one machine or on several. */

/** The state of an evaluation between two samples. */
export interface Progress {
  /** Samples that there are, of those that were planned. */
  readonly done: number
  readonly planned: number
  /** The number of completed samples that existed at the start. */
  readonly resumed: number
  readonly missing: number
  readonly elapsedMillis: number
  /** The estimated remaining time at the rate so far; `undefined` before there is a rate. */
  readonly leftMillis: number | undefined
  readonly paidUsd: number
  /** The remaining budget in USD; `undefined` without a limit. */
  readonly moneyLeftUsd: number | undefined
}

/** Estimates the remaining time from the samples since the start, and the remaining budget from what is paid. */
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

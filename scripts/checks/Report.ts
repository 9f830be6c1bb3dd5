/** What a check found: how many things are as they should be, and a sentence for each that is not. */

export interface Report {
  readonly passed: number
  /** Each says where, what is wrong, and what to do. */
  readonly problems: ReadonlyArray<string>
}

/** One pass when there is nothing to report, else a failure for each problem. */
export const fromProblems = (problems: ReadonlyArray<string>): Report => ({
  passed: problems.length === 0 ? 1 : 0,
  problems
})

/** The result of a check: the number of passed items, and a message for each failed one. */

export interface Report {
  readonly passed: number
  /** Each message says where the problem is, what is wrong, and how to fix it. */
  readonly problems: ReadonlyArray<string>
}

/** Creates a report from problems. Without problems, it counts as one passed item. */
export const fromProblems = (problems: ReadonlyArray<string>): Report => ({
  passed: problems.length === 0 ? 1 : 0,
  problems
})

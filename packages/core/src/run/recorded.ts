/** What a run has already got, in the form in which the cache stores it. */
import type { RecordedAnswer, RecordedCall } from "../record/Recorded.ts"
import type { Entry, Failure } from "./ResponseCache.ts"

/** The attempts that failed, as the cache stores them. */
export const failuresOf = ({ failures }: RecordedCall): ReadonlyArray<Failure> =>
  failures.flatMap(({ message = "", reason, retryInMillis, unasked, usage }) =>
    reason === undefined ? [] : [{ message, reason, retryInMillis, unasked, usage }]
  )

/** An answer, as the cache stores it. */
export const entryOfRecorded = ({ durationMillis, paid, ...answer }: RecordedAnswer): Entry => ({
  ...answer,
  durationMillis,
  usage: paid.usage
})

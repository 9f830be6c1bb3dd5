/** The order of a run's failures. */
import type { StepFailure } from "./StepFailure.ts"

/**
 * Returns a failure's position within a run as a list of numbers: the rounds and steps that lead to it. A planner's
 * failure is sorted before all steps.
 */
const pathOf = (run: string, { item, round, runId, step = -1 }: StepFailure): ReadonlyArray<number> => [
  ...runId
    .slice(run.length)
    .split(/[/.[\]]/)
    .flatMap((part) => (part === "" ? [] : [Number(part)])),
  round,
  step,
  ...(item === undefined ? [] : item.split(".").map(Number))
]

const rankOf = ({ by }: StepFailure): number => (by === undefined ? 0 : 1)

const byPlace = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): number => {
  for (let at = 0; at < Math.min(one.length, other.length); at += 1) {
    if (one[at] !== other[at]) return one[at]! - other[at]!
  }
  // Failures of a nested run come before those of the enclosing step.
  return other.length - one.length
}

/**
 * Sorts the failures of a run and its nested runs by round and step. Failures of the same step remain in chronological
 * order, followed by those of its checks. The order therefore does not depend on which of two concurrent steps failed
 * first.
 */
export const inOrder = (run: string, failures: ReadonlyArray<StepFailure>): ReadonlyArray<StepFailure> =>
  failures.length < 2
    ? failures
    : failures
        .map((failure) => ({ failure, path: pathOf(run, failure) }))
        .sort((one, other) => byPlace(one.path, other.path) || rankOf(one.failure) - rankOf(other.failure))
        .map(({ failure }) => failure)

/**
 * Describes the samples that count as wrong without an answer, and those excluded from all means, for the page and the
 * terminal.
 */
import { count, counted } from "../page/Numbers.ts"
import type { Cell, Evaluation } from "./Evaluation.ts"

const sum = ({ cells }: Evaluation, of: (cell: Cell) => number): number =>
  cells.reduce((total, cell) => total + of(cell), 0)

/** Formats the reasons for missing samples: `Network 3, Timeout 1`. */
const reasons = ({ cells }: Evaluation): string => {
  const all = cells.flatMap(({ score }) => Object.entries(score.missingBy ?? {}))
  return [...Map.groupBy(all, ([reason]) => reason)]
    .map(([reason, some]) => `${reason} ${count(some.reduce((total, [, number]) => total + number, 0))}`)
    .join(", ")
}

/** Returns the policies whose tokens and costs are estimates, because a vendor's own figures are impossible. */
const misreported = (evaluation: Evaluation): ReadonlyArray<string> => {
  const found = evaluation.cells.flatMap(({ misreported }) => misreported ?? [])
  const runs = sum(evaluation, ({ misreported }) => misreported?.runs ?? 0)
  return found.length === 0
    ? []
    : [`${counted(runs, "sample")} with invalid usage (${found[0]!.first}): estimates are used instead`]
}

/** Returns the sentences without full stops. `remedy` follows the sentence about missing samples. */
export const failures = (evaluation: Evaluation, remedy = ""): ReadonlyArray<string> => {
  const unparsed = sum(evaluation, ({ score }) => score.unparsed)
  const unanswered = sum(evaluation, ({ score }) => score.unanswered ?? 0)
  const missing = sum(evaluation, ({ score }) => score.missing)
  const lost = sum(evaluation, ({ failedCalls }) => failedCalls)
  const unpriced = sum(evaluation, ({ unpricedCalls }) => unpricedCalls)
  const by = reasons(evaluation)
  return [
    ...(unparsed === 0 ? [] : [`${counted(unparsed, "answer")} unreadable, counted as wrong`]),
    ...(unanswered === 0 ? [] : [`${counted(unanswered, "sample")} without an answer, counted as wrong`]),
    ...(missing === 0
      ? []
      : [`${counted(missing, "sample")} not measured, excluded from means${by === "" ? "" : ` (${by})`}${remedy}`]),
    ...(lost === 0 ? [] : [`${counted(lost, "call")} failed, retries included`]),
    ...misreported(evaluation),
    ...(unpriced === 0 ? [] : [`${counted(unpriced, "call")} of unknown price, excluded from costs`])
  ]
}

// -------------------------------------------------------------------------------------------------------------------
// Baselines
// -------------------------------------------------------------------------------------------------------------------

/** Maximum number of single-worker policies that have a separate row. All others share one row. */
const mostSingles = 3

/** Whether a policy is a single-worker baseline. */
export const isSingle = (policy: string): boolean => policy.startsWith("single:")

/** Returns the single workers that share a row: all except the best. */
export const folded = ({ config, overall }: Evaluation): ReadonlyArray<string> => {
  const meanOf = (name: string) => overall.find(({ policy }) => policy === name)?.mean ?? -1
  const singles = config.policies.map(({ name }) => name).filter(isSingle)
  return singles.length <= mostSingles + 1
    ? []
    : singles.toSorted((one, other) => meanOf(other) - meanOf(one)).slice(mostSingles)
}

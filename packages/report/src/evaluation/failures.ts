/**
 * Describes the samples that count as wrong without an answer, and those excluded from all means, for the page and the
 * terminal.
 */
import { count, counted } from "../page/Numbers.ts"
import type { Cell, Evaluation, Reason, Score } from "./Evaluation.ts"

const sum = ({ cells }: Evaluation, of: (cell: Cell) => number): number =>
  cells.reduce((total, cell) => total + of(cell), 0)

/** Maximum number of reasons that are shown. */
const maxShown = 3

/** Formats the most frequent reasons for a number of samples: `5 × declined; 2 × timeout; 1 × less frequent reasons`. */
export const reasonsText = (total: number, given: ReadonlyArray<Reason>): string => {
  const shown = [...Map.groupBy(given, ({ reason }) => reason)]
    .map(([reason, some]) => ({ reason, samples: some.reduce((sum, { samples }) => sum + samples, 0) }))
    .sort((one, other) => other.samples - one.samples)
    .slice(0, maxShown)
  const rest = shown.reduce((left, { samples }) => left - samples, total)
  const texts = shown.map(({ reason, samples }) => `${count(samples)} × ${reason.replace(/\.$/, "")}`)
  return [...texts, ...(shown.length === 0 || rest <= 0 ? [] : [`${count(rest)} × less frequent reasons`])].join("; ")
}

/** Returns the reasons over all cells in parentheses. Empty if a report of an older version has none. */
const inParentheses = (
  { cells }: Evaluation,
  total: number,
  of: (score: Score) => ReadonlyArray<Reason> | undefined
): string => {
  const text = reasonsText(
    total,
    cells.flatMap(({ score }) => of(score) ?? [])
  )
  return text === "" ? "" : ` (${text})`
}

/** Returns the policies whose tokens and costs are estimates, because a vendor's own figures are impossible. */
const misreported = (evaluation: Evaluation): ReadonlyArray<string> => {
  const found = evaluation.cells.flatMap(({ misreported }) => misreported ?? [])
  const runs = sum(evaluation, ({ misreported }) => misreported?.runs ?? 0)
  return found.length === 0
    ? []
    : [`${counted(runs, "sample")} with invalid usage (${found[0]!.first}): estimates are used instead`]
}

/** Returns the sentences without final periods. `remedy` follows the sentence about missing samples. */
export const failures = (evaluation: Evaluation, remedy = ""): ReadonlyArray<string> => {
  const unparsed = sum(evaluation, ({ score }) => score.unparsed)
  const unanswered = sum(evaluation, ({ score }) => score.unanswered ?? 0)
  const missing = sum(evaluation, ({ score }) => score.missing)
  const lost = sum(evaluation, ({ failedCalls }) => failedCalls)
  const unpriced = sum(evaluation, ({ unpricedCalls }) => unpricedCalls)
  const whyUnanswered = inParentheses(evaluation, unanswered, (score) => score.unansweredReasons)
  const whyMissing = inParentheses(evaluation, missing, (score) => score.missingReasons)
  return [
    ...(unparsed === 0 ? [] : [`${counted(unparsed, "answer")} unreadable, counted as wrong`]),
    ...(unanswered === 0
      ? []
      : [`${counted(unanswered, "sample")} without an answer, counted as wrong${whyUnanswered}`]),
    ...(missing === 0 ? [] : [`${counted(missing, "sample")} not measured, excluded from means${whyMissing}${remedy}`]),
    ...(evaluation.cells.some((cell) => coverage(evaluation, [cell]) !== "") ? [partial] : []),
    ...(lost === 0 ? [] : [`${counted(lost, "call")} failed, including retries`]),
    ...misreported(evaluation),
    ...(unpriced === 0 ? [] : [`${counted(unpriced, "call")} of unknown price, excluded from costs`])
  ]
}

// -------------------------------------------------------------------------------------------------------------------
// Coverage
// -------------------------------------------------------------------------------------------------------------------

const partial =
  "Scores marked with a number of samples, such as (15 of 20), cover different questions than the others; the differences use only questions that both policies have a score for"

/**
 * Returns a mark for a mean over fewer samples than another policy has, or than were planned: ` (15 of 20)`. Empty for
 * a complete mean, and for an unknown one. A mean with a mark must not be ranked.
 */
export const coverage = ({ cells }: Evaluation, of: ReadonlyArray<Cell | undefined>): string => {
  const own = of.filter((cell) => cell !== undefined)
  const samples = own.reduce((sum, { score }) => sum + score.samples, 0)
  const planned = own.reduce((sum, { benchmark }) => {
    const all = cells.filter((cell) => cell.benchmark === benchmark)
    return sum + Math.max(...all.map(({ score }) => score.samples + score.missing))
  }, 0)
  return samples === planned || samples === 0 ? "" : ` (${count(samples)} of ${count(planned)})`
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

/** Chooses the worker for a kind of question from the estimates of all workers on it. */
import type { Cell } from "./landings.ts"
import * as Scores from "./scores.ts"

// -------------------------------------------------------------------------------------------------------------------
// How careful it is
// -------------------------------------------------------------------------------------------------------------------

/** Minimum number of questions that must land in a kind. With fewer, the best overall worker is called. */
const leastLanded = 8
/** Minimum advantage of a worker over the reference, in standard errors. */
const leastErrors = 1.5
/** Quantile of a kind's own similarities that becomes its minimum similarity: the most dissimilar 10 % are cut off. */
const strangest = 0.1
/** Weight of the overall advantage in the expected advantage on one kind, in questions. */
const priorQuestions = 20
/** Minimum assumed share of questions that land in a kind without belonging to it. */
const leastDoubt = 0.1
/**
 * Minimum share of a kind's own questions that must remain above the similarity threshold. Below it, the kind is
 * ignored.
 */
const leastShare = 0.3
/** Maximum loss in score when a cheaper worker is chosen. */
const tolerance = 0.02

// -------------------------------------------------------------------------------------------------------------------
// Estimates
// -------------------------------------------------------------------------------------------------------------------

/** The estimated performance of a worker on a set of questions. Values are `NaN` if there is no data. */
export interface Estimate {
  readonly worker: number
  /** Number of questions behind the advantage. */
  readonly questions: number
  /** Mean score advantage over the reference, which is the best overall worker. */
  readonly advantage: number
  readonly standardError: number
  /** Expected advantage on the next question of this kind. */
  readonly expected: number
  readonly cost: number
  readonly mean: number
  readonly answered: number
}

/** Evidence shared by all kinds. */
export interface Evidence {
  readonly scores: Scores.Scores
  readonly reference: number
  readonly differences: ReturnType<typeof Scores.differences>
}

export const evidence = (scores: Scores.Scores, reference: number): Evidence => ({
  scores,
  reference,
  differences: Scores.differences(scores, reference)
})

const meanCost = ({ cost }: Scores.Scores, worker: number, indices?: ReadonlyArray<number>): number => {
  const few = Scores.sum(cost[worker]!, indices)
  return few.count > 0 ? few.mean : Scores.sum(cost[worker]!).mean
}

/** Caps a value at 0: good results on other kinds are no reason to call a worker for this kind. */
const atMostNothing = (value: number): number => (Number.isNaN(value) ? 0 : Math.min(0, value))

const expectedOf = (
  { differences }: Evidence,
  worker: number,
  found: Scores.Difference,
  indices: ReadonlyArray<number>,
  doubt: number
) => {
  const prior = atMostNothing(differences.at(worker).mean)
  const drawn = (found.questions * found.mean + priorQuestions * prior) / (found.questions + priorQuestions)
  return (1 - doubt) * drawn + doubt * atMostNothing(differences.elsewhere(worker, indices))
}

/**
 * Estimates every worker on the questions at `indices`, or on all questions if omitted. `doubt` is the share of
 * questions that may not belong to the kind.
 */
export const estimates = (
  from: Evidence,
  indices?: ReadonlyArray<number>,
  doubt = leastDoubt
): ReadonlyArray<Estimate> =>
  from.scores.workers.map((_, worker) => {
    const { differences, reference, scores } = from
    const answered = Scores.sum(scores.score[worker]!, indices)
    const found = differences.at(worker, indices)
    const isReference = worker === reference
    return {
      worker,
      questions: found.questions,
      advantage: isReference ? 0 : found.questions === 0 ? Number.NaN : found.mean,
      standardError: isReference ? 0 : found.standardError,
      expected: isReference ? 0 : indices === undefined ? found.mean : expectedOf(from, worker, found, indices, doubt),
      cost: meanCost(scores, worker, indices),
      mean: answered.mean,
      answered: answered.count
    }
  })

/** Returns the estimates with excluded workers marked as having no data. */
export const counting = (
  estimates: ReadonlyArray<Estimate>,
  isOut: (estimate: Estimate, leastAnswered: number) => boolean
): ReadonlyArray<Estimate> =>
  estimates.map((one) => (isOut(one, leastLanded) ? { ...one, questions: 0, mean: Number.NaN } : one))

// -------------------------------------------------------------------------------------------------------------------
// Choices
// -------------------------------------------------------------------------------------------------------------------

/** Returns the minimum similarity to a kind at which a question counts as belonging to it. */
export const leastLikeness = ({ own }: Cell): number => own[Math.floor(strangest * own.length)] ?? 1

/**
 * Of the questions close enough to a kind, returns the share that may not belong to it. To estimate it, each question
 * is compared with all kinds except its own, and the questions that land in this kind are counted.
 */
export const doubtAt = ({ landed, fromOtherKinds }: Cell, least: number): number => {
  const near = (landings: Cell["landed"]) => landings.filter(({ likeness }) => likeness >= least).length
  const [own, others] = [near(landed), near(fromOtherKinds)]
  return Math.max(leastDoubt, others / Math.max(1, own + others))
}

/** A choice and the minimum similarity at which it is safe. */
export interface Safe {
  readonly worker: number
  readonly least: number
}

/**
 * Returns the similarity above which a worker does no harm to unrelated questions: the lowest threshold at which its
 * total score on them is not below that of the best overall worker.
 */
const safeLikeness = ({ fromOtherKinds }: Cell, least: number, gainOf: (index: number) => number): number => {
  const near = fromOtherKinds.filter(({ likeness }) => likeness >= least)
  let total = 0
  const sums = near.map(({ index }) => {
    const gain = gainOf(index)
    if (!Number.isNaN(gain)) total += gain
    return total
  })
  const harmless = sums.findLastIndex((sum) => sum >= 0) + 1
  return harmless === near.length ? least : near[harmless]!.likeness + 1e-6
}

/** Returns the best choice for a kind, regardless of price. */
export const bestAt = (
  { differences, reference }: Evidence,
  cell: Cell,
  least: number,
  estimates: ReadonlyArray<Estimate>
): Safe => {
  const better = estimates
    .filter(
      ({ advantage, expected, questions, standardError }) =>
        questions >= leastLanded && expected > 0 && advantage > leastErrors * standardError
    )
    .sort((left, right) => right.expected - left.expected)
  for (const { worker } of better) {
    const safe = safeLikeness(cell, least, (index) => differences.pair(worker, index))
    const left = cell.own.filter((likeness) => likeness >= safe).length
    if (left >= leastShare * cell.own.length) return { worker, least: safe }
  }
  return { worker: reference, least }
}

/**
 * Returns the cheapest worker whose advantage, minus one standard error, is at least that of the chosen worker minus the
 * tolerance. Returns the chosen worker if there is none.
 */
export const cheapestWithin = (estimates: ReadonlyArray<Estimate>, choice: number): number => {
  const { advantage: wanted, cost: most } = estimates[choice]!
  const [cheapest] = estimates
    .filter(
      ({ advantage, cost, questions, standardError }) =>
        cost < most && questions >= leastLanded && advantage - standardError >= wanted - tolerance
    )
    .sort((left, right) => left.cost - right.cost)
  return cheapest?.worker ?? choice
}

/** Returns the best worker that costs at most half as much as the reference, or the reference if there is none. */
export const bestWithinHalf = (estimates: ReadonlyArray<Estimate>, reference: number): number => {
  const most = estimates[reference]!.cost / 2
  const [best] = estimates
    .filter(({ cost, mean }) => cost <= most && !Number.isNaN(mean))
    .sort((left, right) => right.expected - left.expected)
  return best?.worker ?? reference
}

/**
 * Returns the worker with the highest expected score minus cost, at `price` score points per USD. Returns the reference
 * if no worker has data.
 */
export const bestFor = (estimates: ReadonlyArray<Estimate>, price: number, reference: number): number => {
  const worth = ({ cost, expected }: Estimate) => expected - (price === 0 || Number.isNaN(cost) ? 0 : price * cost)
  const known = estimates.filter(({ mean }) => !Number.isNaN(mean))
  return known.length === 0 ? reference : known.reduce((best, one) => (worth(one) > worth(best) ? one : best)).worker
}

/** A kind's estimates, weighted by the number of questions that land in it. */
export interface Weighed {
  readonly estimates: ReadonlyArray<Estimate>
  readonly questions: number
}

/**
 * Returns the lowest price, in score per USD, at which all questions together cost at most half as much as with the
 * reference alone.
 */
export const halfPrice = (kinds: ReadonlyArray<Weighed>, reference: number): number => {
  const asked = kinds.filter(({ questions }) => questions > 0)
  const costOf = (choose: (estimates: ReadonlyArray<Estimate>) => number) =>
    asked.reduce((sum, { estimates, questions }) => sum + questions * (estimates[choose(estimates)]!.cost || 0), 0)
  const allowed = costOf(() => reference) / 2
  const isWithin = (price: number) => costOf((estimates) => bestFor(estimates, price, reference)) <= allowed
  if (allowed === 0 || isWithin(0)) return 0
  let [low, high] = [0, 1]
  while (!isWithin(high) && high < 2 ** 60) high *= 2
  for (let round = 0; round < 60; round++) {
    const middle = (low + high) / 2
    if (isWithin(middle)) high = middle
    else low = middle
  }
  return high
}

/** Chooses the worker for a kind, from the estimates of all workers there. */
import type { Cell } from "./landings.ts"
import * as Scores from "./scores.ts"

// -------------------------------------------------------------------------------------------------------------------
// How careful it is
// -------------------------------------------------------------------------------------------------------------------

/** If fewer questions land at a kind, only the best overall worker is called there. */
const leastLanded = 8
/** By so many standard errors a worker has to be better. */
const leastErrors = 1.5
/** The share of a kind's own questions that are less like it than is asked for. */
const strangest = 0.1
/** How many questions the advantage over all questions weighs as much as, in what is expected at a kind. */
const priorQuestions = 20
/** The share of questions that are expected to land where they do not belong, at least. */
const leastDoubt = 0.1
/** If a smaller share of a kind's own questions is left, the kind is ignored. */
const leastShare = 0.3
/** By how much a cheaper choice may be worse. */
const tolerance = 0.02

// -------------------------------------------------------------------------------------------------------------------
// Estimates
// -------------------------------------------------------------------------------------------------------------------

/** The estimate of a worker over some questions; `NaN` if there is no data. */
export interface Estimate {
  readonly worker: number
  /** Questions that the advantage rests on. */
  readonly questions: number
  /** Over the reference, the best worker of all. */
  readonly advantage: number
  readonly standardError: number
  /** The expected advantage for the next question that lands there. */
  readonly expected: number
  readonly cost: number
  readonly mean: number
  readonly answered: number
}

/** The evidence shared by all kinds. */
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

/** At most 0: a good result elsewhere is not a reason to call a worker here. */
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
 * Estimates every worker over some questions, or over all. `doubt` is the share of questions that may not belong there.
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

/** Estimates in which some have to have answered enough to count, and others do not count at all. */
export const counting = (
  estimates: ReadonlyArray<Estimate>,
  isOut: (estimate: Estimate, leastAnswered: number) => boolean
): ReadonlyArray<Estimate> =>
  estimates.map((one) => (isOut(one, leastLanded) ? { ...one, questions: 0, mean: Number.NaN } : one))

// -------------------------------------------------------------------------------------------------------------------
// Choices
// -------------------------------------------------------------------------------------------------------------------

/** Returns the minimum likeness for a question to count as one of a kind. */
export const leastLikeness = ({ own }: Cell): number => own[Math.floor(strangest * own.length)] ?? 1

/**
 * Returns the share of questions that may land at a kind, near enough to count, without belonging there. It is
 * estimated by removing the kinds of all other questions, and counting those that then land here.
 */
export const doubtAt = ({ landed, strangers }: Cell, least: number): number => {
  const near = (landings: Cell["landed"]) => landings.filter(({ likeness }) => likeness >= least).length
  const [own, others] = [near(landed), near(strangers)]
  return Math.max(leastDoubt, others / Math.max(1, own + others))
}

/** A choice, and how like the kind a question must be for it. */
export interface Safe {
  readonly worker: number
  readonly least: number
}

/**
 * Returns the likeness to the kind from which a worker does no harm to unrelated questions: the lowest one down to
 * which, in total, it was not worse on them than the best worker.
 */
const safeLikeness = ({ strangers }: Cell, least: number, gainOf: (index: number) => number): number => {
  const near = strangers.filter(({ likeness }) => likeness >= least)
  let total = 0
  const sums = near.map(({ index }) => {
    const gain = gainOf(index)
    if (!Number.isNaN(gain)) total += gain
    return total
  })
  const harmless = sums.findLastIndex((sum) => sum >= 0) + 1
  return harmless === near.length ? least : near[harmless]!.likeness + 1e-6
}

/** Returns the chosen worker at a kind, regardless of price. */
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

/** The cheapest worker that is surely within the tolerance of a choice. */
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

/** The best worker overall of those that cost at most half of what the reference does; the reference without any. */
export const bestWithinHalf = (estimates: ReadonlyArray<Estimate>, reference: number): number => {
  const most = estimates[reference]!.cost / 2
  const [best] = estimates
    .filter(({ cost, mean }) => cost <= most && !Number.isNaN(mean))
    .sort((left, right) => right.expected - left.expected)
  return best?.worker ?? reference
}

/**
 * The worker whose answers are worth most, less what they cost at a price of a dollar; the reference where none is
 * known.
 */
export const bestFor = (estimates: ReadonlyArray<Estimate>, price: number, reference: number): number => {
  const worth = ({ cost, expected }: Estimate) => expected - (price === 0 || Number.isNaN(cost) ? 0 : price * cost)
  const known = estimates.filter(({ mean }) => !Number.isNaN(mean))
  return known.length === 0 ? reference : known.reduce((best, one) => (worth(one) > worth(best) ? one : best)).worker
}

/** A kind with how many questions land there. */
export interface Weighed {
  readonly estimates: ReadonlyArray<Estimate>
  readonly questions: number
}

/**
 * How much score a dollar has to be worth for all questions to cost half of what they cost with the reference alone.
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

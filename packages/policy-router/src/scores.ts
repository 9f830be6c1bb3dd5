/** Scores of workers over questions, and the differences between workers. */
import type { Example } from "./Outcomes.ts"
import { argmax } from "./vectors.ts"

/** Scores and costs, indexed by worker and question. `NaN` marks missing values. */
export interface Scores {
  readonly workers: ReadonlyArray<string>
  readonly score: ReadonlyArray<Float64Array>
  readonly cost: ReadonlyArray<Float64Array>
}

/** The mean difference between two workers on a set of questions. */
export interface Difference {
  /** Number of questions behind the difference. */
  readonly questions: number
  readonly mean: number
  readonly standardError: number
}

/** Collects the scores and costs of examples by worker. */
export const of = (examples: ReadonlyArray<Example>, workers: ReadonlyArray<string>): Scores => ({
  workers,
  score: workers.map((worker) => Float64Array.from(examples, ({ scores }) => scores.get(worker) ?? Number.NaN)),
  cost: workers.map((worker) => Float64Array.from(examples, ({ costUsd }) => costUsd.get(worker) ?? Number.NaN))
})

/** Count, mean and sum of squares of values. `NaN` values are skipped. */
export interface Sum {
  readonly count: number
  readonly mean: number
  readonly squares: number
}

/** Sums the values at `indices`, or all values if omitted. */
export const sum = (values: Float64Array, indices?: ReadonlyArray<number>): Sum => {
  let [count, total, squares] = [0, 0, 0]
  const add = (value: number) => {
    if (Number.isNaN(value)) return
    count += 1
    total += value
    squares += value * value
  }
  if (indices === undefined) values.forEach(add)
  else for (const index of indices) add(values[index]!)
  return { count, mean: count === 0 ? Number.NaN : total / count, squares }
}

/**
 * Weight of the overall mean in a worker's mean, in answers. It keeps one lucky answer from making a worker the best.
 */
const priorAnswers = 4

/** Returns the index of the best eligible worker by shrunken mean. Ties go to the cheaper worker. */
export const best = ({ cost, score, workers }: Scores, counts: (worker: string) => boolean): number => {
  const sums = score.map((values) => sum(values))
  const answers = sums.reduce((total, { count }) => total + count, 0)
  const overall = sums.reduce((total, { count, mean }) => total + (count === 0 ? 0 : count * mean), 0) / answers
  const drawn = sums.map(({ count, mean }, worker) =>
    count === 0 || !counts(workers[worker]!)
      ? Number.NEGATIVE_INFINITY
      : (count * mean + priorAnswers * overall) / (count + priorAnswers)
  )
  const highest = Math.max(...drawn)
  return argmax(drawn.map((value, at) => (value === highest ? -finiteCost(cost[at]!) : Number.NEGATIVE_INFINITY)))
}

const finiteCost = (values: Float64Array): number => {
  const { count, mean } = sum(values)
  return count === 0 ? Number.MAX_VALUE : mean
}

/** Minimum number of questions answered by both workers. With fewer, their means over all answers are compared. */
const leastPairs = 5

/** Weight of the overall variance in a variance that is estimated from few questions, in questions. */
const priorQuestions = 10

const variance = ({ count, mean, squares }: Sum): number =>
  count < 2 ? Number.NaN : Math.max(0, (squares - count * mean * mean) / (count - 1))

/** Returns the variance of few values, shrunk towards a prior variance. */
const drawnVariance = (few: Sum, prior: number): number =>
  (few.squares - few.count * few.mean * few.mean + priorQuestions * prior) / Math.max(1, few.count - 1 + priorQuestions)

/** Returns functions that compare each worker with the reference on any set of questions. */
export const differences = ({ score }: Scores, reference: number) => {
  const base = score[reference]!
  const pairs = score.map((values) => values.map((value, at) => value - base[at]!))
  const overall = pairs.map((values) => sum(values))
  const alone = score.map((values) => sum(values))
  const priors = overall.map((all, worker) => variance(all) || variance(alone[worker]!) || 0.25)
  const unpaired = (worker: number, indices?: ReadonlyArray<number>): Difference => {
    const [one, other] = [sum(score[worker]!, indices), sum(base, indices)]
    if (one.count === 0 || other.count === 0) return { questions: 0, mean: 0, standardError: Number.POSITIVE_INFINITY }
    const spread = (few: Sum, at: number) => drawnVariance(few, variance(alone[at]!) || 0.25) / few.count
    return {
      questions: 1 / (1 / one.count + 1 / other.count),
      mean: one.mean - other.mean,
      standardError: Math.sqrt(spread(one, worker) + spread(other, reference))
    }
  }
  const at = (worker: number, indices?: ReadonlyArray<number>): Difference => {
    const few = indices === undefined ? overall[worker]! : sum(pairs[worker]!, indices)
    if (few.count < leastPairs && overall[worker]!.count < leastPairs * 4) return unpaired(worker, indices)
    if (few.count === 0) return { questions: 0, mean: 0, standardError: Number.POSITIVE_INFINITY }
    const standardError = Math.sqrt(drawnVariance(few, priors[worker]!) / few.count)
    return { questions: few.count, mean: few.mean, standardError }
  }
  /** Returns the mean difference over all questions except those at `indices`. */
  const elsewhere = (worker: number, indices: ReadonlyArray<number>): number => {
    const [all, few] = [overall[worker]!, sum(pairs[worker]!, indices)]
    const rest = all.count - few.count
    if (rest <= 0 || all.count === 0) return at(worker).mean
    return (all.count * all.mean - (few.count === 0 ? 0 : few.count * few.mean)) / rest
  }
  return { at, elsewhere, pair: (worker: number, index: number) => pairs[worker]![index]! }
}

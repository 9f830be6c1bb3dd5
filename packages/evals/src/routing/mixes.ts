/**
 * Computes the best score at a given cost without reading the question: random mixes of fixed workers, chosen on the
 * training questions. A router is worth its price if it beats the mix with the same cost.
 */
import { mean } from "../statistics/Statistics.ts"
import type { Question } from "./Contender.ts"

/** A fixed worker with its mean cost and score. */
interface HullPoint {
  readonly worker: string
  readonly cost: number
  readonly score: number
}

/** The workers used in mixes on the questions of one split, from the cheapest to the most expensive. */
export interface ConvexHull {
  readonly points: ReadonlyArray<HullPoint>
  /** Number of questions measured. */
  readonly questions: number
}

/** The share of questions assigned to a worker. */
interface Share {
  readonly point: HullPoint
  readonly weight: number
}

const pointsOf = (questions: ReadonlyArray<Question>, workers: ReadonlyArray<string>): ReadonlyArray<HullPoint> =>
  workers
    .map((worker) => ({
      worker,
      cost: mean(questions.map(({ costUsd }) => costUsd.get(worker) ?? Number.NaN)),
      score: mean(questions.map(({ scores }) => scores.get(worker)!))
    }))
    .sort((left, right) => left.cost - right.cost || right.score - left.score)

/** Returns the points that no mix of other points beats at the same cost. */
const hullOf = (points: ReadonlyArray<HullPoint>): ReadonlyArray<HullPoint> => {
  const kept: Array<HullPoint> = []
  const gainOf = (from: HullPoint, to: HullPoint) => (to.score - from.score) / (to.cost - from.cost)
  for (const point of points) {
    if (kept.length > 0 && point.score <= kept.at(-1)!.score) continue
    while (kept.length > 1 && gainOf(kept.at(-2)!, kept.at(-1)!) <= gainOf(kept.at(-1)!, point)) kept.pop()
    // A better point with equal cost replaces the previous one.
    if (kept.at(-1)?.cost === point.cost) kept.pop()
    kept.push(point)
  }
  return kept
}

/**
 * Returns the mixes that are efficient on the training questions, evaluated on other questions; `undefined` if prices
 * are unknown.
 */
export const convexHull = (
  training: ReadonlyArray<Question>,
  test: ReadonlyArray<Question>,
  workers: ReadonlyArray<string>
): ConvexHull | undefined => {
  const known = pointsOf(training, workers)
  if (known.some(({ cost }) => Number.isNaN(cost))) return undefined
  const chosen = hullOf(known).map(({ worker }) => worker)
  const points = pointsOf(test, chosen)
  return points.some(({ cost }) => Number.isNaN(cost)) ? undefined : { points, questions: test.length }
}

/** Returns the mix with the given cost; the cheapest or most expensive worker if the cost is out of range. */
const sharesAt = ({ points }: ConvexHull, cost: number): ReadonlyArray<Share> => {
  const above = points.findIndex((point) => point.cost > cost)
  if (above <= 0) return [{ point: above === 0 ? points[0]! : points.at(-1)!, weight: 1 }]
  const [low, high] = [points[above - 1]!, points[above]!]
  const weight = (cost - low.cost) / (high.cost - low.cost)
  return [
    { point: low, weight: 1 - weight },
    { point: high, weight }
  ]
}

/** Returns the score of the mix with this cost for each question. */
export const mixedAt = (hull: ConvexHull, cost: number): ((question: Question) => number) => {
  const shares = sharesAt(hull, cost)
  return ({ scores }) => shares.reduce((sum, { point, weight }) => sum + weight * scores.get(point.worker)!, 0)
}

/** Returns the cost and score of the mixes over all splits at a maximum cost. */
const bought = (hulls: ReadonlyArray<ConvexHull>, cost: number) => {
  const questions = hulls.reduce((sum, one) => sum + one.questions, 0)
  const meanOf = (field: "cost" | "score") =>
    hulls.reduce(
      (sum, one) =>
        sum + one.questions * sharesAt(one, cost).reduce((part, { point, weight }) => part + weight * point[field], 0),
      0
    ) / questions
  return { cost: meanOf("cost"), score: meanOf("score") }
}

/** Tolerance for differences between means of the same scores in different order. */
const rounding = 1e-9

/** Returns the cost of the cheapest mix with this score; `undefined` if no mix reaches it. */
export const costOf = (hulls: ReadonlyArray<ConvexHull>, score: number): number | undefined => {
  // The function is linear between these points.
  const bends = hulls.flatMap(({ points }) => points.map(({ cost }) => cost)).sort((left, right) => left - right)
  let before: ReturnType<typeof bought> | undefined
  for (const bend of bends) {
    const here = bought(hulls, bend)
    if (here.score >= score - rounding) {
      if (before === undefined || here.score === before.score) return here.cost
      return before.cost + ((here.cost - before.cost) * (score - before.score)) / (here.score - before.score)
    }
    before = here
  }
  return undefined
}

/**
 * The best score for a given cost without reading the question: random mixes of fixed workers, chosen on the training
 * questions. A router is worth its price if it beats the mix of equal cost.
 */
import { mean } from "../statistics/Statistics.ts"
import type { Question } from "./Contender.ts"

/** A fixed worker, by what it cost and came to. */
interface Rung {
  readonly worker: string
  readonly cost: number
  readonly score: number
}

/** The workers of a mix on the questions of one split, from the cheapest to the dearest. */
export interface Ladder {
  readonly rungs: ReadonlyArray<Rung>
  /** The number of questions it was measured on. */
  readonly questions: number
}

/** A share of the questions that goes to a worker. */
interface Share {
  readonly rung: Rung
  readonly weight: number
}

const rungsOf = (questions: ReadonlyArray<Question>, workers: ReadonlyArray<string>): ReadonlyArray<Rung> =>
  workers
    .map((worker) => ({
      worker,
      cost: mean(questions.map(({ costUsd }) => costUsd.get(worker) ?? Number.NaN)),
      score: mean(questions.map(({ scores }) => scores.get(worker)!))
    }))
    .sort((left, right) => left.cost - right.cost || right.score - left.score)

/** Returns the rungs that no mix of other rungs beats at the same cost. */
const worthwhile = (rungs: ReadonlyArray<Rung>): ReadonlyArray<Rung> => {
  const kept: Array<Rung> = []
  const gainOf = (from: Rung, to: Rung) => (to.score - from.score) / (to.cost - from.cost)
  for (const rung of rungs) {
    if (kept.length > 0 && rung.score <= kept.at(-1)!.score) continue
    while (kept.length > 1 && gainOf(kept.at(-2)!, kept.at(-1)!) <= gainOf(kept.at(-1)!, rung)) kept.pop()
    // A better rung of equal cost replaces the previous one.
    if (kept.at(-1)?.cost === rung.cost) kept.pop()
    kept.push(rung)
  }
  return kept
}

/** The mixes that are worth their price on the questions learned from, as they are on others; `undefined` without prices. */
export const ladder = (
  training: ReadonlyArray<Question>,
  test: ReadonlyArray<Question>,
  workers: ReadonlyArray<string>
): Ladder | undefined => {
  const known = rungsOf(training, workers)
  if (known.some(({ cost }) => Number.isNaN(cost))) return undefined
  const chosen = worthwhile(known).map(({ worker }) => worker)
  const rungs = rungsOf(test, chosen)
  return rungs.some(({ cost }) => Number.isNaN(cost)) ? undefined : { rungs, questions: test.length }
}

/** The mix that costs so much; the cheapest or the dearest worker where none does. */
const sharesAt = ({ rungs }: Ladder, cost: number): ReadonlyArray<Share> => {
  const above = rungs.findIndex((rung) => rung.cost > cost)
  if (above <= 0) return [{ rung: above === 0 ? rungs[0]! : rungs.at(-1)!, weight: 1 }]
  const [low, high] = [rungs[above - 1]!, rungs[above]!]
  const weight = (cost - low.cost) / (high.cost - low.cost)
  return [
    { rung: low, weight: 1 - weight },
    { rung: high, weight }
  ]
}

/** Returns the score of the mix of this cost, for each question. */
export const mixedAt = (ladder: Ladder, cost: number): ((question: Question) => number) => {
  const shares = sharesAt(ladder, cost)
  return ({ scores }) => shares.reduce((sum, { rung, weight }) => sum + weight * scores.get(rung.worker)!, 0)
}

/** Returns the cost and score of the mixes of all splits at a maximum cost. */
const bought = (ladders: ReadonlyArray<Ladder>, cost: number) => {
  const questions = ladders.reduce((sum, one) => sum + one.questions, 0)
  const meanOf = (field: "cost" | "score") =>
    ladders.reduce(
      (sum, one) =>
        sum + one.questions * sharesAt(one, cost).reduce((part, { rung, weight }) => part + weight * rung[field], 0),
      0
    ) / questions
  return { cost: meanOf("cost"), score: meanOf("score") }
}

/** Means of the same scores in another order differ by so little. */
const rounding = 1e-9

/** Returns the cost of the cheapest mix with this score, or `undefined` if no mix reaches it. */
export const costOf = (ladders: ReadonlyArray<Ladder>, score: number): number | undefined => {
  // Between two of these nothing bends.
  const bends = ladders.flatMap(({ rungs }) => rungs.map(({ cost }) => cost)).sort((left, right) => left - right)
  let before: ReturnType<typeof bought> | undefined
  for (const bend of bends) {
    const here = bought(ladders, bend)
    if (here.score >= score - rounding) {
      if (before === undefined || here.score === before.score) return here.cost
      return before.cost + ((here.cost - before.cost) * (score - before.score)) / (here.score - before.score)
    }
    before = here
  }
  return undefined
}

/**
 * Contenders that call a second worker if a check fails or two workers disagree. They use the workers that scored best
 * on the training questions at no more than the cost of the best single worker.
 */

import * as Effect from "effect/Effect"
import { voteOf } from "./answers.ts"
import { ask, type Contender, type Play, type Played, type Question, type Training } from "./Contender.ts"

const meanOf = (questions: ReadonlyArray<Question>, play: Play): Played => {
  let [score, costUsd] = [0, 0]
  for (const question of questions) {
    const played = play(question)
    score += played.score / questions.length
    costUsd += played.costUsd / questions.length
  }
  return { score, costUsd }
}

/**
 * Returns the best of several strategies that cost no more than the best single worker, or that worker if no strategy
 * qualifies.
 */
const bestWithin = ({ best, questions }: Training, ways: ReadonlyArray<Play>): Play => {
  const alone: Play = (question) => ask(question, best)
  const limit = meanOf(questions, alone)
  let chosen = { play: alone, score: limit.score }
  for (const play of ways) {
    const { costUsd, score } = meanOf(questions, play)
    const isAllowed = costUsd <= limit.costUsd || (Number.isNaN(costUsd) && Number.isNaN(limit.costUsd))
    if (isAllowed && score > chosen.score) chosen = { play, score }
  }
  return chosen.play
}

/** Minimum score of an answer that a check should accept. */
const right = 0.5

/**
 * Returns the expected outcome of asking one worker, and another if the check fails. The check is wrong in a given
 * share of cases.
 */
const checkedPlay =
  (first: string, then: string, wrong: number): Play =>
  (question) => {
    const [one, other] = [ask(question, first), ask(question, then)]
    const failed = one.score >= right ? wrong : 1 - wrong
    return { score: (1 - failed) * one.score + failed * other.score, costUsd: one.costUsd + failed * other.costUsd }
  }

const pairs = (workers: ReadonlyArray<string>): ReadonlyArray<readonly [string, string]> =>
  workers.flatMap((first) => workers.flatMap((then) => (then === first ? [] : [[first, then] as const])))

/** The strategy `checked(first, then, check)` with a check that is wrong in a given share of cases, from 0 to 1. */
const checked = (wrong: number): Contender => ({
  name: wrong === 0 ? "checked" : `checked-${Math.round(100 * wrong)}`,
  fit: (training) =>
    Effect.sync(() =>
      bestWithin(
        training,
        pairs(training.workers).map(([first, then]) => checkedPlay(first, then, wrong))
      )
    )
})

/**
 * Asks three workers in sequence, each one if the check of the previous answer fails, like a policy that re-plans
 * twice. If all checks fail, the last answer is used.
 */
const revisedPlay =
  (first: string, then: string, last: string, wrong: number): Play =>
  (question) => {
    const [one, other, third] = [ask(question, first), ask(question, then), ask(question, last)]
    const failing = (score: number) => (score >= right ? wrong : 1 - wrong)
    const [again, thrice] = [failing(one.score), failing(one.score) * failing(other.score)]
    return {
      score: (1 - again) * one.score + (again - thrice) * other.score + thrice * third.score,
      costUsd: one.costUsd + again * other.costUsd + thrice * third.costUsd
    }
  }

/** Returns the workers with the best scores on the training questions, from which combinations are formed. */
const bestOf = ({ questions, workers }: Training): ReadonlyArray<string> =>
  workers
    .map((worker) => ({ worker, ...meanOf(questions, (question) => ask(question, worker)) }))
    .sort((left, right) => right.score - left.score)
    .slice(0, mostInThrees)
    .map(({ worker }) => worker)

/**
 * Re-plans twice with a check that is wrong in a given share of cases, from 0 to 1. The strategies of `checked` are
 * among its options.
 */
const revised = (wrong: number): Contender => ({
  name: wrong === 0 ? "revised" : `revised-${Math.round(100 * wrong)}`,
  fit: (training) =>
    Effect.sync(() => {
      const ranked = bestOf(training)
      return bestWithin(training, [
        ...pairs(training.workers).map(([first, then]) => checkedPlay(first, then, wrong)),
        ...pairs(ranked).flatMap(([then, last]) =>
          training.workers
            .filter((first) => first !== then && first !== last)
            .map((first) => revisedPlay(first, then, last, wrong))
        )
      ])
    })
})

/** Compares the answers of two workers, and asks a third one if they differ. */
const agreedPlay =
  (a: string, b: string, otherwise: string): Play =>
  (question) => {
    const [one, other] = [ask(question, a), ask(question, b)]
    const costUsd = one.costUsd + other.costUsd
    if (voteOf(question, a) === voteOf(question, b)) return { score: one.score, costUsd }
    const third = ask(question, otherwise)
    return { score: third.score, costUsd: costUsd + third.costUsd }
  }

/** Maximum number of workers that are combined in groups of three: the best ones on the training questions. */
const mostInThrees = 6

/** The strategy `agreed(a, b, otherwise)`, which requires recorded answers. */
const agreed: Contender = {
  name: "agreed",
  fit: (training) =>
    Effect.sync(() => {
      const ranked = bestOf(training)
      return bestWithin(
        training,
        pairs(ranked)
          .filter(([a, b]) => a < b)
          .flatMap(([a, b]) =>
            ranked.filter((third) => third !== a && third !== b).map((third) => agreedPlay(a, b, third))
          )
      )
    })
}

/** Returns the contenders that can be evaluated on these questions; agreement requires recorded answers. */
export const escalations = (questions: ReadonlyArray<Question>): ReadonlyArray<Contender> => [
  ...[0, 0.1, 0.3].map(checked),
  ...[0, 0.1, 0.3].map(revised),
  ...(questions.every(({ answers }) => answers.size > 0) ? [agreed] : [])
]

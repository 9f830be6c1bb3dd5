/**
 * Calls a second worker on evidence: if a check fails, or if two disagree. The workers are those that were best on the
 * training questions at no more than the cost of the best single one.
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

/** The best of several ways to play at no more than the cost of the best worker alone; that worker where none is. */
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

/** Answers scored so count as right for a check. */
const right = 0.5

/** One worker, and another where a check that is wrong in a share of cases fails it: what is to be expected of it. */
const checkedPlay =
  (first: string, then: string, wrong: number): Play =>
  (question) => {
    const [one, other] = [ask(question, first), ask(question, then)]
    const failed = one.score >= right ? wrong : 1 - wrong
    return { score: (1 - failed) * one.score + failed * other.score, costUsd: one.costUsd + failed * other.costUsd }
  }

const pairs = (workers: ReadonlyArray<string>): ReadonlyArray<readonly [string, string]> =>
  workers.flatMap((first) => workers.flatMap((then) => (then === first ? [] : [[first, then] as const])))

/** `checked(first, then, check)` with a check that is wrong in a share of cases, from 0 to 1. */
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
 * Three workers in sequence, each called if a check fails the one before: a policy that re-plans twice. If all fail,
 * the last answer is used.
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

/** The best workers on the training questions: those of a three, but for the first of a row. */
const bestOf = ({ questions, workers }: Training): ReadonlyArray<string> =>
  workers
    .map((worker) => ({ worker, ...meanOf(questions, (question) => ask(question, worker)) }))
    .sort((left, right) => right.score - left.score)
    .slice(0, mostInThrees)
    .map(({ worker }) => worker)

/** Re-planning twice with a check that is wrong in a share of cases, from 0 to 1. `checked` is among its options. */
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

/** Two workers whose answers are compared, and a third if they differ. */
const agreedPlay =
  (a: string, b: string, otherwise: string): Play =>
  (question) => {
    const [one, other] = [ask(question, a), ask(question, b)]
    const costUsd = one.costUsd + other.costUsd
    if (voteOf(question, a) === voteOf(question, b)) return { score: one.score, costUsd }
    const third = ask(question, otherwise)
    return { score: third.score, costUsd: costUsd + third.costUsd }
  }

/** At most so many workers are combined in threes: the best on the training questions. */
const mostInThrees = 6

/** `agreed(a, b, otherwise)`, where answers were recorded. */
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

/** Those that can be played on these questions: agreement needs recorded answers. */
export const escalations = (questions: ReadonlyArray<Question>): ReadonlyArray<Contender> => [
  ...[0, 0.1, 0.3].map(checked),
  ...[0, 0.1, 0.3].map(revised),
  ...(questions.every(({ answers }) => answers.size > 0) ? [agreed] : [])
]

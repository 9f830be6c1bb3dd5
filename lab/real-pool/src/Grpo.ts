/**
 * GRPO over recorded outcomes. All workers' outcomes are recorded, so a group has each worker once, weighted by its
 * probability, instead of samples.
 */

import { Advantage } from "@divisi/trainer"
import type { Known } from "./Folds.ts"
import { usdOf, workers } from "./Policies.ts"
import type { Question } from "./Questions.ts"

/** A question with the advantage of each worker. */
export interface Group {
  readonly question: Question
  readonly advantages_G: ReadonlyArray<number>
}

/** The groups of the questions that some worker answers correctly. */
export const groupsOf = (known: Known): ReadonlyArray<Group> =>
  known.flatMap(([question, answers]) => {
    const records = workers.map((name) => answers.get(name)!)
    if (!records.some(({ correct }) => correct)) return []
    // Equal scores are decided by the price, which never outweighs a score.
    const highest = Math.max(...records.map(usdOf))
    const rewards = records.map((record) => Number(record.correct) - (0.1 * usdOf(record)) / highest)
    return [{ question, ...Advantage.ofGroup(rewards, { baseline: "group", divideByStd: true }) }]
  })

/** The gradient of the expected advantage by the logit of each choice, given the probabilities of the choices. */
export const slopesOf = (probabilities: ReadonlyArray<number>, advantages_G: ReadonlyArray<number>) => {
  const expected = probabilities.reduce((sum, share, at) => sum + share * advantages_G[at]!, 0)
  return probabilities.map((share, at) => share * (advantages_G[at]! - expected))
}

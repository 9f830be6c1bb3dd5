/** What a policy has done over a number of tasks, counted as they end. */
import type { RunResult } from "@divisi/core/Conductor"

/** Sums over the tasks that have ended. */
export interface Tally {
  readonly tasks: number
  readonly correct: number
  /** Runs that ended without an answer; they count as wrong. */
  readonly unanswered: number
  readonly costUsd: number
  /** Calls whose price is unknown, and so are missing from the cost. */
  readonly unpricedCalls: number
  readonly steps: number
}

/** The figures that are reported. */
export interface Report {
  readonly policy: string
  /** The share of tasks that were answered correctly, 0 to 1. */
  readonly accuracy: number
  /** Of the accuracy, as an estimate for all tasks like these. */
  readonly standardError: number
  /** USD, over all tasks. */
  readonly costUsd: number
  /** Steps of the plans, over all rounds, for each task. */
  readonly meanSteps: number
  readonly tasks: number
}

/** Nothing done yet. */
export const empty: Tally = { tasks: 0, correct: 0, unanswered: 0, costUsd: 0, unpricedCalls: 0, steps: 0 }

/** Adds a run with its verdict. */
export const add = (tally: Tally, result: RunResult, isCorrect: boolean): Tally => ({
  tasks: tally.tasks + 1,
  correct: tally.correct + (isCorrect ? 1 : 0),
  unanswered: tally.unanswered + (result.answer === undefined ? 1 : 0),
  costUsd: tally.costUsd + result.spend.costUsd,
  unpricedCalls: tally.unpricedCalls + result.spend.unpricedCalls,
  steps: tally.steps + result.rounds.reduce((steps, round) => steps + round.workflow.steps.length, 0)
})

/** The figures of a tally. The standard error is that of a mean of zeros and ones; 0 where one task says nothing. */
export const report = (policy: string, { correct, costUsd, steps, tasks }: Tally): Report => {
  const accuracy = tasks === 0 ? 0 : correct / tasks
  return {
    policy,
    accuracy,
    standardError: tasks < 2 ? 0 : Math.sqrt((accuracy * (1 - accuracy)) / (tasks - 1)),
    costUsd,
    meanSteps: tasks === 0 ? 0 : steps / tasks,
    tasks
  }
}

/** Computes summary figures for a policy on gym tasks, from the samples of an evaluation. */
import { Statistics } from "@divisi/evals"
import type { Sample } from "@divisi/evals/Report"

/** Summary figures for one policy. */
export interface Figures {
  readonly policy: string
  /**
   * Fraction of measured tasks answered correctly, from 0 to 1; `null` if no task was measured. Runs without an answer
   * count as wrong.
   */
  readonly accuracy: number | null
  /** Standard error of the accuracy, for the population of such tasks. 0 if it cannot be estimated. */
  readonly standardError: number
  /** Total cost of all tasks, in USD. */
  readonly costUsd: number
  /** Whether the cost is in play money. */
  readonly isPlay: boolean
  /** Mean number of steps per task, over all rounds. */
  readonly meanSteps: number
  readonly tasks: number
  /** Number of tasks lost to outages, such as an unavailable vendor. They are excluded from all means. */
  readonly notMeasured: number
  /** Number of lost tasks by reason. */
  readonly notMeasuredBy: Readonly<Record<string, number>>
}

/** Limitations of the figures. */
export interface Gaps {
  readonly unanswered: number
  /** Number of calls with an unknown price, which are not included in the cost. */
  readonly unpricedCalls: number
}

const mean = (values: ReadonlyArray<number>): number => (values.length === 0 ? 0 : Statistics.mean(values))

/** Computes the figures from a policy's samples. */
export const of = (policy: string, samples: ReadonlyArray<Sample>, isPlay: boolean): Figures => {
  const measured = samples.filter(({ missing }) => missing === undefined)
  const scores = measured.map(({ correct }) => (correct === true ? 1 : 0))
  const reasons = samples.flatMap(({ missing }) => (missing === undefined ? [] : [missing.reason ?? missing.cause]))
  return {
    policy,
    accuracy: scores.length === 0 ? null : mean(scores),
    standardError: scores.length < 2 ? 0 : Statistics.standardError(scores),
    isPlay,
    costUsd: samples.reduce((sum, { costUsd }) => sum + costUsd, 0),
    meanSteps: mean(samples.map(({ steps }) => steps.length)),
    tasks: samples.length,
    notMeasured: reasons.length,
    notMeasuredBy: Object.fromEntries(
      [...Map.groupBy(reasons, (reason) => reason)].map(([reason, all]) => [reason, all.length])
    )
  }
}

/** Counts unanswered runs and unpriced calls. */
export const gaps = (samples: ReadonlyArray<Sample>): Gaps => ({
  unanswered: samples.filter(({ missing, rung }) => missing === undefined && rung === "no-answer").length,
  unpricedCalls: samples.reduce((sum, { unpricedCalls }) => sum + unpricedCalls, 0)
})

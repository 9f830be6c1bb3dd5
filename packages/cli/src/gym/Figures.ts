/** Figures of a policy over tasks of the gym, from the samples of an evaluation. */
import { Statistics } from "@divisi/evals"
import type { Sample } from "@divisi/evals/Report"

/** The figures that are reported. */
export interface Figures {
  readonly policy: string
  /**
   * The share of measured tasks that were answered correctly, 0 to 1; `null` if none was measured. Runs without an answer
   * count as wrong.
   */
  readonly accuracy: number | null
  /** The standard error of the accuracy, for the population of such tasks; 0 if it cannot be estimated. */
  readonly standardError: number
  /** The total cost of all tasks in USD. */
  readonly costUsd: number
  /** Whether the cost is play money. */
  readonly isPlay: boolean
  /** The mean number of steps per task, over all rounds. */
  readonly meanSteps: number
  readonly tasks: number
  /** The number of tasks lost to outages, such as an unavailable vendor. They are excluded from means. */
  readonly notMeasured: number
  /** The number of lost tasks by reason. */
  readonly notMeasuredBy: Readonly<Record<string, number>>
}

/** Samples that are missing from the figures, or count as wrong in them. */
export interface Gaps {
  readonly unanswered: number
  /** The number of calls with an unknown price, which the cost does not include. */
  readonly unpricedCalls: number
}

const mean = (values: ReadonlyArray<number>): number => (values.length === 0 ? 0 : Statistics.mean(values))

/** Returns the figures of a policy's samples. */
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

/** Returns the gaps in the figures. */
export const gaps = (samples: ReadonlyArray<Sample>): Gaps => ({
  unanswered: samples.filter(({ missing, rung }) => missing === undefined && rung === "no-answer").length,
  unpricedCalls: samples.reduce((sum, { unpricedCalls }) => sum + unpricedCalls, 0)
})

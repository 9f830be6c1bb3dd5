/** Reads the usage of a round from its record in the transcript. */
import { type Transcript, Workflow } from "@divisi/core"

/** Usage of a round, excluding the policy's calls, which are samples from the engine. */
export interface RoundMeasures {
  /** Worker of each step, after reassignment. */
  readonly workers: ReadonlyArray<string>
  readonly costUsd: number
  readonly calls: number
  readonly failedCalls: number
  readonly cachedCalls: number
  readonly workerTokens: { readonly input: number; readonly output: number }
  /**
   * Duration of the longest chain of steps, and the number of steps in the longest chain if all steps took the same
   * time.
   */
  readonly criticalPathMillis: number
  readonly criticalPathSteps: number
}

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)

/** Returns the duration of the longest chain of steps, given the duration of each step. */
const criticalPath = (workflow: Workflow.Workflow | undefined, lasts: (step: number) => number): number => {
  const ends: Array<number> = []
  for (const step of workflow?.steps.keys() ?? []) {
    const before = Workflow.visible(workflow!, step).map((earlier) => ends[earlier]!)
    ends.push(Math.max(0, ...before) + lasts(step))
  }
  return Math.max(0, ...ends)
}

/** Measures the usage of a round. */
export const measure = (round: Pick<Transcript.RoundRecord, "steps" | "workflow">): RoundMeasures => {
  const { steps, workflow } = round
  const failed = steps.flatMap(({ lost }) => lost)
  const turns = steps.flatMap((step) => step.turns ?? [])
  const paid = [
    ...failed,
    ...turns.map((turn) => turn.paid),
    ...steps.flatMap((step) => (step.paid === undefined ? [] : [step.paid]))
  ]
  return {
    workers: steps.map(({ worker }) => worker),
    costUsd: sum(paid.map(({ costUsd }) => costUsd ?? 0)),
    calls: paid.length,
    failedCalls: failed.length,
    cachedCalls: [...turns, ...steps].filter(({ cached }) => cached === true).length,
    workerTokens: {
      input: sum(paid.map(({ usage }) => usage.inputTokens)),
      output: sum(paid.map(({ usage }) => usage.outputTokens))
    },
    criticalPathMillis: criticalPath(workflow, (step) => steps[step]?.durationMillis ?? 0),
    criticalPathSteps: criticalPath(workflow, () => 1)
  }
}

/** Returns the failure of the last step that failed permanently. */
export const lastFailure = ({ steps }: Pick<Transcript.RoundRecord, "steps">): Transcript.StepRecord | undefined =>
  steps.findLast(({ state }) => state === "failed")

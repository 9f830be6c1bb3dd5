/** What a round of a run took, read from its record in the transcript. */
import type { RoundRecord, StepRecord } from "@divisi/core/Transcript"
import * as Workflow from "@divisi/core/Workflow"

/** What a round took. The policy's own calls are not counted: they are the engine's samples. */
export interface RoundMeasures {
  /** The worker of each step, after reassignment. */
  readonly workers: ReadonlyArray<string>
  readonly costUsd: number
  readonly calls: number
  readonly failedCalls: number
  readonly cachedCalls: number
  readonly workerTokens: { readonly input: number; readonly output: number }
  /** The longest chain of steps. */
  readonly criticalPathMillis: number
}

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)

const criticalPathMillis = ({ steps, workflow }: Pick<RoundRecord, "steps" | "workflow">): number => {
  if (workflow === undefined) return 0
  const ends: Array<number> = []
  workflow.steps.forEach((_, step) => {
    const before = Workflow.visible(workflow, step).map((earlier) => ends[earlier]!)
    ends.push(Math.max(0, ...before) + (steps[step]?.durationMillis ?? 0))
  })
  return Math.max(0, ...ends)
}

/** What a round took. */
export const measure = (round: Pick<RoundRecord, "steps" | "workflow">): RoundMeasures => {
  const { steps } = round
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
    criticalPathMillis: criticalPathMillis(round)
  }
}

/** The last step that failed for good. */
export const lastFailure = ({ steps }: Pick<RoundRecord, "steps">): StepRecord | undefined =>
  steps.findLast(({ state }) => state === "failed")

/** The usage of a run's round, read from its record in the transcript. */
import { type Transcript, Workflow } from "@divisi/core"

/** The usage of a round. The policy's own calls are not counted: they are the engine's samples. */
export interface RoundMeasures {
  /** The worker of each step, after reassignment. */
  readonly workers: ReadonlyArray<string>
  readonly costUsd: number
  readonly calls: number
  readonly failedCalls: number
  readonly cachedCalls: number
  readonly workerTokens: { readonly input: number; readonly output: number }
  /** The longest chain of steps, and how many steps the longest has where all take as long. */
  readonly criticalPathMillis: number
  readonly criticalPathSteps: number
}

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)

/** Returns the duration of the longest chain of steps, given each step's duration. */
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

/** The last step that failed permanently. */
export const lastFailure = ({ steps }: Pick<Transcript.RoundRecord, "steps">): Transcript.StepRecord | undefined =>
  steps.findLast(({ state }) => state === "failed")

/**
 * Compares the size of a step's request with its worker's context window before anything is paid for, if the step sees
 * all items of another step. If the request is too large, the step fails with an error that suggests a remedy, or is
 * reassigned to another worker.
 */
import * as Effect from "effect/Effect"
import type { Plan } from "../../loop/plan.ts"
import type { StepMiddleware } from "../../loop/step.ts"
import { estimateUsage } from "../../task/Usage.ts"
import { WorkerError } from "../../task/Worker.ts"
import { axesOf, isSeen } from "../../workflow/program.ts"

const remedy =
  "lower settings.maxOutputTokens of the step with items, or join the answers in two stages with a list of lists"

/** Returns the steps that see all items of another step. */
const joinsOf = ({ workflow }: Plan): ReadonlySet<number> => {
  const axes = axesOf(workflow)
  const seesAll = (step: number, earlier: number) => axes[earlier]!.some((axis, depth) => axes[step]![depth] !== axis)
  const joins = workflow.steps.flatMap((one, step) =>
    axes.some((_, earlier) => earlier < step && isSeen(one, earlier) && seesAll(step, earlier)) ? [step] : []
  )
  return new Set(joins)
}

export const context = (plan: Plan): StepMiddleware | undefined => {
  const joins = joinsOf(plan)
  if (joins.size === 0) return undefined
  return (next) => (ask, at) => {
    const worker = plan.pool.workers[at.ordinal]
    const contextTokens = worker?.limits?.contextTokens
    if (contextTokens === undefined || !joins.has(ask.step)) return next(ask, at)
    const neededTokens = estimateUsage(at.request.messages, "").inputTokens
    if (neededTokens <= contextTokens) return next(ask, at)
    const detail = `the joined answers do not fit: ${remedy}`
    const reason = { _tag: "ContextTooLong", contextTokens, neededTokens, detail } as const
    return Effect.fail(new WorkerError({ worker: worker!.id, reason }))
  }
}

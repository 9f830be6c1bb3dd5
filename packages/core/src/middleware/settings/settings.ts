/** Applies a step's settings, which override those of the run: reasoning, output tokens, temperature and time limit. */
import type { Plan } from "../../loop/plan.ts"
import type { StepMiddleware } from "../../loop/step.ts"
import type { Worker, WorkerRequest } from "../../task/Worker.ts"
import type { StepSettings } from "../../workflow/Workflow.ts"

/**
 * Returns the request with its step's settings. A setting that the worker does not support is dropped or lowered, with
 * a notice, because the policy that chose it does not know the worker's vendor.
 */
const applied = (
  worker: Worker,
  request: WorkerRequest,
  { maxOutputTokens, reasoning, temperature }: StepSettings
): { readonly request: WorkerRequest; readonly notices: ReadonlyArray<string> } => {
  const notices: Array<string> = []
  const leaveOut = (what: string) => notices.push(`It does not support ${what}, so the step's setting was left out.`)
  const canReason = worker.takesReasoning ?? true
  const takesReasoning = reasoning !== undefined && (canReason === "off" ? reasoning.type === "off" : canReason)
  const takesTemperature = temperature !== undefined && worker.takesTemperature !== false
  if (reasoning !== undefined && !takesReasoning) leaveOut("reasoning settings")
  if (temperature !== undefined && !takesTemperature) leaveOut("a temperature")
  const most = worker.limits?.maxOutputTokens ?? Number.POSITIVE_INFINITY
  if (maxOutputTokens !== undefined && maxOutputTokens > most)
    notices.push(`It writes at most ${most} tokens, so the step's limit of ${maxOutputTokens} was lowered.`)
  const isPreference = takesReasoning || takesTemperature
  return {
    notices,
    request: {
      ...request,
      ...(takesReasoning && { reasoning }),
      ...(takesTemperature && { temperature }),
      ...(maxOutputTokens !== undefined && { maxOutputTokens: Math.min(maxOutputTokens, most) }),
      // A provider that does not support the setting substitutes or drops it, and adds a notice.
      ...(isPreference && { preferences: request.preferences ?? "omit" })
    }
  }
}

export const settings =
  ({ pool, round, workflow }: Plan): StepMiddleware =>
  (next) =>
  (ask, at) => {
    const own = workflow.steps[ask.step]!.settings
    if (own === undefined) return next(ask, at)
    const { running, step } = ask
    const worker = pool.workers[at.ordinal]!
    const { notices, request } = applied(worker, at.request, own)
    for (const notice of notices) running.emit?.({ type: "step-notice", round, step, worker: worker.id, notice })
    return next(ask, { ...at, request, timeoutMillis: own.timeoutMillis })
  }

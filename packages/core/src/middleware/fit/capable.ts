/** Removes content that the worker does not support. Loaded for requests with more than text. */
import * as Effect from "effect/Effect"
import type { Plan } from "../../loop/plan.ts"
import type { StepAsk, StepAt } from "../../loop/step.ts"
import { fit } from "../../run/Capabilities.ts"
import { WorkerError } from "../../task/Worker.ts"

/** Returns the request that is sent. Content omitted from the first request is reported. */
export const adapted = (
  { equipment, pool, round }: Plan,
  { conversation, running, step }: StepAsk,
  at: StepAt
): Effect.Effect<StepAt, WorkerError> => {
  const worker = pool.workers[at.ordinal]!
  const fitted = fit(worker, at.request, equipment.unsupported)
  if (fitted instanceof WorkerError) return Effect.fail(fitted)
  if (conversation.turn === 0) {
    for (const notice of fitted.notices) running.emit?.({ type: "step-notice", round, step, worker: worker.id, notice })
  }
  return Effect.succeed(fitted.request === at.request ? at : { ...at, request: fitted.request })
}

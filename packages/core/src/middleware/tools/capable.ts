/** Removes content that a step's worker does not accept. */
import * as Effect from "effect/Effect"
import type { Plan } from "../../loop/plan.ts"
import type { StepMiddleware } from "../../loop/step.ts"
import { fit } from "../../run/Capabilities.ts"
import { WorkerError } from "../../task/Worker.ts"

/**
 * Returns the request without content that its worker does not accept. Content omitted from the first request is
 * reported.
 */
export const capable =
  ({ equipment, pool, round }: Plan): StepMiddleware =>
  (next) =>
  (ask, at) => {
    const worker = pool.workers[at.ordinal]!
    const fitted = fit(worker, at.request, equipment.unsupported)
    if (fitted instanceof WorkerError) return Effect.fail(fitted)
    if (ask.conversation.turn === 0) {
      const { running, step } = ask
      for (const notice of fitted.notices)
        running.emit?.({ type: "step-notice", round, step, worker: worker.id, notice })
    }
    return next(ask, fitted.request === at.request ? at : { ...at, request: fitted.request })
  }

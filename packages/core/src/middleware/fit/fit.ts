/**
 * Adapts requests to their workers: `capable` removes unsupported content from a step's request, and `fit` applies the
 * worker's instructions and limits to a call.
 */
import * as Effect from "effect/Effect"

import type { CallMiddleware } from "../../loop/call.ts"
import type { Plan } from "../../loop/plan.ts"
import type { StepMiddleware } from "../../loop/step.ts"
import { fit as accepted } from "../../run/Capabilities.ts"
import { type Worker, WorkerError, type WorkerRequest } from "../../task/Worker.ts"
import { outputBound } from "../../task/WorstCase.ts"

const unseeded = ({ seed: _, ...request }: WorkerRequest): WorkerRequest => request

/** Inserts the worker's instructions before all other messages. */
const instructed = (request: WorkerRequest, { instructions }: Worker): WorkerRequest =>
  instructions === undefined
    ? request
    : { ...request, messages: [{ role: "system", content: instructions }, ...request.messages] }

/**
 * Adds the worker's instructions, and drops the seed if the worker does not support seeds. With `isBounded`, sets an
 * output limit, because the worst case of a call would otherwise be unbounded.
 */
export const fit =
  (isBounded: boolean): CallMiddleware =>
  (next) =>
  (ask, at) => {
    const { request, worker } = ask
    const taken = instructed(worker.takesSeed === false ? unseeded(request) : request, worker)
    if (isBounded) return next({ ...ask, request: { ...taken, maxOutputTokens: outputBound(ask) } }, at)
    return next(taken === request ? ask : { ...ask, request: taken }, at)
  }

/**
 * Removes content that the worker does not support from the request. Content omitted from the first request is
 * reported.
 */
export const capable =
  ({ equipment, pool, round }: Plan): StepMiddleware =>
  (next) =>
  (ask, at) => {
    const worker = pool.workers[at.ordinal]!
    const fitted = accepted(worker, at.request, equipment.unsupported)
    if (fitted instanceof WorkerError) return Effect.fail(fitted)
    if (ask.conversation.turn === 0) {
      const { running, step } = ask
      for (const notice of fitted.notices)
        running.emit?.({ type: "step-notice", round, step, worker: worker.id, notice })
    }
    return next(ask, fitted.request === at.request ? at : { ...at, request: fitted.request })
  }

/** Fits requests to their workers: a step's to the content that its worker accepts, a call's to its instructions and limits. */
import * as Effect from "effect/Effect"

import type { CallMiddleware } from "../../loop/call.ts"
import type { Plan } from "../../loop/plan.ts"
import type { StepMiddleware } from "../../loop/step.ts"
import { fit as accepted } from "../../run/Capabilities.ts"
import { type Worker, WorkerError, type WorkerRequest } from "../../task/Worker.ts"
import { outputBound } from "../../task/WorstCase.ts"

const unseeded = ({ seed: _, ...request }: WorkerRequest): WorkerRequest => request

/** Puts the worker's own instructions before all other messages of a request. */
const instructed = (request: WorkerRequest, { instructions }: Worker): WorkerRequest =>
  instructions === undefined
    ? request
    : { ...request, messages: [{ role: "system", content: instructions }, ...request.messages] }

/**
 * Adds the worker's own instructions, drops the seed if the worker does not support seeds, and with `isBounded`, sets
 * an output limit. Without a limit, the worst case of a call would be unbounded.
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
 * Returns the request without content that its worker does not accept. Content omitted from the first request is
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

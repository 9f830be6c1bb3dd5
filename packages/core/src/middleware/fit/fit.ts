/** Fits a request to its worker and to the accounts that it is charged to. */

import type { CallMiddleware } from "../../loop/call.ts"
import type { Worker, WorkerRequest } from "../../task/Worker.ts"
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

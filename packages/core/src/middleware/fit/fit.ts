/** Fits a request to its worker and to the accounts that it is charged to. */

import type { CallMiddleware } from "../../loop/call.ts"
import type { Worker, WorkerRequest } from "../../task/Worker.ts"
import { outputBound } from "../../task/WorstCase.ts"

const unseeded = ({ seed: _, ...request }: WorkerRequest): WorkerRequest => request

/** A request with the worker's own instructions before all other messages. */
const instructed = (request: WorkerRequest, { instructions }: Worker): WorkerRequest =>
  instructions === undefined
    ? request
    : { ...request, messages: [{ role: "system", content: instructions }, ...request.messages] }

/**
 * Adds the worker's own instructions, drops the seed if the worker does not support seeds, and with `isBounded` sets an
 * output limit: a worst case holds only if the worker is held to it.
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

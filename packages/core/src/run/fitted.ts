/** A call as it is made: fitted to its worker and to the accounts that it is charged to. */
import type { Worker, WorkerRequest } from "../task/Worker.ts"
import { outputBound } from "./bounds.ts"
import type { Call, CallContext } from "./WorkerCall.ts"

const unseeded = ({ seed: _, ...request }: WorkerRequest): WorkerRequest => request

/** A request with the worker's own instructions before all other messages. */
const instructed = (request: WorkerRequest, { instructions }: Worker): WorkerRequest =>
  instructions === undefined
    ? request
    : { ...request, messages: [{ role: "system", content: instructions }, ...request.messages] }

/**
 * Fits a call to its worker and its accounts: adds the worker's own instructions, drops the seed if the worker takes none, and sets an output limit if an
 * account is limited, since a worst case holds only if the worker is held to it. With a payer it always sets one, so
 * that the cache key of a call does not depend on the limits.
 */
export const fitted = (call: Call, { ledger, payer }: CallContext): Call => {
  const { request, worker } = call
  const seeded = worker.takesSeed === false ? unseeded(request) : request
  const taken = instructed(seeded, worker)
  if (ledger.isLimited || payer !== undefined) {
    return { ...call, request: { ...taken, maxOutputTokens: outputBound(call) } }
  }
  return taken === request ? call : { ...call, request: taken }
}

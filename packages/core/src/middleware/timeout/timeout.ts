/** Ends a call that exceeds its time limit: that of the step, or else that of the run. */
import * as Effect from "effect/Effect"
import type { CallMiddleware, CallRun } from "../../loop/call.ts"
import { silentFor, timeoutError } from "../../loop/receive.ts"

export const timeout =
  ({ clock }: CallRun, usual: number | undefined): CallMiddleware =>
  (next) =>
  (ask, at) => {
    const { timeoutMillis = usual } = ask
    if (timeoutMillis === undefined) return next(ask, at)
    return Effect.timeoutOrElse(next(ask, at), {
      duration: timeoutMillis,
      orElse: () => Effect.fail(timeoutError(ask.worker, timeoutMillis, silentFor(clock, at.received)))
    })
  }

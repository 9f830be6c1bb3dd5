/** Ends a call that exceeds its time limit. */
import * as Effect from "effect/Effect"
import type { CallMiddleware } from "../../loop/call.ts"
import { timeoutError } from "../../loop/receive.ts"

export const timeout =
  (timeoutMillis: number): CallMiddleware =>
  (next) =>
  (ask, at) =>
    Effect.timeoutOrElse(next(ask, at), {
      duration: timeoutMillis,
      orElse: () => Effect.fail(timeoutError(ask.worker, timeoutMillis))
    })

/**
 * The gate middleware: waits at the gate shared by all runs in the process, and passes on the vendor's remaining rate
 * limits.
 */
import { settle } from "../../Callback.ts"
import { likelyTokens } from "../../loop/accounts.ts"
import type { CallMiddleware, CallRun } from "../../loop/call.ts"
import { placesOf } from "../../run/Caller.ts"
import type { Gate } from "../../run/Resilience.ts"

export const gate =
  (gate: Gate, { caller }: CallRun): CallMiddleware =>
  (next) =>
  (ask, at) =>
    settle(() =>
      gate.enter(
        ask.worker,
        likelyTokens(ask),
        (onAllowance, place) => next(ask, { ...at, onAllowance, place }),
        placesOf(caller)
      )
    )

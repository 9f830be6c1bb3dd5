/**
 * The gate middleware: waits at the gate shared by all runs in the process, and tells it the vendor's remaining rate
 * limits and when the answer begins.
 */
import { settle } from "../../Callback.ts"
import { ticks } from "../../Elapsed.ts"
import { likelyTokens } from "../../loop/accounts.ts"
import { type CallMiddleware, type CallRun, shortWaitMillis } from "../../loop/call.ts"
import { placesOf } from "../../run/Caller.ts"
import type { Gate } from "../../run/Resilience.ts"

export const gate =
  (gate: Gate, { caller, clock, deadline }: CallRun): CallMiddleware =>
  (next) =>
  (ask, at) =>
    settle(() => {
      const tokens = likelyTokens(ask)
      const left = Math.max(0, deadline - ticks(clock))
      return gate.enter(
        ask.worker,
        tokens,
        (onAllowance, place, onBegin) => next(ask, { ...at, onAllowance, place, onBegin }),
        placesOf(caller),
        ask.mayReplace?.(tokens) === true ? Math.min(left, shortWaitMillis) : left
      )
    })

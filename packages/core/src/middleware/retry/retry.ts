/** The retry middleware: repeats a call until the worker answers or a retry can no longer help. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { ticks } from "../../Elapsed.ts"
import { likelyTokens } from "../../loop/accounts.ts"
import {
  type Answered,
  type Ask,
  type At,
  attempted,
  type CallError,
  type CallMiddleware,
  type CallRun,
  shortWaitMillis
} from "../../loop/call.ts"
import { delay, type Retry } from "../../run/Resilience.ts"
import type { Failure } from "../../run/ResponseCache.ts"
import * as Seed from "../../Seed.ts"
import { noUsage, type Paid } from "../../task/Usage.ts"
import type { WorkerError } from "../../task/Worker.ts"

/**
 * Retries failed calls, unless the run ends before the vendor's retry-after, or the retry-after is long and another
 * worker could answer instead. `salt` randomizes the delays of runs without a seed.
 */
export const retry =
  (rules: Retry, salt: string, { clock, deadline }: CallRun): CallMiddleware =>
  (next) => {
    const failureOf = (
      ask: Ask,
      { failures, handle }: At,
      { message, reason }: WorkerError,
      paid: Paid | undefined
    ): Failure => {
      const { mayReplace, sample } = ask
      const wait = delay(rules, { attempt: failures.length, reason, seed: Seed.derive(sample, salt) })
      const asked = "retryAfterMillis" in reason ? (reason.retryAfterMillis ?? 0) : 0
      const isReplaced = asked > shortWaitMillis && mayReplace?.(likelyTokens(ask)) === true
      const isHopeless = ticks(clock) + asked > deadline || isReplaced
      const millis = isHopeless ? undefined : wait
      return {
        reason,
        message,
        usage: paid?.usage ?? noUsage,
        // If the vendor cannot deliver the answer again, the call is sent again.
        retryInMillis: handle === undefined ? millis : (millis ?? 0),
        unasked: paid === undefined ? true : undefined
      }
    }

    const from = (ask: Ask, at: At): Effect.Effect<Answered, CallError> => {
      let failed: { readonly error: WorkerError; readonly failure: Failure } | undefined
      const settled: At["settled"] = (fitted, now, end) => {
        const { error } = end
        if (error === undefined) return at.settled(fitted, now, end)
        const failure = failureOf(ask, at, error, end.paid)
        failed = { error, failure }
        at.settled(fitted, now, { ...end, failure })
      }
      return Effect.catchCause(next(ask, attempted(at, settled)), (cause): Effect.Effect<Answered, CallError> => {
        if (failed === undefined || Cause.hasInterrupts(cause)) return Effect.failCause(cause)
        const { error, failure } = failed
        if (failure.retryInMillis === undefined) return Effect.fail(error)
        const again: At = {
          ...at,
          attempt: at.attempt + 1,
          failures: [...at.failures, failure],
          handle: undefined
        }
        return Effect.andThen(
          Effect.sleep(failure.retryInMillis),
          Effect.suspend(() => from(ask, again))
        )
      })
    }
    return from
  }

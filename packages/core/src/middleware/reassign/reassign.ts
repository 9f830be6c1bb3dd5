/** Reassigns a step to another worker after its worker failed all retries, according to the run's settings. */
import * as Effect from "effect/Effect"
import { ticks } from "../../Elapsed.ts"
import { refusalOf } from "../../loop/accounts.ts"
import { type CallContext, shortWaitMillis } from "../../loop/call.ts"
import type { Plan } from "../../loop/plan.ts"
import {
  isFatal,
  type StepAsk,
  type StepAt,
  type StepEnd,
  type StepError,
  type StepMiddleware
} from "../../loop/step.ts"
import { onDemand } from "../../OnDemand.ts"
import { next as untried } from "../../run/Resilience.ts"
import { isRetryable, type Worker, type WorkerError } from "../../task/Worker.ts"

const withTakeOver = onDemand(() => import("./takeOver.ts"))

/** Returns how long to wait until a retry may help. `Infinity` if it cannot. */
const waitAfter = ({ reason }: WorkerError): number =>
  isRetryable(reason) ? (("retryAfterMillis" in reason ? reason.retryAfterMillis : undefined) ?? 0) : Infinity

/** Reassigns failed steps. If all workers fail, the error is the one after which a retry may help soonest. */
export const reassign =
  (context: CallContext, plan: Plan): StepMiddleware =>
  (next) => {
    const { pool, settings } = plan
    const from = (ask: StepAsk, at: StepAt, earlier?: WorkerError): Effect.Effect<StepEnd, StepError> => {
      const { ordinal: failed, rule = settings.reassign, tried } = at
      if (rule === "never") return next(ask, at)
      const isIdle = (worker: Worker, tokens: number) =>
        refusalOf(context, [worker]) === undefined &&
        (context.gate?.expectedWait?.(worker, tokens, ticks(context.clock)) ?? 0) <= shortWaitMillis
      // A function is asked only after a failure, so a call waits as long as if there were no other worker.
      const mayReplace: StepAt["mayReplace"] =
        rule === "next"
          ? (tokens) => untried({ pool, failed, tried }, (worker) => isIdle(worker, tokens)) !== undefined
          : undefined
      return Effect.catch(next(ask, { ...at, mayReplace }), (error): Effect.Effect<StepEnd, StepError> => {
        if (error._tag !== "WorkerError" || isFatal(settings, error)) return Effect.fail(error)
        const soonest = earlier !== undefined && waitAfter(earlier) < waitAfter(error) ? earlier : error
        const taken = withTakeOver(({ takeOver }) => takeOver(context, plan, rule, ask, at, error))
        return Effect.flatMap(taken, (other) => {
          if (other === undefined) return Effect.fail(soonest)
          return from(ask, { ...at, ordinal: other, tried: [...tried, other] }, soonest)
        })
      })
    }
    return (ask, at) => from(ask, at)
  }

/** Reassigns a step to another worker after its worker failed all retries, according to the run's settings. */
import * as Effect from "effect/Effect"
import { refusalOf } from "../../loop/accounts.ts"
import type { CallContext } from "../../loop/call.ts"
import type { Plan } from "../../loop/plan.ts"
import { handTo } from "../../loop/reports.ts"
import {
  isFatal,
  type StepAsk,
  type StepAt,
  type StepEnd,
  type StepError,
  type StepMiddleware
} from "../../loop/step.ts"
import { reassign as otherWorker } from "../../run/Resilience.ts"
import type { Worker } from "../../task/Worker.ts"

export const reassign =
  (context: CallContext, plan: Plan): StepMiddleware =>
  (next) => {
    const { pool, settings } = plan
    const isAllowed = (worker: Worker) => refusalOf(context, [worker]) === undefined
    const from = (ask: StepAsk, at: StepAt): Effect.Effect<StepEnd, StepError> => {
      const { ordinal: failed, rule = settings.reassign, tried } = at
      if (rule === "never") return next(ask, at)
      return Effect.catch(next(ask, at), (error): Effect.Effect<StepEnd, StepError> => {
        if (error._tag !== "WorkerError" || isFatal(settings, error)) return Effect.fail(error)
        return Effect.flatMap(otherWorker(rule, { pool, failed, tried, error }, isAllowed), (other) => {
          if (other === undefined) return Effect.fail(error)
          handTo(context, plan, ask, other, error)
          return from(ask, { ...at, ordinal: other, tried: [...tried, other] })
        })
      })
    }
    return from
  }

/** Assigns a failed step to another worker. Loaded with the first failure. */
import * as Effect from "effect/Effect"
import { refusalOf } from "../../loop/accounts.ts"
import type { CallContext } from "../../loop/call.ts"
import { handTo } from "../../loop/laterReports.ts"
import type { Plan } from "../../loop/plan.ts"
import type { StepAsk, StepAt } from "../../loop/step.ts"
import { type Reassign, reassign } from "../../run/Resilience.ts"
import type { WorkerError } from "../../task/Worker.ts"

/** Selects the worker that takes over a step, and reports it. Returns its index, or `undefined` if no worker is eligible. */
export const takeOver = (
  context: CallContext,
  plan: Plan,
  rule: Reassign,
  ask: StepAsk,
  { ordinal: failed, tried }: StepAt,
  error: WorkerError
): Effect.Effect<number | undefined> =>
  Effect.map(
    reassign(rule, { pool: plan.pool, failed, tried, error }, (worker) => refusalOf(context, [worker]) === undefined),
    (other) => {
      if (other !== undefined) handTo(context, plan, ask, other, error)
      return other
    }
  )

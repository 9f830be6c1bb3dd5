/** Failures of calls that are not a step's own: of the policy's model, of checks and of critics. */
import * as Effect from "effect/Effect"
import { defined } from "../Fields.ts"
import type { CallContext } from "../loop/call.ts"
import type { StepFailure } from "../events/StepFailure.ts"
import type { BudgetExceeded } from "../task/Usage.ts"
import type { WorkerError } from "../task/Worker.ts"

/** Adds the failure of a call to those of its run. A limit is no fault of the worker's. */
export const noteFailure = <A>(
  { failures, runId }: CallContext,
  place: Pick<StepFailure, "by" | "round" | "step">,
  made: Effect.Effect<A, WorkerError | BudgetExceeded>
): Effect.Effect<A, WorkerError | BudgetExceeded> =>
  Effect.tapError(made, (error) =>
    Effect.sync(() => {
      if (error._tag !== "WorkerError") return
      const { message, reason, worker } = error
      failures.push({ runId, ...(defined(place) as typeof place), worker, reason: reason._tag, message })
    })
  )

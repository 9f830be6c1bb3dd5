/** Reports what only some steps do: further turns, another worker, and calls that are not the step's own. */
import * as Effect from "effect/Effect"
import type { Item } from "../events/RunEvent.ts"
import type { StepFailure } from "../events/StepFailure.ts"
import { defined } from "../Fields.ts"
import type { BudgetExceeded } from "../task/Usage.ts"
import type { WorkerError } from "../task/Worker.ts"
import type { Answered, CallContext } from "./call.ts"
import type { Plan } from "./plan.ts"
import { itemIn, workerName } from "./reports.ts"
import type { StepAsk } from "./step.ts"

/** Adds a failed call to the run's failures. Exceeding a limit does not count as a failure of the worker. */
export const noteFailure = <A>(
  { failures, runId }: CallContext,
  place: Pick<StepFailure, "by" | "round" | "step"> & { readonly item?: Item | undefined },
  made: Effect.Effect<A, WorkerError | BudgetExceeded>
): Effect.Effect<A, WorkerError | BudgetExceeded> =>
  Effect.tapError(made, (error) =>
    Effect.sync(() => {
      if (error._tag !== "WorkerError") return
      const { message, reason, worker } = error
      failures.push({
        runId,
        ...(defined(place) as Pick<StepFailure, "by" | "round" | "step" | "item">),
        worker,
        reason: reason._tag,
        message
      })
    })
  )

/** Reports an answer after which the step continues. If the answer was rejected, `error` is the reason. */
export const reportTurn = (
  { round }: Plan,
  { conversation: { turn }, running: { emit }, step }: StepAsk,
  worker: string,
  answer: Answered,
  durationMillis: number,
  error?: string
): void => {
  const { cached, costUsd, echo, origin, text, toolCalls = [], usage } = answer
  const place = { type: "turn-finished", round, step, turn, worker } as const
  emit?.({ ...defined({ ...place, text, toolCalls, echo, error, durationMillis, cached, origin }), usage, costUsd })
}

/**
 * Reassigns a step to another worker, after an error or for another reason. Signed reasoning by the previous vendor is
 * dropped, because no other vendor can read it.
 */
export const handTo = (
  { failures, runId }: CallContext,
  plan: Plan,
  { conversation, running, step }: StepAsk,
  ordinal: number,
  error?: WorkerError
): void => {
  const { round } = plan
  const to = workerName(plan, ordinal)
  const { emit, item, worker: from } = running
  const why = error && { reason: error.reason._tag, message: error.message }
  if (why !== undefined) failures.push({ runId, round, step, ...itemIn(item), worker: from, ...why, reassignedTo: to })
  emit?.({ type: "step-reassigned", round, step, from, to, ...why })
  running.worker = to
  for (const [index, message] of conversation.messages.entries()) {
    if (message.role !== "assistant" || message.echo === undefined) continue
    const { echo: _, ...rest } = message
    conversation.messages[index] = rest
  }
}

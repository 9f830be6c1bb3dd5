/** A step that the policy gave to the Conductor itself: a nested run on the same account. */
import * as Effect from "effect/Effect"
import type { WaitingCall } from "../../events/RunEvent.ts"
import type { Answered } from "../../loop/call.ts"
import type { Plan } from "../../loop/plan.ts"
import type { Delegate, StepEnd, StepMiddleware } from "../../loop/step.ts"

const isWaiting = (given: Answered | ReadonlyArray<WaitingCall>): given is ReadonlyArray<WaitingCall> =>
  Array.isArray(given)

export const nested =
  ({ pool }: Plan, delegate: Delegate): StepMiddleware =>
  (next) =>
  (ask, at) => {
    const { onAnswer, ordinal, request, tried } = at
    if (ordinal !== pool.workers.length) return next(ask, at)
    return Effect.map(delegate(ask.step, request.messages, ask.offered), (given): StepEnd => {
      if (isWaiting(given)) return { type: "waiting", calls: given }
      onAnswer(given)
      return { type: "answered", ordinal, tried }
    })
  }

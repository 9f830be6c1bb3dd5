/** A step in several turns: with tools, with a shape, or with a check after which it answers again. */
import { ticks } from "../../Elapsed.ts"
import type { CallContext } from "../../loop/call.ts"
import type { StepMiddleware } from "../../loop/step.ts"
import * as Seed from "../../Seed.ts"

/** Adds the conversation so far to a request, before the request is reduced to what its worker accepts. */
export const conversed =
  ({ clock }: CallContext): StepMiddleware =>
  (next) =>
  (ask, at) => {
    const { conversation, offered, sample } = ask
    if (!offered.hasTools && offered.shape === undefined && !offered.isRepeated) return next(ask, at)
    const { messages, turn } = conversation
    const { request } = at
    conversation.since = ticks(clock)
    return next(ask, {
      ...at,
      request: {
        ...request,
        messages: messages.length === 0 ? request.messages : [...request.messages, ...messages],
        seed: request.seed === undefined || turn === 0 ? request.seed : Seed.derive(sample, "turn", turn)
      }
    })
  }

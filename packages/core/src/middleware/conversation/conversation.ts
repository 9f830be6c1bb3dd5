/**
 * Steps with several turns: with tools, with an output format, or with a check after which the worker answers again.
 */
import { ticks } from "../../Elapsed.ts"
import type { CallContext } from "../../loop/call.ts"
import type { StepMiddleware } from "../../loop/step.ts"
import * as Seed from "../../Seed.ts"

/** Adds the conversation to the request, before the request is adapted to the worker's capabilities. */
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

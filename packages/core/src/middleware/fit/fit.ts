/**
 * Adapts requests to their workers: `capable` removes unsupported content from a step's request, and `fit` applies the
 * worker's instructions and limits to a call.
 */
import * as Effect from "effect/Effect"
import type { CallMiddleware } from "../../loop/call.ts"
import type { Plan } from "../../loop/plan.ts"
import type { StepMiddleware } from "../../loop/step.ts"
import { onDemand } from "../../OnDemand.ts"
import type { Message } from "../../task/Message.ts"
import type { Worker, WorkerRequest } from "../../task/Worker.ts"
import { outputBound } from "../../task/WorstCase.ts"

const unseeded = ({ seed: _, ...request }: WorkerRequest): WorkerRequest => request

/** Inserts the worker's instructions before all other messages. */
const instructed = (request: WorkerRequest, { instructions }: Worker): WorkerRequest =>
  instructions === undefined
    ? request
    : { ...request, messages: [{ role: "system", content: instructions }, ...request.messages] }

/**
 * Adds the worker's instructions, and drops the seed if the worker does not support seeds. With `isBounded`, sets an
 * output limit, because the worst case of a call would otherwise be unbounded.
 */
export const fit =
  (isBounded: boolean): CallMiddleware =>
  (next) =>
  (ask, at) => {
    const { request, worker } = ask
    const taken = instructed(worker.takesSeed === false ? unseeded(request) : request, worker)
    if (isBounded) return next({ ...ask, request: { ...taken, maxOutputTokens: outputBound(ask) } }, at)
    return next(taken === request ? ask : { ...ask, request: taken }, at)
  }

/** Whether a message contains only text. */
const isPlain = (message: Message): boolean =>
  typeof message.content === "string" &&
  message.role !== "tool" &&
  (message.role !== "assistant" || message.toolCalls === undefined)

const withAdapting = onDemand(() => import("./capable.ts"))

/** Removes content that the worker does not support from the request. */
export const capable =
  (plan: Plan): StepMiddleware =>
  (next) =>
  (ask, at) => {
    const { messages, output, tools } = at.request
    if (tools === undefined && (output === undefined || output.type === "text") && messages.every(isPlain))
      return next(ask, at)
    return Effect.flatMap(
      withAdapting(({ adapted }) => adapted(plan, ask, at)),
      (fitted) => next(ask, fitted)
    )
  }

/** Runs steps assigned to the Conductor itself as nested runs on the same account. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import { placeOf } from "../../events/items.ts"
import type { WaitingCall } from "../../events/RunEvent.ts"
import type { Answered } from "../../loop/call.ts"
import type { Plan } from "../../loop/plan.ts"
import type { State } from "../../loop/round.ts"
import type { Conduct } from "../../loop/run.ts"
import { type Delegate, DelegateError, type StepEnd, type StepMiddleware } from "../../loop/step.ts"
import type { RunOptions } from "../../run/Conductor.ts"
import type { Equipment } from "../../run/Equipment.ts"
import type { AnswerShape } from "../../run/Toolbox.ts"
import * as Seed from "../../Seed.ts"
import type * as Task from "../../task/Task.ts"
import * as Usage from "../../task/Usage.ts"
import { noUsage } from "../../task/Usage.ts"

const isWaiting = (given: Answered | ReadonlyArray<WaitingCall>): given is ReadonlyArray<WaitingCall> =>
  Array.isArray(given)

export const nested =
  ({ pool }: Plan, delegate: Delegate): StepMiddleware =>
  (next) =>
  (ask, at) => {
    const { onAnswer, ordinal, request, tried } = at
    if (ordinal !== pool.workers.length) return next(ask, at)
    return Effect.map(delegate(ask.running, request.messages, ask.offered), (given): StepEnd => {
      if (isWaiting(given)) return { type: "waiting", calls: given }
      onAnswer(given)
      return { type: "answered", ordinal, tried }
    })
  }

/** Returns the output format for a nested run: that of its outer run, or that of its step. */
const outputOf = (
  shape: AnswerShape | undefined,
  { shape: own }: Equipment,
  { output }: RunOptions
): RunOptions["output"] => {
  if (shape === undefined || shape === own) return shape && output
  return shape.format.type === "text" ? undefined : shape.format
}

/** Returns the function that runs a step assigned to the Conductor itself as a nested run on the same account. */
export const delegation =
  (conduct: Conduct) =>
  (state: State, round: number): Delegate | undefined => {
    const { context, depth, equipment, options, pool, runId: parentId, runOptions, task } = state
    if (depth >= (options.self?.maxDepth ?? 0)) return undefined
    return ({ isReplayed, item, step }, messages, { hasTools, only, shape }) => {
      const place = `${round}.${placeOf(step, item)}`
      const isOffered = ({ name }: { readonly name: string }) => only?.includes(name) !== false
      const nested: Task.Task = {
        id: `${task.id}/${place}`,
        messages: Arr.isReadonlyArrayNonEmpty(messages) ? messages : task.messages
      }
      const nestedOptions: RunOptions = {
        ...runOptions,
        runId: `${parentId}/${place}`,
        pool,
        ledger: context.ledger,
        tools: hasTools ? (runOptions.tools ?? options.tools)?.filter(isOffered) : [],
        output: outputOf(shape, equipment, runOptions),
        ...(state.sendSeed
          ? { seed: Seed.derive(state.seed, round, step, "self", ...(item === undefined ? [] : [item])) }
          : {})
      }
      const path = `${equipment.path}${place}/`
      const toolNames = hasTools ? state.toolNames.filter((name) => isOffered({ name })) : []
      // The step's settings apply to all steps of its nested run.
      const settings = state.current?.workflow.steps[step]?.settings
      const own = settings === undefined ? options : { ...options, worker: { ...options.worker, ...settings } }
      const parent = { runId: parentId, round, step, ...(item === undefined ? undefined : { item }) }
      const nesting = { parent, depth: depth + 1, context, path, toolNames, isReplayed }
      return Effect.flatMap(conduct(own, nested, nestedOptions, nesting), (result): ReturnType<Delegate> => {
        const { answer, detail, error, ending, waitingFor } = result
        if (ending === "suspended") return Effect.succeed(waitingFor)
        if (ending === "budget" && error instanceof Usage.BudgetExceeded) return Effect.fail(error)
        const isRefused = ending === "refused"
        const text = isRefused ? (detail ?? "") : answer
        return text === undefined
          ? Effect.fail(new DelegateError({ detail: detail ?? "it was interrupted" }))
          : Effect.succeed({
              text,
              finishReason: isRefused ? ("refusal" as const) : ("stop" as const),
              usage: noUsage,
              costUsd: 0,
              cached: false,
              addedMillis: 0
            })
      })
    }
  }

/** Reports what a run does: passes its events to its listener, and emits those for calls and steps. */
import type { Clock } from "effect/Clock"
import * as Effect from "effect/Effect"
import { notifying } from "../Callback.ts"
import { counted } from "../Counted.ts"
import { millisSince, ticks } from "../Elapsed.ts"
import type { Body, Emit, Item, Listener, RunEvent } from "../events/RunEvent.ts"
import { defined } from "../Fields.ts"
import type { RunOptions } from "../run/Conductor.ts"
import type { Entry, Failure } from "../run/ResponseCache.ts"
import { messageOf } from "../Thrown.ts"
import type { Paid } from "../task/Usage.ts"
import * as Warning from "../Warning.ts"
import { attemptName, unpaid } from "./accounts.ts"
import type { Answered, Ask, At, CallContext, CallRun, Settled } from "./call.ts"
import type { Plan } from "./plan.ts"
import type { Running, StepError } from "./step.ts"

// -------------------------------------------------------------------------------------------------------------------
// Listeners
// -------------------------------------------------------------------------------------------------------------------

// A listener is user code: its exceptions must not affect the run.

/** Wraps a run's listener to catch its exceptions, including rejections of an async listener. */
export const guardedListener = (runId: string, listener: Listener) => {
  let count = 0
  let first = ""
  let isOver = false
  const note = (error: unknown, event: RunEvent) => {
    count += 1
    if (count === 1) first = `${event.type}: ${messageOf(error)}`
    if (isOver && count === 1) Effect.runFork(tell)
  }
  const tell = Effect.suspend(() =>
    Warning.log(
      `The listener of run ${runId} threw an error for ${counted(count, "event")}, first for ${first}. The run was not affected.`
    )
  )
  return {
    listener: notifying(listener, note),
    /** Logs a warning if the listener threw any exceptions. Later exceptions are logged as they occur. */
    end: Effect.suspend(() => {
      isOver = true
      return count === 0 ? Effect.void : tell
    })
  }
}

/** Passes the run's events to the span recorder before its own listener. */
export const withTelemetry = (options: RunOptions): RunOptions => {
  const { listener, telemetry } = options
  if (telemetry === undefined) return options
  const both: Listener = (event) => {
    let told: unknown
    let heard: unknown
    // If one listener throws, the other still receives the event. The promises of async listeners are observed.
    try {
      told = telemetry.listener(event)
    } finally {
      heard = listener?.(event)
    }
    return (told instanceof Promise ? Promise.all([told, heard]) : heard) as undefined
  }
  return { ...options, listener: both }
}

/**
 * Creates a function that emits events to a listener. Events are stamped in place rather than copied, because nothing
 * else refers to the object and a run emits many events.
 */
export const emitter =
  (runId: string, clock: Clock, listener: Listener): Emit =>
  (body) => {
    const event = body as Body & { runId: string; at: number }
    event.runId = runId
    event.at = clock.currentTimeMillisUnsafe()
    listener(event)
  }

// -------------------------------------------------------------------------------------------------------------------
// Calls
// -------------------------------------------------------------------------------------------------------------------

/** Error detail for a call whose answer was lost when its process ended, if the call is not repeated. */
export const lostDetail = "the process that made the call exited before the answer arrived"

/** Returns the position fields for the events of a call without an answer. */
export const placeOf = ({ by, item, round, step, turn, worker }: Ask) => ({
  round,
  step,
  item,
  turn: turn === 0 ? undefined : turn,
  by: by === "check" || by === "critic" ? by : undefined,
  worker: worker.id
})

export const reportFailure = (
  { emit }: CallRun,
  ask: Ask,
  attempt: number,
  { message, reason, retryInMillis, unasked }: Failure,
  paid: Paid,
  chargeId: string | undefined
): void =>
  emit?.({
    ...defined({
      type: "call-failed",
      ...placeOf(ask),
      chargeId,
      attempt,
      reason,
      message,
      retryInMillis,
      unasked
    }),
    ...paid
  })

export const reportInterruption = ({ emit }: CallRun, ask: Ask, paid: Paid, chargeId: string | undefined): void =>
  emit?.({ ...defined({ type: "call-interrupted", ...placeOf(ask), chargeId }), ...paid })

/** Reports the end of an attempt: an answer is passed to the caller, anything else is reported as an event. */
export const report = (run: CallRun, ask: Ask, at: At, { answered, failure, paid }: Settled): void => {
  if (answered !== undefined) ask.onAnswer(answered)
  else if (failure !== undefined) {
    reportFailure(run, ask, at.failures.length, failure, paid ?? unpaid, attemptName(at))
  } else if (paid !== undefined) reportInterruption(run, ask, paid, attemptName(at))
}

/** Emits the deltas of a complete answer as if it were arriving now. */
export const show = ({ onDelta }: Ask, { reasoning, text }: Entry): void => {
  if (reasoning !== undefined) onDelta?.("reasoning", reasoning)
  onDelta?.("text", text)
}

// -------------------------------------------------------------------------------------------------------------------
// Steps
// -------------------------------------------------------------------------------------------------------------------

/** Returns a worker's name. The Conductor as a worker in its own pool is named `self`. */
export const workerName = ({ pool }: Pick<Plan, "pool">, ordinal: number): string => pool.workers[ordinal]?.id ?? "self"

/** Returns the `item` field of a failure, if there is an item. */
export const itemIn = (item: Item | undefined) => (item === undefined ? undefined : { item })

/** Wraps an emitter so that it adds the item to each event. */
const emitterOf = (emit: Emit | undefined, item: Item | undefined): Emit | undefined =>
  emit === undefined || item === undefined
    ? emit
    : (body) => {
        const event = body as Body & { item?: Item }
        event.item = item
        emit(event)
      }

/** Creates the state of a step, or of one of its items, before it starts. */
export const running = ({ clock, emit, isReplayed }: CallContext, plan: Plan, step: number, item?: Item): Running => ({
  step,
  startedAt: ticks(clock),
  worker: workerName(plan, plan.workflow.steps[step]!.worker),
  holds: false,
  isLimited: false,
  item,
  emit: emitterOf(emit, item),
  isReplayed
})

/** Starts a step. `without` lists the steps and items that it does not wait for. */
export const start = (
  context: CallContext,
  plan: Plan,
  step: number,
  item?: Item,
  without?: ReadonlyArray<string>
): Running => {
  const started = running(context, plan, step, item)
  const { emit, worker } = started
  if (without === undefined) emit?.({ type: "step-started", round: plan.round, step, worker })
  else emit?.({ type: "step-started", round: plan.round, step, worker, without })
  return started
}

export const finish = (
  { clock }: CallContext,
  { round }: Plan,
  { emit, startedAt, step, worker }: Running,
  given: Answered,
  isUnchecked = false
) => {
  const { addedMillis, cached, costUsd, finishReason, model, origin, text: answer, usage } = given
  const durationMillis = millisSince(clock, startedAt) + addedMillis
  const said = { answer, finishReason, ...(model === undefined ? undefined : { model }) }
  const unchecked = isUnchecked ? ({ isUnchecked } as const) : undefined
  const source = { durationMillis, cached, ...(origin && { origin }) }
  emit?.({ type: "step-finished", round, step, worker, ...said, ...source, ...unchecked, usage, costUsd })
}

export const fail = (
  { clock, failures, runId }: CallContext,
  { round }: Plan,
  { emit, item, startedAt, step, worker }: Running,
  error: StepError
): void => {
  const { message } = error
  const why = error._tag === "WorkerError" ? { reason: error.reason._tag, message } : { message }
  // Exceeding a limit is not the worker's failure.
  if (error._tag !== "BudgetExceeded") failures.push({ runId, round, step, ...itemIn(item), worker, ...why })
  emit?.({ type: "step-failed", round, step, worker, ...why, durationMillis: millisSince(clock, startedAt) })
}

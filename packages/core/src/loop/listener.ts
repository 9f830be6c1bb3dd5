/** A run reports its events to listeners. Listeners are user code: their exceptions must not affect the run. */
import type { Clock } from "effect/Clock"
import * as Effect from "effect/Effect"
import { notify, toErrorOutput } from "../Callback.ts"
import { counted } from "../Counted.ts"
import type { Body, Emit, Listener, RunEvent } from "../events/RunEvent.ts"
import type { RunOptions } from "../run/Conductor.ts"
import { messageOf } from "../Thrown.ts"

/** Wraps a run's listener to catch its exceptions, including rejections of an async listener. */
export const guardedListener = (runId: string, listener: Listener) => {
  let count = 0
  let first = ""
  let isOver = false
  const note = (event: RunEvent, error: unknown) => {
    count += 1
    if (count === 1) first = `${event.type}: ${messageOf(error)}`
    if (isOver && count === 1) Effect.runFork(toErrorOutput(tell))
  }
  const tell = Effect.suspend(() =>
    Effect.logWarning(
      `The listener of run ${runId} threw an error for ${counted(count, "event")}, first for ${first}. The run was not affected.`
    )
  )
  return {
    listener: (event: RunEvent) => {
      notify(
        () => listener(event),
        (error) => note(event, error)
      )
    },
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

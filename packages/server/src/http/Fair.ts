/**
 * Schedules requests fairly: starts a few in each event loop turn and alternates between callers. Without this, all
 * pending requests of one caller are handled before another caller's single request.
 */
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"

/** Maximum number of requests started per event loop turn. Most take about a quarter of a millisecond. */
const perTurn = 8

/** Duration of the requests of a turn after which no other starts, in milliseconds. */
const turnMillis = 2

/** A fair scheduler for requests. */
export interface Fair {
  /** Waits for the caller's turn. Returns immediately while few requests are starting. */
  readonly enter: (owner: string) => Effect.Effect<void>
  /**
   * Calls a function in the caller's turn, or immediately while few requests are starting. Returns a function that
   * removes it from the queue.
   */
  readonly begin: (owner: string, start: () => void) => () => void
}

/** Creates a scheduler. `now` returns the current time in milliseconds. */
export const make = (now: () => number = () => performance.now()): Fair => {
  /** Pending requests by caller. The next caller to be served comes first. */
  const waiting = new Map<string, Set<() => void>>()
  let begun = 0
  let beganAt = 0
  let isScheduled = false

  const schedule = (): void => {
    if (isScheduled) return
    isScheduled = true
    setImmediate(turn)
  }

  /** Counts a request that starts now. Returns `false` if it has to wait for the next turn. */
  const count = (): boolean => {
    if (begun === 0) beganAt = now()
    else if (begun >= perTurn || now() - beganAt >= turnMillis) return false
    begun++
    return true
  }

  const turn = (): void => {
    isScheduled = false
    begun = 0
    while (waiting.size > 0 && count()) {
      const [owner, requests] = waiting.entries().next().value!
      const [begin] = requests
      requests.delete(begin!)
      // Moves the caller to the end of the queue.
      waiting.delete(owner)
      if (requests.size > 0) waiting.set(owner, requests)
      begin!()
    }
    if (begun > 0) schedule()
  }

  /** Whether a request can start now. */
  const isFree = (): boolean => {
    if (waiting.size > 0 || !count()) return false
    schedule()
    return true
  }

  /** Queues a request. Returns a function that removes it from the queue. */
  const add = (owner: string, start: () => void): (() => void) => {
    const requests = waiting.get(owner) ?? new Set()
    waiting.set(owner, requests.add(start))
    schedule()
    return () => {
      requests.delete(start)
      if (requests.size === 0 && waiting.get(owner) === requests) waiting.delete(owner)
    }
  }

  const wait = (owner: string): Effect.Effect<void> =>
    Effect.callback((resume) => {
      const remove = add(owner, () => resume(Effect.void))
      return Effect.sync(remove)
    })

  const enter = (owner: string): Effect.Effect<void> => Effect.suspend(() => (isFree() ? Effect.void : wait(owner)))

  const begin = (owner: string, start: () => void): (() => void) => {
    if (!isFree()) return add(owner, start)
    start()
    return constVoid
  }

  return { enter, begin }
}

/**
 * A queue that admits a limited number of concurrent calls, in order of arrival.
 *
 * Effect's semaphores lose a permit if a call is interrupted between receiving the permit and continuing; all calls to
 * a provider then wait forever. Here, an unused permit passes to the next call.
 */
import * as Effect from "effect/Effect"

/** Runs calls as slots become free. */
export interface Line {
  readonly pass: <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Takes a slot if one is free and no call is waiting for it. */
  readonly takeFree: () => boolean
  readonly waiting: Set<() => void>
  /** Assigns free slots to waiting calls. */
  readonly serve: () => void
  /** Number of slots in use. */
  readonly used: () => number
  /** Called when a call has to wait. */
  readonly onWait: () => void
  readonly leave: () => void
}

/** Waits for a slot in any of the given queues, and takes the first one. */
const wait = (lines: ReadonlyArray<Line>): Effect.Effect<Line> =>
  Effect.suspend(() => {
    let served: Line | undefined
    return Effect.onInterrupt(
      Effect.interruptible(
        Effect.callback<Line>((resume) => {
          const wakes = lines.map((line) => ({ line, wake: () => take(line) }))
          const forget = () => {
            for (const { line, wake } of wakes) line.waiting.delete(wake)
          }
          const take = (line: Line) => {
            served = line
            forget()
            resume(Effect.succeed(line))
          }
          for (const { line, wake } of wakes) line.waiting.add(wake)
          // Slots may have become free in the meantime.
          for (const { line } of wakes) if (served === undefined) line.serve()
          for (const { line } of wakes) if (served === undefined) line.onWait()
          return Effect.sync(forget)
        })
      ),
      () => Effect.sync(() => served?.leave())
    )
  })

/** Runs a call in a slot of the first of the given queues that has one. */
export const passOne = <A, E, R>(lines: ReadonlyArray<Line>, call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) => {
    const enter = Effect.suspend(() => {
      const free = lines.find((line) => line.takeFree())
      return free === undefined ? wait(lines) : Effect.succeed(free)
    })
    return Effect.flatMap(enter, (line) => Effect.ensuring(restore(call), Effect.sync(line.leave)))
  })

/** The number of slots of a queue, if it changes. */
export interface Slots {
  readonly capacity: () => number
  /** Called when a call has to wait. */
  readonly onWait: () => void
  /** Called when a call has ended. */
  readonly onLeave: () => void
}

/** Creates a queue with the given number of slots. */
export const make = (places: number | Slots): Line => {
  const { capacity, onLeave, onWait } =
    typeof places === "number" ? { capacity: () => places, onLeave: () => {}, onWait: () => {} } : places
  let used = 0
  let isServing = false
  const waiting = new Set<() => void>()

  /**
   * Assigns slots in a loop, because a call that is woken can finish before this function returns, which would
   * otherwise cause recursion.
   */
  const serve = () => {
    if (isServing) return
    isServing = true
    for (const wake of waiting) {
      if (used >= capacity()) break
      used += 1
      waiting.delete(wake)
      wake()
    }
    isServing = false
  }

  const line: Line = {
    pass: (call) => passOne([line], call),
    takeFree: () => {
      if (used >= capacity() || waiting.size > 0) return false
      used += 1
      return true
    },
    waiting,
    serve,
    used: () => used,
    onWait,
    leave: () => {
      used -= 1
      serve()
      onLeave()
    }
  }
  return line
}

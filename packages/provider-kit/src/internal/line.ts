/**
 * A line of calls: so many of them pass at once, in the order in which they came.
 *
 * Effect's semaphores lose a permit when the call that has just been granted it is interrupted before it goes on, and
 * then all calls of a provider wait for ever. Here a place that nobody takes goes to the next.
 */
import * as Effect from "effect/Effect"

/** Runs calls as they get a place. */
export interface Line {
  readonly pass: <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Makes a line with so many places. */
export const make = (places: number): Line => {
  let free = places
  let isServing = false
  const waiting = new Set<() => void>()

  /** Whom it wakes may run, and leave, before it returns: the loop goes on then, so that nothing nests. */
  const serve = () => {
    if (isServing) return
    isServing = true
    for (const wake of waiting) {
      if (free < 1) break
      free -= 1
      waiting.delete(wake)
      wake()
    }
    isServing = false
  }

  const leave = () => {
    free += 1
    serve()
  }

  const wait = Effect.suspend(() => {
    let isServed = false
    return Effect.onInterrupt(
      Effect.interruptible(
        Effect.callback<void>((resume) => {
          const wake = () => {
            isServed = true
            resume(Effect.void)
          }
          waiting.add(wake)
          // Others may have left since there was no place.
          serve()
          return Effect.sync(() => waiting.delete(wake))
        })
      ),
      () => Effect.sync(() => isServed && leave())
    )
  })

  const enter = Effect.suspend(() => {
    if (free < 1 || waiting.size > 0) return wait
    free -= 1
    return Effect.void
  })

  return {
    pass: (call) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(enter, () => Effect.ensuring(restore(call), Effect.sync(leave)))
      )
  }
}

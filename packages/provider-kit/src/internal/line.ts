/**
 * A line of calls: so many of them pass at once, in the order in which they came.
 *
 * Effect's semaphores lose a permit if a call is interrupted between being granted it and continuing; then all calls to
 * a provider wait forever. Here, an unused permit passes to the next call.
 */
import * as Effect from "effect/Effect"

/** Runs calls as they get a place. */
export interface Line {
  readonly pass: <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Takes a place if one is free that no call waits for. */
  readonly takeFree: () => boolean
  readonly waiting: Set<() => void>
  /** Gives free places to calls that wait. */
  readonly serve: () => void
  readonly leave: () => void
}

/** Waits for a place in one of some lines, and takes the first. */
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
          // Others may have left since there was no place.
          for (const { line } of wakes) if (served === undefined) line.serve()
          return Effect.sync(forget)
        })
      ),
      () => Effect.sync(() => served?.leave())
    )
  })

/** Runs a call in a place of one of some lines: of the first that has one. */
export const passOne = <A, E, R>(lines: ReadonlyArray<Line>, call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) => {
    const enter = Effect.suspend(() => {
      const free = lines.find((line) => line.takeFree())
      return free === undefined ? wait(lines) : Effect.succeed(free)
    })
    return Effect.flatMap(enter, (line) => Effect.ensuring(restore(call), Effect.sync(line.leave)))
  })

/** Makes a line with so many places. */
export const make = (places: number): Line => {
  let free = places
  let isServing = false
  const waiting = new Set<() => void>()

  /** A call that is woken can run and leave before this returns: the loop handles it, so that nothing nests. */
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

  const line: Line = {
    pass: (call) => passOne([line], call),
    takeFree: () => {
      if (free < 1 || waiting.size > 0) return false
      free -= 1
      return true
    },
    waiting,
    serve,
    leave: () => {
      free += 1
      serve()
    }
  }
  return line
}

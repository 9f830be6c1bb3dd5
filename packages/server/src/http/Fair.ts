/**
 * Lets requests begin a few in each turn of the event loop, the callers one after another. Otherwise the connections of
 * one caller that are ready together are all served before another caller's single request is.
 */
import * as Effect from "effect/Effect"

/** So many requests, of about a quarter of a millisecond each, begin in a turn. */
const perTurn = 8

/** The requests that are about to begin. */
export interface Fair {
  /** Waits for the caller's turn. It costs nothing while few requests begin. */
  readonly enter: (owner: string) => Effect.Effect<void>
  /** Calls a function in the caller's turn: at once while few requests begin. */
  readonly begin: (owner: string, start: () => void) => void
}

/** Orders the requests of a server. */
export const make = (): Fair => {
  /** The requests that wait, by their callers, the next caller first. */
  const waiting = new Map<string, Set<() => void>>()
  let begun = 0
  let isScheduled = false

  const schedule = (): void => {
    if (isScheduled) return
    isScheduled = true
    setImmediate(turn)
  }

  const turn = (): void => {
    isScheduled = false
    begun = 0
    for (; begun < perTurn && waiting.size > 0; begun++) {
      const [owner, requests] = waiting.entries().next().value!
      const [begin] = requests
      requests.delete(begin!)
      // The caller is last now.
      waiting.delete(owner)
      if (requests.size > 0) waiting.set(owner, requests)
      begin!()
    }
    if (begun > 0) schedule()
  }

  /** Whether a request begins now; it counts then. */
  const isFree = (): boolean => {
    if (begun >= perTurn || waiting.size > 0) return false
    begun++
    schedule()
    return true
  }

  /** Adds a request, and returns what removes it. */
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

  const begin = (owner: string, start: () => void): void => {
    if (isFree()) start()
    else add(owner, start)
  }

  return { enter, begin }
}

/**
 * Batches pending items. Items that arrive while a statement is running share the next one, so that a thousand
 * concurrent runs cause no more round trips than one.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

interface Waiting<In, Out, E> {
  readonly item: In
  readonly resume: (done: Effect.Effect<Out, E>) => void
}

/** Maximum number of items per batch. */
const most = 1_000

/**
 * Returns a function that batches its items. `run` must return results in the order of the items. Items with the same
 * `key` are processed one at a time, in order of arrival.
 */
export const make = Effect.fnUntraced(function* <In, Out, E>(
  run: (items: ReadonlyArray<In>) => Effect.Effect<ReadonlyArray<Effect.Effect<Out, E>>, E>,
  key?: (item: In) => string
): Effect.fn.Return<(item: In) => Effect.Effect<Out, E>> {
  const context = yield* Effect.context<never>()
  let waiting: Array<Waiting<In, Out, E>> = []
  let isBusy = false

  const take = (): ReadonlyArray<Waiting<In, Out, E>> => {
    const taken: Array<Waiting<In, Out, E>> = []
    const left: Array<Waiting<In, Out, E>> = []
    const keys = new Set<string>()
    for (const one of waiting) {
      const of = key?.(one.item)
      const goes = taken.length < most && (of === undefined || !keys.has(of))
      if (of !== undefined) keys.add(of)
      if (goes) taken.push(one)
      else left.push(one)
    }
    waiting = left
    return taken
  }

  const flush: Effect.Effect<void> = Effect.suspend(() => {
    const taken = take()
    return Effect.flatMap(Effect.exit(run(taken.map(({ item }) => item))), (exit) => {
      for (const [at, { resume }] of taken.entries()) {
        resume(Exit.isSuccess(exit) ? exit.value[at]! : Effect.failCause(exit.cause))
      }
      if (waiting.length > 0) return flush
      isBusy = false
      return Effect.void
    })
  })

  return (item) =>
    Effect.callback<Out, E>((resume) => {
      waiting.push({ item, resume })
      if (isBusy) return
      isBusy = true
      // Batches all items from the same event loop turn.
      setImmediate(() => Effect.runForkWith(context)(flush))
    })
})

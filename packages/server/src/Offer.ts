/**
 * The offer of a server: the models and run settings that it answers with. It can be replaced while the server runs:
 * each request uses the offer that was current on arrival. The resources of a replaced offer can be released
 * once its last request has ended.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Models from "./Models.ts"
import type * as Turn from "./segment/Turn.ts"
import * as Choice from "./wire/Choice.ts"

/** An offer. */
export interface Offer {
  readonly models: Models.Options
  readonly turns: Turn.Options
  /** Returns the name of the model that a client means, without the workers excluded after it; `undefined` if none has it. */
  readonly modelOf: (asked: string) => string | undefined
  /** Runs what was begun with it. */
  readonly use: <A>(run: Effect.Effect<A>) => Effect.Effect<A>
  /** Marks it as replaced and waits until everything that was started with it has ended. */
  readonly retire: Effect.Effect<void>
}

/** Makes an offer. */
export const make = (models: Models.Options, turns: Turn.Options): Offer => {
  const names = Models.names(models)
  const known = new Set(names)
  const idle = Deferred.makeUnsafe<void>()
  let isRetired = false
  let running = 0
  const look = () => {
    if (isRetired && running === 0) Deferred.doneUnsafe(idle, Effect.void)
  }
  return {
    models,
    turns,
    modelOf: (asked) => {
      const [name] = Choice.ofModel(asked)
      return known.has(name) ? name : Models.named(name, names)
    },
    use: (run) =>
      Effect.suspend(() => {
        running += 1
        return Effect.onExit(run, () => {
          running -= 1
          look()
          return Effect.void
        })
      }),
    retire: Effect.suspend(() => {
      isRetired = true
      look()
      return Deferred.await(idle)
    })
  }
}

/**
 * Bundles the models and run settings that a server uses. An offer can be replaced while the server runs: each request
 * uses the offer that was current when it arrived. The resources behind a replaced offer can be released after its last
 * request completes.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Models from "./Models.ts"
import type * as Turn from "./segment/Turn.ts"
import * as Choice from "./wire/Choice.ts"

/** The models and run settings for a set of requests. */
export interface Offer {
  readonly models: Models.Options
  readonly turns: Turn.Options
  /**
   * Resolves a requested model name, ignoring any worker exclusions that follow it. Returns `undefined` if the model
   * does not exist.
   */
  readonly modelOf: (asked: string) => string | undefined
  /** Runs an effect and counts it as a user of this offer, so that `retire` waits for it. */
  readonly use: <A>(run: Effect.Effect<A>) => Effect.Effect<A>
  /** Marks the offer as replaced and waits until all effects passed to `use` have completed. */
  readonly retire: Effect.Effect<void>
}

/** Creates an offer from its models and turn options. */
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

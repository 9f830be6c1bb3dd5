/** Loads `partStreams.ts` with the first answer that arrives in pieces. */
import * as Effect from "effect/Effect"

type Streams = typeof import("./partStreams.ts")

let loaded: Streams | undefined

const load = Effect.promise(async () => {
  loaded = await import("./partStreams.ts")
  return loaded
})

/** Uses streams: without a pause if they are loaded. */
export const withStreams = <A, E>(use: (streams: Streams) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.suspend(() => (loaded === undefined ? Effect.flatMap(load, use) : use(loaded)))

/**
 * Effect's streams, loaded with the first answer that comes in pieces: a program whose workers answer whole starts a
 * quarter earlier without them.
 */
import * as Effect from "effect/Effect"

type Streams = typeof import("effect/Stream")

let loaded: Streams | undefined

const load = Effect.promise(async () => {
  loaded = await import("effect/Stream")
  return loaded
})

/** Goes on with Effect's streams: at once where they are loaded. */
export const withStreams = <A, E>(use: (streams: Streams) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.suspend(() => (loaded === undefined ? Effect.flatMap(load, use) : use(loaded)))

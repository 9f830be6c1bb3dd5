/** Lengths of time by the monotonic clock: the wall clock may be set while something runs. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** The monotonic clock in seconds, from a start of its own. */
export const now: Effect.Effect<number> = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e9)

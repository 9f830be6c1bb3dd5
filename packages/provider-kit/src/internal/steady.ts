/** Clock for delays within a process. Unlike the wall clock, it cannot be changed. */
import { Elapsed } from "@divisi/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** Returns a clock whose current time is that of the monotonic clock. */
const steadyOf = (clock: Clock.Clock): Clock.Clock => {
  const millis = () => Elapsed.ticks(clock)
  const nanos = () => clock.monotonicTimeNanosUnsafe()
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) => clock.sleep(duration)
  }
}

/** The current time in milliseconds, from an arbitrary start. */
export const now: Effect.Effect<number> = Effect.clockWith((clock) => Effect.sync(() => Elapsed.ticks(clock)))

/** Measures the time of an effect with the monotonic clock. */
export const steadily = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.clockWith((clock) => Effect.provideService(effect, Clock.Clock, steadyOf(clock)))

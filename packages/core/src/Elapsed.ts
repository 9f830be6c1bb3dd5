/** Durations measured with the monotonic clock, because the wall clock can be changed during a measurement. */
import type * as Clock from "effect/Clock"

/** The monotonic clock in milliseconds, from an arbitrary start. */
export const ticks = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1_000_000

/**
 * The milliseconds since an earlier reading of `ticks`, rounded to an integer.
 *
 * **Example**
 *
 * ```ts
 * import { Elapsed } from "@divisi/core"
 * import * as Clock from "effect/Clock"
 * import * as Effect from "effect/Effect"
 *
 * const measured = Effect.gen(function* () {
 *   const clock = yield* Clock.Clock
 *   const start = Elapsed.ticks(clock)
 *   yield* Effect.sleep("20 millis")
 *   return Elapsed.millisSince(clock, start)
 * })
 * ;(await Effect.runPromise(measured)) >= 19 // => true
 * ```
 */
export const millisSince = (clock: Clock.Clock, start: number): number => Math.round(ticks(clock) - start)

/** Measures durations with the monotonic clock. The wall clock may be adjusted during a measurement. */
import type * as Clock from "effect/Clock"

/** Returns the current time of the monotonic clock in milliseconds. The starting point is arbitrary. */
export const ticks = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1_000_000

/**
 * Returns the milliseconds elapsed since an earlier value of {@link ticks}, rounded to an integer.
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

/**
 * Formats milliseconds as seconds for a message, rounded to a millisecond.
 *
 * **Example**
 *
 * ```ts
 * import { Elapsed } from "@divisi/core"
 *
 * Elapsed.inSeconds(1499.7) // => "1.5 s"
 * ```
 */
export const inSeconds = (millis: number): string => `${Math.round(millis) / 1000} s`

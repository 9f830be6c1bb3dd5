/** Lengths of time by the monotonic clock: the wall clock may be set while something runs. */
import type * as Clock from "effect/Clock"

/** The monotonic clock in milliseconds, from a start of its own. */
export const ticks = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1_000_000

/**
 * The whole milliseconds since `ticks` were read.
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

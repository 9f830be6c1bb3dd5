/** Lengths of time by the monotonic clock: the wall clock may be set while something runs. */
import type * as Clock from "effect/Clock"

/** The monotonic clock in milliseconds, from a start of its own. */
export const ticks = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1_000_000

/** The whole milliseconds since `ticks` were read. */
export const millisSince = (clock: Clock.Clock, start: number): number => Math.round(ticks(clock) - start)

/** Measures elapsed time correctly even if the machine is suspended or its clock is set back. */
import { Elapsed } from "@divisi/core"
import type * as Clock from "effect/Clock"

/**
 * A point in time on two clocks. The monotonic clock stops while the machine is suspended; the wall clock can be set
 * back.
 */
export type Instant = readonly [ticks: number, time: number]

/** Returns the current time. */
export const now = (clock: Clock.Clock): Instant => [Elapsed.ticks(clock), clock.currentTimeMillisUnsafe()]

/** Returns the elapsed milliseconds between two instants: the larger of the two clocks' values. */
export const millisBetween = (from: Instant, to: Instant): number => Math.max(to[0] - from[0], to[1] - from[1])

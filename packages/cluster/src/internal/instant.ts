/** Times that a suspended machine, and a clock that is set back, do not make look recent. */
import { Elapsed } from "@divisi/core"
import type * as Clock from "effect/Clock"

/** A time by two clocks: the monotonic one stops while a machine is suspended, and the other one may be set back. */
export type Instant = readonly [ticks: number, time: number]

/** The present. */
export const now = (clock: Clock.Clock): Instant => [Elapsed.ticks(clock), clock.currentTimeMillisUnsafe()]

/** The milliseconds from one instant to another, by the clock that shows more. */
export const millisBetween = (from: Instant, to: Instant): number => Math.max(to[0] - from[0], to[1] - from[1])

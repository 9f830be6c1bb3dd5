/** A scheduler under which a fiber lets the others run once, between two of its operations. */
import type * as Scheduler from "effect/Scheduler"

/** The scheduler, but that it yields at this operation, counted from 0, and at no other. */
export const pausingAt = (scheduler: Scheduler.Scheduler, operation: number): Scheduler.Scheduler => {
  let left = operation
  return {
    executionMode: scheduler.executionMode,
    makeDispatcher: () => scheduler.makeDispatcher(),
    shouldYield: () => left-- === 0
  }
}

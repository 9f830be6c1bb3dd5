/**
 * Restricts planning to part of a pool: converts the context to the selected workers, and a resulting workflow back to
 * the whole pool.
 */

import type { Workflow } from "@divisi/core"
import type { Context } from "@divisi/core/Policy"
import * as WorkerPool from "@divisi/core/WorkerPool"

const renumbered = (workflow: Workflow.Workflow, ordinal: (worker: number) => number): Workflow.Workflow => ({
  ...workflow,
  steps: workflow.steps.map((step) => ({ ...step, worker: ordinal(step.worker) }))
})

/**
 * Returns the context restricted to the workers with these ordinals, in ascending order. The previous workflow must not
 * use other workers.
 */
export const narrowed = (context: Context, ordinals: ReadonlyArray<number>): Context => {
  const { pool, previous } = context
  const place = (worker: number) => ordinals.indexOf(worker)
  return {
    ...context,
    pool: WorkerPool.makeUnsafe(ordinals.map((ordinal) => pool.workers[ordinal]!)),
    previous: previous && {
      ...previous,
      workflow: renumbered(previous.workflow, place),
      failed: previous.failed.map(place).filter((ordinal) => ordinal >= 0)
    }
  }
}

/** Converts a workflow for part of a pool to a workflow for the whole pool. */
export const widened = (workflow: Workflow.Workflow, ordinals: ReadonlyArray<number>): Workflow.Workflow =>
  renumbered(workflow, (worker) => ordinals[worker]!)

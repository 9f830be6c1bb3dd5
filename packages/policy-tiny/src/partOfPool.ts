/** Planning for a part of a pool: the context with the chosen workers alone, and the way back to the whole pool. */

import type { Workflow } from "@divisi/core"
import type { Context } from "@divisi/core/Policy"
import * as WorkerPool from "@divisi/core/WorkerPool"

const renumbered = (workflow: Workflow.Workflow, ordinal: (worker: number) => number): Workflow.Workflow => ({
  ...workflow,
  steps: workflow.steps.map((step) => ({ ...step, worker: ordinal(step.worker) }))
})

/** The context with these workers, by ascending ordinal, and no others. The previous workflow must ask no others. */
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

/** A workflow for the part of a pool, as one for the whole pool. */
export const widened = (workflow: Workflow.Workflow, ordinals: ReadonlyArray<number>): Workflow.Workflow =>
  renumbered(workflow, (worker) => ordinals[worker]!)

/**
 * Training events: everything that happens in a training run, in order.
 *
 * The terminal view and telemetry are derived from this stream. Events are plain JSON values; `at` is the timestamp in
 * milliseconds since 1970.
 */
import type { Unlearned } from "./Lessons.ts"
import type { Metrics } from "./Metrics.ts"
import type { TrainingConfig } from "./TrainingConfig.ts"

export type { Unlearned } from "./Lessons.ts"

/** Why a training run ended. */
export type Ending =
  /** All phases are complete. */
  | { readonly type: "finished" }
  /** The run's signal was aborted. The run can be resumed. */
  | { readonly type: "stopped" }
  /** The run reached its cost limit. It can be resumed with a higher limit. */
  | { readonly type: "cost-limit"; readonly limitUsd: number; readonly spentUsd: number }

/** Event of a training run. */
export type TrainingEvent = { readonly at: number } & (
  | {
      readonly type: "training-started"
      readonly config: TrainingConfig
      readonly folder: string
      /** Number of iterations that were already complete when the run was resumed. */
      readonly iteration: number
      /** Total number of iterations over all phases. */
      readonly iterations: number
    }
  | { readonly type: "phase-started"; readonly phase: string; readonly index: number; readonly iterations: number }
  /** All rollouts of a question are complete. */
  | {
      readonly type: "group-finished"
      readonly iteration: number
      readonly phase: string
      /** Number of completed groups, and total number of groups, in this iteration. */
      readonly done: number
      readonly total: number
      readonly costUsd: number
    }
  | {
      readonly type: "iteration-finished"
      readonly metrics: Metrics
      /** Total paid so far, in USD. Unlike `metrics.costUsd`, it includes work that was repeated after a crash. */
      readonly costUsd: number
    }
  | { readonly type: "checkpoint-saved"; readonly iteration: number; readonly isBest: boolean }
  | {
      readonly type: "training-finished"
      readonly ending: Ending
      /** Phases that had no training signal. Omitted if every phase had one. */
      readonly unlearned?: ReadonlyArray<Unlearned>
      readonly iteration: number
      readonly costUsd: number
    }
)

/**
 * Callback that receives events as they happen. It must not throw, and should return quickly because it blocks the run.
 */
export type Listener = (event: TrainingEvent) => void

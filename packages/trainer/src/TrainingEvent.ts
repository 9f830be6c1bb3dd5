/**
 * Training events: everything a training run says of itself while it goes on, in the order in which it happens.
 *
 * The terminal view, the report and telemetry are folds of this one stream. Events are plain JSON values; `at` is the wall
 * clock in milliseconds since 1970.
 */
import type { Metrics } from "./Metrics.ts"
import type { TrainingConfig } from "./TrainingConfig.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Why a training run ended. */
export type Outcome =
  /** All phases are done. */
  | { readonly type: "finished" }
  /** Somebody asked it to stop. It can be resumed. */
  | { readonly type: "stopped" }
  /** It would cost more than it may. It can be resumed with a higher limit. */
  | { readonly type: "cost-limit"; readonly limitUsd: number; readonly spentUsd: number }

/** What a run says. */
export type TrainingEvent = { readonly at: number } & (
  | {
      readonly type: "training-started"
      readonly config: TrainingConfig
      readonly folder: string
      /** Iterations that were done before, when the run is resumed. */
      readonly iteration: number
      /** Iterations of all phases. */
      readonly iterations: number
    }
  | { readonly type: "phase-started"; readonly phase: string; readonly index: number; readonly iterations: number }
  /** The rollouts of a question are done. */
  | {
      readonly type: "group-finished"
      readonly iteration: number
      readonly phase: string
      /** Groups of this iteration that are done, and that there will be. */
      readonly done: number
      readonly of: number
      readonly costUsd: number
    }
  | { readonly type: "iteration-finished"; readonly metrics: Metrics }
  | { readonly type: "checkpoint-saved"; readonly iteration: number; readonly isBest: boolean }
  | {
      readonly type: "training-finished"
      readonly outcome: Outcome
      readonly iteration: number
      readonly costUsd: number
    }
)

/** Takes events as they happen. It must not throw, and should not take long: the run waits for it. */
export type Listener = (event: TrainingEvent) => void

/**
 * Training events: everything that happens in a training run, in order.
 *
 * The terminal view and telemetry are folds of this one stream. Events are plain JSON values; `at` is the wall clock in
 * milliseconds since 1970.
 */
import type { Unlearned } from "./Lessons.ts"
import type { Metrics } from "./Metrics.ts"
import type { TrainingConfig } from "./TrainingConfig.ts"

export type { Unlearned } from "./Lessons.ts"

/** Why a training run ended. */
export type Ending =
  /** All phases are done. */
  | { readonly type: "finished" }
  /** Its signal was aborted. It can be resumed. */
  | { readonly type: "stopped" }
  /** It reached its cost limit. It can be resumed with a higher limit. */
  | { readonly type: "cost-limit"; readonly limitUsd: number; readonly spentUsd: number }

/** An event of a training run. */
export type TrainingEvent = { readonly at: number } & (
  | {
      readonly type: "training-started"
      readonly config: TrainingConfig
      readonly folder: string
      /** The number of iterations completed before, if the run is resumed. */
      readonly iteration: number
      /** The number of iterations of all phases. */
      readonly iterations: number
    }
  | { readonly type: "phase-started"; readonly phase: string; readonly index: number; readonly iterations: number }
  /** The rollouts of a question are complete. */
  | {
      readonly type: "group-finished"
      readonly iteration: number
      readonly phase: string
      /** The number of completed groups of this iteration, and of all its groups. */
      readonly done: number
      readonly total: number
      readonly costUsd: number
    }
  | { readonly type: "iteration-finished"; readonly metrics: Metrics }
  | { readonly type: "checkpoint-saved"; readonly iteration: number; readonly isBest: boolean }
  | {
      readonly type: "training-finished"
      readonly ending: Ending
      /** Present if phases had no training signal. */
      readonly unlearned?: ReadonlyArray<Unlearned>
      readonly iteration: number
      readonly costUsd: number
    }
)

/** Receives events as they happen. It must not throw and should return quickly, because the run waits for it. */
export type Listener = (event: TrainingEvent) => void

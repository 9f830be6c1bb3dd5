/** Learning rate schedules. */
import type { ScheduleConfig } from "./TrainingConfig.ts"

/** Number of warm-up steps: the configured share of all steps, rounded up. */
const warmUpSteps = (schedule: ScheduleConfig, steps: number) => Math.ceil(schedule.warmUpRatio * steps)

/**
 * Returns the fraction of the peak learning rate to use at a step.
 *
 * **Details**
 *
 * `step` counts from 0. During warm-up, the factor rises linearly and reaches 1 at the last warm-up step. It then stays
 * constant, or decreases from 1 to `finalRatio` along half a cosine. The cosine ends one step after the last step,
 * because a step with a learning rate of 0 would be wasted.
 *
 * **Example**
 *
 * ```ts
 * import { Schedule } from "@divisi/trainer"
 *
 * const cosine = { type: "cosine", warmUpRatio: 0.2, finalRatio: 0 } as const
 * Schedule.factor(cosine, 0, 10) // => 0.5
 * Schedule.factor(cosine, 1, 10) // => 1
 * Schedule.factor(cosine, 9, 10).toFixed(3) // => "0.030"
 * ```
 */
export const factor = (schedule: ScheduleConfig, step: number, steps: number): number => {
  const warmUp = warmUpSteps(schedule, steps)
  if (step < warmUp) return (step + 1) / warmUp
  if (schedule.type === "constant") return 1
  const progress = Math.min(1, (step - warmUp + 1) / (steps - warmUp + 1))
  return schedule.finalRatio + (1 - schedule.finalRatio) * 0.5 * (1 + Math.cos(Math.PI * progress))
}

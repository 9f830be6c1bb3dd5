/** Errors of a training run. The saved state stays intact, so the run can be resumed. */
import type { Callback } from "@divisi/core"
import * as Data from "effect/Data"
import type { CurriculumError } from "./Curriculum.ts"
import type { EngineError } from "./Engine.ts"
import type { MachinesError } from "./Machines.ts"
import type { RolloutError } from "./Rollout.ts"
import type { RunFolderError } from "./RunFolder.ts"

/** Raised when the configuration does not match the parts. */
export class ConfigError extends Data.TaggedError("ConfigError")<{ readonly detail: string }> {
  override get message(): string {
    return `The training configuration is not valid: ${this.detail}.`
  }
}

/** Raised when a held-out evaluation fails. */
export class EvaluationError extends Data.TaggedError("EvaluationError")<{
  readonly iteration: number
  readonly detail: string
}> {
  override get message(): string {
    return `The evaluation after iteration ${this.iteration} failed: ${this.detail}`
  }
}

/** Raised when the workers appear to be down: too many consecutive rollouts were lost to worker failures. */
export class OutageError extends Data.TaggedError("OutageError")<{
  readonly iteration: number
  /** Number of consecutive failures among rollouts that called a worker. */
  readonly rollouts: number
  /** Number of rollouts lost in the iteration, keyed by worker and type of failure. */
  readonly lostTo: Readonly<Record<string, number>>
}> {
  override get message(): string {
    const whys = Object.entries(this.lostTo).map(([why, count]) => `${why} (${count})`)
    return `The last ${this.rollouts} rollouts that called a worker failed, up to iteration ${this.iteration}: ${whys.join(", ")}. They carry no learning signal. When the workers respond again, resume the run, which is saved at the state before this iteration.`
  }
}

/** All errors of a training run. */
export type TrainingError =
  | Callback.CallbackError
  | OutageError
  | ConfigError
  | EngineError
  | RunFolderError
  | CurriculumError
  | MachinesError
  | RolloutError
  | EvaluationError
